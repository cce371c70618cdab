package testbed

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apps "k8s.io/client-go/kubernetes/typed/apps/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	kind "sigs.k8s.io/kind/pkg/cluster"
)

// mark is the ConfigMap in kube-system that tells our clusters from others. Its id is that of the state directory.
const mark = "squall-testbed"

// Cluster is a cluster that runs.
type Cluster struct {
	record *record
	dir    string
	config *rest.Config
	nodes  []*Node // the control plane first

	core *core.CoreV1Client
	apps *apps.AppsV1Client
}

// Open is a cluster that runs already, or that can be made to: a control plane that is frozen or stopped is revived. Workers
// are left as they are: see Heal.
func Open(ctx context.Context, name string) (*Cluster, error) {
	name, err := short(name)
	if err != nil {
		return nil, err
	}
	r, err := one(ctx, name)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("cluster %s: %w; create it: `squall cluster up %s`", name, ErrNotFound, name)
	}
	info := r.info()
	switch info.State {
	case Running, Degraded, Stopped:
	case Foreign:
		return nil, fmt.Errorf("cluster %s: %w: %s; %s", name, ErrForeign, info.Reason, info.Remedy)
	case Creating:
		return nil, busy(name)
	default:
		return nil, fmt.Errorf("cluster %s: %w, %s: %s; %s", name, ErrNotRunning, info.State, info.Reason, info.Remedy)
	}
	c, err := connect(r.record)
	if err != nil {
		return nil, err
	}
	if info.State == Stopped {
		if err := c.reviveControlPlane(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.recognise(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// connect reads the kubeconfig; it asks nobody.
func connect(r *record) (*Cluster, error) {
	dir, err := stateDir(r.Name)
	if err != nil {
		return nil, err
	}
	c := &Cluster{record: r, dir: dir}
	c.config, err = clientcmd.BuildConfigFromFlags("", kubeconfigPath(dir))
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w: %w; make the cluster anew: `squall cluster down %[1]s`", r.Name, ErrKubeconfig, err)
	}
	for _, n := range r.Nodes {
		c.nodes = append(c.nodes, &Node{cluster: c, name: n.Name, capacity: n.Capacity})
	}
	own := rest.CopyConfig(c.config)
	own.QPS, own.Burst = -1, 0 // we ask little, and never twice
	own.Timeout = 30 * time.Second
	if c.core, err = core.NewForConfig(own); err != nil {
		return nil, err
	}
	c.apps, err = apps.NewForConfig(own)
	return c, err
}

// recognise makes sure that the API server is that of the cluster which the state directory means.
func (c *Cluster) recognise(ctx context.Context) error {
	m, err := c.core.ConfigMaps(metav1.NamespaceSystem).Get(ctx, mark, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("cluster %s: %w: it lacks the ConfigMap %s; take another name", c.Name(), ErrForeign, mark)
	case err != nil:
		return fmt.Errorf("cluster %s: its API server does not answer: %w; see `docker ps`, or make it anew: `squall cluster down %[1]s`", c.Name(), err)
	case m.Data["id"] != c.record.ID:
		return fmt.Errorf("cluster %s: %w: it is another one than the state directory %s means", c.Name(), ErrForeign, c.dir)
	}
	return nil
}

// Name is the name without the prefix.
func (c *Cluster) Name() string { return c.record.Name }

// Config reaches the API server.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig is the path of a file that reaches the API server.
func (c *Cluster) Kubeconfig() string { return kubeconfigPath(c.dir) }

// Nodes are the workers: on-demand first, then spot.
func (c *Cluster) Nodes() []*Node { return c.nodes[1:] }

// ControlPlane is the node of the control plane.
func (c *Cluster) ControlPlane() *Node { return c.nodes[0] }

// settle waits until a fresh cluster can be used, and marks it.
func (c *Cluster) settle(ctx context.Context, progress io.Writer) error {
	_, err := c.core.ConfigMaps(metav1.NamespaceSystem).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: mark},
		Data:       map[string]string{"id": c.record.ID, "name": c.Name()},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("mark the cluster: %w", err)
	}
	if err := c.steadyDNS(ctx); err != nil {
		return err
	}
	fmt.Fprintf(progress, "cluster %s: waiting for %d nodes and the DNS\n", c.Name(), len(c.nodes))
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, tooLong(5*time.Minute))
	defer cancel()
	for _, n := range c.nodes {
		if err := n.ready(ctx, time.Time{}); err != nil {
			return err
		}
	}
	return until(ctx, "the DNS of the cluster", func(ctx context.Context) (string, bool) {
		d, err := c.apps.Deployments(metav1.NamespaceSystem).Get(ctx, "coredns", metav1.GetOptions{})
		if err != nil {
			return err.Error(), false
		}
		s := d.Status
		return fmt.Sprintf("%d of %d replicas available%s", s.AvailableReplicas, *d.Spec.Replicas, c.stuck(ctx, d)),
			s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == *d.Spec.Replicas && s.AvailableReplicas >= 1
	})
}

// stuck says what keeps the containers of a deployment from running, if something does: a node image that cannot start any shows here.
func (c *Cluster) stuck(ctx context.Context, d *appsv1.Deployment) string {
	pods, err := c.core.Pods(d.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(d.Spec.Selector)})
	if err != nil {
		return ""
	}
	for _, p := range pods.Items {
		for _, s := range p.Status.ContainerStatuses {
			if end := s.LastTerminationState.Terminated; end != nil && !s.Ready {
				return fmt.Sprintf("; pod %s: %s: %s", p.Name, end.Reason, strings.TrimSpace(end.Message))
			}
			if w := s.State.Waiting; w != nil && w.Message != "" {
				return fmt.Sprintf("; pod %s: %s: %s", p.Name, w.Reason, w.Message)
			}
		}
	}
	return ""
}

// steadyDNS keeps the DNS on the control plane: the loss of a worker is to be the loss of that worker, not of every name.
// It tolerates the control plane's taint by kubeadm's manifest.
func (c *Cluster) steadyDNS(ctx context.Context) error {
	const onControlPlane = `{"spec":{"replicas":1,"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1}},` +
		`"template":{"spec":{"nodeSelector":{"node-role.kubernetes.io/control-plane":""}}}}}`
	_, err := c.apps.Deployments(metav1.NamespaceSystem).Patch(ctx, "coredns", types.StrategicMergePatchType,
		[]byte(onControlPlane), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("keep the DNS on the control plane: %w", err)
	}
	return nil
}

// until asks once a second whether something holds, and says at the end of ctx what was last seen instead.
func until(ctx context.Context, what string, holds func(context.Context) (seen string, ok bool)) error {
	for {
		seen, ok := holds(ctx)
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last seen: %s", what, context.Cause(ctx), seen)
		case <-time.After(time.Second):
		}
	}
}

// Logs writes the logs of the nodes and of their containers into a directory.
func (c *Cluster) Logs(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("logs of cluster %s: %w", c.Name(), err)
	}
	done := make(chan error, 1)
	go func() { done <- kind.NewProvider(kind.ProviderWithDocker()).CollectLogs(Prefix+c.Name(), dir) }()
	select {
	case err = <-done:
	case <-ctx.Done(): // kind takes no context; it ends by itself
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("logs of cluster %s: %w; what could be had is in %s", c.Name(), err, dir)
	}
	return nil
}
