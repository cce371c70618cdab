package shared

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/journal/deposit"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
	"github.com/squall-chaos/squall/faults/proxy"
)

// Options are what a World needs besides its Config.
type Options struct {
	Programs string // image of the programs; with the planted defects when the system under test is one
	Postgres string // image of Postgres
	Log      *slog.Logger
}

// World is one run in the namespace, which it has for itself.
type World struct {
	*deployed.World
	site  *Site
	holds map[string][]string // rules of the proxy that have a process stand still

	mu   sync.Mutex
	pods map[string]string // by the address of a service
}

var (
	_ clusters.Cluster        = (*World)(nil)
	_ clusters.Collector      = (*World)(nil)
	_ clusters.PodFaults      = (*World)(nil)
	_ clusters.ProcessFaults  = (*World)(nil)
	_ clusters.CallFaults     = (*World)(nil)
	_ clusters.PlatformFaults = (*World)(nil)
	_ deployed.Ground         = (*World)(nil)
)

// Prepare tells what keeps runs from the namespace: no label, a right that is missing, remains of another run.
func (s *Site) Prepare(ctx context.Context) error {
	if err := s.Allowed(ctx); err != nil {
		return err
	}
	if err := s.checkRights(ctx); err != nil {
		return err
	}
	left, err := s.Remains(ctx)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: %s and others, %d in all, in namespace %s; if no other squall is running there: squall clean --context %s -n %s",
			ErrRemains, left[0], len(left), s.Namespace, s.Context, s.Namespace)
	}
	return nil
}

// New prepares a run. What was made is removed again when something fails.
func (s *Site) New(ctx context.Context, c clusters.Config, o Options) (*World, error) {
	w := &World{site: s, holds: map[string][]string{}, pods: map[string]string{}}
	w.World = deployed.New(ctx, s.api, w, c, deployed.Options{
		Namespace: s.Namespace, Programs: o.Programs, Postgres: o.Postgres, Password: deployed.Token(), Log: o.Log,
		Gated: true, Seen: w.statusSeen,
	})
	if err := w.prepare(ctx); err != nil {
		if errors.Is(err, deployed.ErrPull) {
			err = fmt.Errorf("%w: %w; name one that the cluster can pull: of Postgres 17 with --postgres-image, "+
				"of the programs with --image (squall image programs --push REGISTRY/NAME:TAG makes one of this checkout)", ErrImage, err)
		}
		if apierrors.IsAlreadyExists(err) {
			err = fmt.Errorf("%w: %w; it is in the way of what a run makes: name a namespace that is for runs alone", ErrNamespace, err)
		}
		return nil, errors.Join(fmt.Errorf("prepare namespace %s: %w", s.Namespace, err), w.Close())
	}
	return w, nil
}

func (w *World) prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		w.Install, w.makeRecordSecret, w.makeLeases, w.Watch, w.Connect, w.openDeposit, w.Line,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

const recordSecret = "record"

func (w *World) makeRecordSecret(ctx context.Context) error {
	return w.MakeSecret(ctx, recordSecret, map[string]string{environment.DatabaseKey: w.StoreURL()})
}

// makeLeases makes the leases before the replicas do, without a holder: so that they carry the label by which they are found and removed.
func (w *World) makeLeases(ctx context.Context) error {
	for _, role := range []dispatcher.Role{dispatcher.RoleDispatcher, dispatcher.RoleReconciler} {
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: string(role), Labels: w.Labels(string(role))}}
		if _, err := w.API.CoordinationV1().Leases(w.Namespace()).Create(ctx, l, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) openDeposit(ctx context.Context) error {
	if err := deposit.Install(ctx, w.Database()); err != nil {
		return err
	}
	ahead, err := deposit.Ahead(ctx, w.Database())
	w.Ahead(ahead)
	return err
}

// Close removes all that the run made. It may be called again.
func (w *World) Close() error {
	if !w.Stop() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Context()), 3*time.Minute)
	defer cancel()
	w.Leave()
	if _, err := w.site.Clean(ctx); err != nil {
		return fmt.Errorf("%w; later: squall clean --context %s -n %s", err, w.site.Context, w.Namespace())
	}
	return nil
}

// What follows is the ground that a run stands on here.

// Name is the name of the world.
func (w *World) Name() string { return "cluster" }

// Dial forwards to the pod behind a service of the run's.
func (w *World) Dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	pod, err := w.podBehind(ctx, host)
	if err != nil {
		return nil, err
	}
	return w.site.forward(ctx, pod, port)
}

// podBehind is the pod that a service leads to; they have one name.
func (w *World) podBehind(ctx context.Context, ip string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pod := w.pods[ip]; pod != "" {
		return pod, nil
	}
	list, err := w.API.CoreV1().Services(w.Namespace()).List(ctx, metav1.ListOptions{LabelSelector: deployed.RunLabel})
	if err != nil {
		return "", err
	}
	for i := range list.Items {
		w.pods[list.Items[i].Spec.ClusterIP] = list.Items[i].Name
	}
	if w.pods[ip] == "" {
		return "", fmt.Errorf("no service of the run has the address %s", ip)
	}
	return w.pods[ip], nil
}

// Alias: nodes are not the scenario's, and keep their names.
func (w *World) Alias(node string) string { return node }

// Introduce has no nodes to introduce.
func (w *World) Introduce() {}

// WhenAPI: no fault stops the API server itself.
func (w *World) WhenAPI(do func()) { do() }

// Place leaves it to the scheduler. An empty volume belongs to root unless the pod has a group for it.
func (w *World) Place(s *corev1.PodSpec) {
	s.SecurityContext.FSGroup = s.SecurityContext.RunAsUser
}

// Data go with the pod: no fault here ends the database.
func (w *World) Data() corev1.VolumeSource {
	return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
}

// Keep has journals be written to the database.
func (w *World) Keep(s *corev1.PodSpec, values map[string]string) {
	values[environment.RecordSecret] = recordSecret
	c := &s.Containers[0]
	c.Env = append(c.Env, corev1.EnvVar{Name: environment.RecordURL, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: recordSecret}, Key: environment.DatabaseKey,
	}}})
}

// Pages of the harness's processes are kept there too, so that their calls have stamps of the same clock.
func (w *World) Pages(process string) io.Writer {
	return &deposit.Pages{Conn: w.Database(), Writer: process + "/harness"}
}

// Journals are read from the database.
func (w *World) Journals(ctx context.Context) (map[string][]byte, error) {
	return deposit.ReadAll(ctx, w.Database())
}

// Lives: nobody can be asked for more than the statuses told.
func (w *World) Lives(context.Context, []journal.Event) ([]journal.Event, error) { return nil, nil }

// Complete adds nothing.
func (w *World) Complete([]journal.Event) []journal.Event { return nil }

// sever is a rule for all that a process sends to a server.
func sever(process string, port clusters.Port) proxy.Rule {
	return proxy.Rule{Port: port, Process: process, Action: clusters.Drop}
}

// hold is a rule by which a process waits for its calls until it is disarmed.
func hold(process string, port clusters.Port) proxy.Rule {
	return proxy.Rule{Port: port, Process: process, Action: clusters.Slow, Hold: true}
}
