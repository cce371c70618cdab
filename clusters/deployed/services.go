package deployed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/squall-chaos/squall/clusters/kind/images"
)

// PostgresComponent is the pod of the database.
const PostgresComponent = "postgres"

// The ports of the services of a run.
const (
	StorePort   = 5432
	apiPort     = 6443
	controlPort = 9443
)

// addresses are host:port as seen within the cluster: by number, so that no run depends on DNS.
type addresses struct {
	store      string // Postgres itself
	proxyStore string
	proxyAPI   string
	control    string
}

func at(ip string, port int) string { return net.JoinHostPort(ip, strconv.Itoa(port)) }

// makeServices starts the database and the fault proxy in front of it and of the API server.
func (w *World) makeServices(ctx context.Context) error {
	store, err := w.makeService(ctx, PostgresComponent, StorePort)
	if err != nil {
		return err
	}
	front, err := w.makeService(ctx, "faultproxy", StorePort, apiPort, controlPort)
	if err != nil {
		return err
	}
	w.addresses = addresses{at(store, StorePort), at(front, StorePort), at(front, apiPort), at(front, controlPort)}
	if w.secrets, err = newSecrets([]net.IP{net.ParseIP(front)}); err != nil {
		return err
	}
	w.secrets.password = w.Password
	for name, data := range map[string]map[string]string{
		"postgres":   {"password": w.secrets.password},
		"database":   {"url": w.databaseURL(w.addresses.proxyStore)},
		"faultproxy": {"tls.crt": string(w.secrets.certificate), "tls.key": string(w.secrets.key), "token": w.secrets.control},
		"kubeconfig": {"kubeconfig": w.kubeconfig()},
	} {
		if err := w.MakeSecret(ctx, name, data); err != nil {
			return err
		}
	}
	for _, p := range []*corev1.Pod{w.PostgresPod(), w.proxyPod()} {
		if _, err := w.API.CoreV1().Pods(w.Namespace()).Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// MakeSecret makes one of the run.
func (w *World) MakeSecret(ctx context.Context, name string, data map[string]string) error {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: w.Labels("")}, StringData: data}
	_, err := w.API.CoreV1().Secrets(w.Namespace()).Create(ctx, s, metav1.CreateOptions{})
	return err
}

// StoreURL leads past the fault proxy.
func (w *World) StoreURL() string { return w.databaseURL(w.addresses.store) }

func (w *World) makeService(ctx context.Context, component string, ports ...int) (address string, err error) {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: component, Labels: w.Labels(component)},
		Spec:       corev1.ServiceSpec{Selector: w.Labels(component)},
	}
	for _, p := range ports {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "p" + strconv.Itoa(p), Port: int32(p), TargetPort: intstr.FromInt32(int32(p))})
	}
	made, err := w.API.CoreV1().Services(w.Namespace()).Create(ctx, s, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.Spec.ClusterIP, nil
}

// databaseURL has the password in it: it goes into Secrets and connections, never into a message.
func (w *World) databaseURL(address string) string {
	return fmt.Sprintf("postgres://squall:%s@%s/squall?sslmode=disable", w.secrets.password, address)
}

