package deployed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// replica is a dispatcher or a reconciler: one pod after the other, each one life. Pods instead of a Deployment, because a fault decides
// when a crashed one comes back.
type replica struct {
	name   string
	role   dispatcher.Role
	life   int
	pod    string // empty: down
	paused bool
	wanted bool // it is to be started as soon as the API server can be asked to
}

// supervision is how long a replica that ended by itself stays down.
const supervision = time.Second

// launch starts a life of the replica.
func (w *World) launch(ctx context.Context, r *replica) error {
	r.life++
	r.paused = false
	pod := w.replicaPod(r)
	if _, err := w.API.CoreV1().Pods(w.Namespace()).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("start %s: %w", r.name, err)
	}
	r.pod = pod.Name
	return nil
}

func (w *World) replica(name string) *replica {
	for _, r := range w.replicas {
		if r.name == name {
			return r
		}
	}
	return nil
}

// replicaSeen notices a replica that ended by itself, and has it started again as a Deployment would.
func (w *World) replicaSeen(p *corev1.Pod, gone bool) {
	ended := gone || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
	for _, r := range w.replicas {
		if r.pod != p.Name || !ended || w.closed {
			continue
		}
		w.Record(journal.Event{At: time.Now(), Kind: history.ProcessCrashed, Process: r.name, Detail: "it ended by itself: " + endOf(p)})
		r.pod = ""
		w.at(w.now()+supervision, func() { w.Restart(r.name) })
	}
}

func endOf(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			return fmt.Sprintf("exit %d", t.ExitCode)
		}
	}
	return "its pod is gone"
}

var _ clusters.ProcessFaults = (*World)(nil)

// Refuse fails the run over a fault that the world cannot do. Its entry in the registry of worlds should have said so.
func (w *World) Refuse(what string) {
	w.Fail(fmt.Errorf("world %s has no way to make %s", w.ground.Name(), what))
}

// Crash kills the process where it is.
func (w *World) Crash(process string) {
	r := w.replica(process)
	if r == nil {
		return
	}
	r.wanted = false
	if r.pod == "" {
		return
	}
	pod := r.pod
	r.pod = "" // from here on its end is no news
	w.Do("crash "+process, func(ctx context.Context) error {
		if err := w.ground.Kill(ctx, process, pod); err != nil {
			return err
		}
		w.Record(journal.Event{At: time.Now(), Kind: history.ProcessCrashed, Process: process})
		return nil
	})
	w.ground.WhenAPI(func() {
		w.Do("remove pod "+pod, func(ctx context.Context) error {
			err := w.API.CoreV1().Pods(w.Namespace()).Delete(ctx, pod, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
			return UnlessGone(err)
		})
	})
}

// stopReplicas kills all replicas for good. Their ends are no events of the run.
func (w *World) stopReplicas(ctx context.Context) error {
	ended := make(chan error)
	for _, r := range w.replicas {
		process, pod := r.name, r.pod
		r.pod = ""
		go func() {
			if pod == "" {
				ended <- nil
				return
			}
			ended <- w.ground.Kill(ctx, process, pod)
		}()
	}
	var err error
	for range w.replicas {
		err = errors.Join(err, <-ended)
	}
	return err
}

// Restart starts the process as a new instance, if it is down: now, or when the API server can be asked for a pod, unless it is to be down
// again by then.
func (w *World) Restart(process string) {
	r := w.replica(process)
	if r == nil || r.pod != "" || w.closed {
		return
	}
	r.wanted = true
	w.ground.WhenAPI(func() { w.startWanted(r) })
}

func (w *World) startWanted(r *replica) {
	if !r.wanted || r.pod != "" || w.closed {
		return
	}
	r.wanted = false
	w.Do("start "+r.name, func(ctx context.Context) error {
		err := w.launch(ctx, r)
		if apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("%w: its name should be new", err)
		}
		return err
	})
}

// Pause freezes the process by its cgroup. What it has sent goes on its way.
func (w *World) Pause(process string) {
	w.freeze(process, true, history.ProcessPaused, w.ground.Freeze)
}