// kubeconfig leads replicas through the proxy, with the token of their own service account.
func (w *World) kubeconfig() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: squall, cluster: {server: "https://%s", certificate-authority: /etc/squall/proxy/tls.crt}}]
users: [{name: replica, user: {tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token}}]
contexts: [{name: squall, context: {cluster: squall, user: replica}}]
current-context: squall
`, w.addresses.proxyAPI)
}

// pod is one of the run's own, within the Pod Security Standard "restricted".
func (w *World) pod(component string, user int64, c corev1.Container) *corev1.Pod {
	c.Name = component
	c.ImagePullPolicy = corev1.PullIfNotPresent
	c.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: component, Labels: w.Labels(component)},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{c}, EnableServiceLinks: new(false), TerminationGracePeriodSeconds: new(int64(1)),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: &user, RunAsGroup: &user,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
		},
	}
	w.ground.Place(&p.Spec)
	return p
}

func secretVolume(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}}
}

// volumeData is where the database keeps its data.
const volumeData = "data"

// PostgresPod keeps its data on a volume and waits for the disk, so that to kill it is a real fault.
func (w *World) PostgresPod() *corev1.Pod {
	p := w.pod(PostgresComponent, images.PostgresUser, corev1.Container{
		Image: w.Postgres,
		Env: []corev1.EnvVar{
			{Name: "POSTGRES_USER", Value: "squall"}, {Name: "POSTGRES_DB", Value: "squall"}, {Name: "PGDATA", Value: "/data/pgdata"},
			{Name: "POSTGRES_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "postgres"}, Key: "password",
			}}},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: volumeData, MountPath: "/data"}, {Name: "run", MountPath: "/var/run/postgresql"}, {Name: "tmp", MountPath: "/tmp"},
		},
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
			TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(StorePort)},
		}},
	})
	p.Spec.RestartPolicy = corev1.RestartPolicyNever // a fault decides when one that was killed comes back
	p.Spec.AutomountServiceAccountToken = new(false)
	p.Spec.Volumes = []corev1.Volume{
		{Name: volumeData, VolumeSource: w.ground.Data()},
		{Name: "run", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	return p
}

func (w *World) proxyPod() *corev1.Pod {
	const config = "/etc/squall"
	p := w.pod("faultproxy", images.ProgramsUser, corev1.Container{
		Image: w.Programs,
		Command: []string{
			"/faultproxy",
			"--api-listen", ":" + strconv.Itoa(apiPort), "--api-upstream", "https://kubernetes.default.svc",
			"--api-ca", "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
			"--tls-cert", config + "/tls.crt", "--tls-key", config + "/tls.key",
			"--store-listen", ":" + strconv.Itoa(StorePort), "--store-upstream", w.addresses.store,
			"--control-listen", ":" + strconv.Itoa(controlPort), "--control-token-file", config + "/token",
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "faultproxy", MountPath: config, ReadOnly: true}},
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(controlPort)},
		}},
	})
	p.Spec.Volumes = []corev1.Volume{secretVolume("faultproxy")}
	return p
}

// Unreachable is how long the world waits for what it has started itself.
const Unreachable = 3 * time.Minute

// awaitServices returns when both answer.
func (w *World) awaitServices(ctx context.Context) error {
	for _, name := range []string{"postgres", "faultproxy"} {
		if err := w.AwaitPod(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// untilItAnswers asks until there is an answer. The address of a service leads nowhere until kube-proxy has heard that its pod is ready.
func untilItAnswers(ctx context.Context, ask func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 300*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		last = ask(ctx)
		return last == nil, nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// AwaitPod returns when the pod is ready, and says what it waited for when it never is.
func (w *World) AwaitPod(ctx context.Context, name string) error {
	var last *corev1.Pod
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, Unreachable, true, func(ctx context.Context) (bool, error) {
		p, err := w.API.CoreV1().Pods(w.Namespace()).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if last = p; p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
			return false, fmt.Errorf("it ended: %s", endOf(p))
		}
		if err := unpullable(p); err != nil {
			return false, err
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("wait for pod %s, %s: %w", name, waitingFor(last), err)
	}
	return nil
}

// ErrPull tells that the cluster cannot get an image.
var ErrPull = errors.New("the image cannot be pulled")

// unpullable is an error when the kubelet has tried more than once, or never will.
func unpullable(p *corev1.Pod) error {
	for _, c := range p.Status.ContainerStatuses {
		if s := c.State.Waiting; s != nil {
			switch s.Reason {
			case "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
				return fmt.Errorf("%w: %s", ErrPull, c.Image)
			}
		}
	}
	return nil
}

func waitingFor(p *corev1.Pod) string {
	if p == nil {
		return "which was never seen"
	}
	for _, c := range p.Status.ContainerStatuses {
		if s := c.State.Waiting; s != nil {
			return fmt.Sprintf("which is %s: %s", s.Reason, s.Message)
		}
	}
	return "which is " + string(p.Status.Phase)
}