// Resume lets a frozen process go on where it was.
func (w *World) Resume(process string) {
	w.freeze(process, false, history.ProcessResumed, w.ground.Thaw)
}

func (w *World) freeze(process string, pause bool, kind history.Kind, action func(ctx context.Context, process, pod string) error) {
	r := w.replica(process)
	if r == nil || r.pod == "" || r.paused == pause {
		return
	}
	r.paused = pause
	w.Do(kind.String()+" "+process, func(ctx context.Context) error {
		before := time.Now() // it may act again as soon as it is resumed
		if err := action(ctx, process, r.pod); err != nil {
			return err
		}
		at := time.Now()
		if !pause {
			at = before
		}
		w.Record(journal.Event{At: at, Kind: kind, Process: process})
		return nil
	})
}

// SkewClock is not possible: containers share the clock of their machine.
func (w *World) SkewClock(string, time.Duration) { w.Refuse("a clock of its own for a process") }

// replicaPod is one life of a replica, made of the manifests' template. It differs in the way it takes to the servers, in its journal, and
// in that nobody else ends it or starts it again: neither a Deployment nor a probe, which would take a frozen process for a dead one.
func (w *World) replicaPod(r *replica) *corev1.Pod {
	template := w.access.templates[r.role]
	spec := template.Spec.DeepCopy()
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.TerminationGracePeriodSeconds = new(int64(1))
	spec.TopologySpreadConstraints = nil
	spec.SecurityContext.RunAsUser = new(int64(images.ProgramsUser))
	w.ground.Place(spec)
	spec.Volumes = append(spec.Volumes, secretVolume("kubeconfig"), corev1.Volume{
		Name: "faultproxy", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: "faultproxy", Items: []corev1.KeyToPath{{Key: "tls.crt", Path: "tls.crt"}},
		}},
	})
	c := &spec.Containers[0]
	c.Args = nil // no --migrate: the harness has done that
	values := w.replicaEnvironment(r)
	c.EnvFrom, c.Env = nil, nil
	w.ground.Keep(spec, values)
	c.Env = append(environmentOf(values), c.Env...)
	c.StartupProbe, c.LivenessProbe, c.ReadinessProbe = nil, nil, nil
	c.VolumeMounts = append(c.VolumeMounts,
		corev1.VolumeMount{Name: "kubeconfig", MountPath: "/etc/squall/kubeconfig", ReadOnly: true},
		corev1.VolumeMount{Name: "faultproxy", MountPath: "/etc/squall/proxy", ReadOnly: true},
	)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-life-%d", r.name, r.life), Labels: w.Labels(string(r.role))},
		Spec:       *spec,
	}
}

func (w *World) replicaEnvironment(r *replica) map[string]string {
	settings, err := environment.EncodeSettings(w.Config.Settings)
	if err != nil {
		panic(err) // settings are numbers
	}
	values := map[string]string{
		environment.Process: r.name, environment.Namespace: w.Namespace(), environment.Settings: settings,
		environment.Image: w.Programs, environment.DatabaseSecret: "database", environment.ServiceAccount: w.access.account,
		environment.Kubeconfig: "/etc/squall/kubeconfig/kubeconfig", environment.Startup: w.startup(),
	}
	if w.gated() {
		values[environment.Gate] = gate
	}
	if w.Config.System.Name != reference {
		values[environment.System] = w.Config.System.Name
	}
	return values
}

// environmentOf is sorted by name, after the one variable that is a secret.
func environmentOf(values map[string]string) []corev1.EnvVar {
	env := []corev1.EnvVar{{Name: environment.DatabaseURL, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "database"}, Key: environment.DatabaseKey,
	}}}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		env = append(env, corev1.EnvVar{Name: name, Value: values[name]})
	}
	return env
}

// reference is the name of the system without a defect.
const reference = "reference"

// startup is how long workers idle before they ask to start: images are on the nodes already, so the time that the scenario has for a
// pull is spent there. What the platform takes by itself comes on top.
func (w *World) startup() string {
	d := w.Config.Platform.ImagePull
	low, high := d.Min(), d.Max()
	if d.Shape == clusters.FixedShape {
		low = high
	}
	return fmt.Sprintf("%s-%s", low, max(low, high))
}
