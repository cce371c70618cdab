package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// Options are what a World needs besides its Config.
type Options struct {
	Namespace string       // of this run alone; made, and removed by Close
	Programs  images.Image // with the planted defects when the system under test is one
	Log       *slog.Logger // what runs, what was injected, what was seen; nil: silent
}

// World is one run in one namespace of a testbed.
type World struct {
	*deployed.World
	site  *Site
	bed   *testbed.Cluster
	shell *testbed.Shell // in the control plane, where the replicas are

	machines   machines
	heard      map[string]time.Time // when the kubelet of each of the cluster's nodes last renewed its lease
	schedulers []string             // containers of paused schedulers
	servers    servers
}

var (
	_ clusters.Cluster   = (*World)(nil)
	_ clusters.Collector = (*World)(nil)
	_ deployed.Ground    = (*World)(nil)
)

// New prepares a run: its namespace, a database, a fault proxy. The replicas start with the first Run. What was made is removed again
// when something fails.
func (s *Site) New(ctx context.Context, c clusters.Config, o Options) (*World, error) {
	w := &World{site: s, bed: s.bed, heard: map[string]time.Time{}, servers: servers{frozen: map[string][]string{}}}
	w.World = deployed.New(ctx, s.api, w, c, deployed.Options{
		Namespace: o.Namespace, Programs: o.Programs.Ref, Postgres: s.postgres.Ref, Password: s.password, Log: o.Log, ClusterWide: true,
	})
	var err error
	if w.machines, err = assign(s.bed, c.Nodes); err != nil {
		return nil, err
	}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare namespace %s: %w", o.Namespace, err), w.Close())
	}
	return w, nil
}

func (w *World) prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.makeNamespace, w.Install, w.openShell, w.watch, w.Connect, w.Line} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) openShell(ctx context.Context) (err error) {
	w.shell, err = w.bed.ControlPlane().Shell(ctx)
	return err
}

// Close removes all that the run made, and mends what it broke. It may be called again.
func (w *World) Close() error {
	if !w.Stop() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Context()), 2*time.Minute)
	defer cancel()
	err := w.mend(ctx)
	w.Leave()
	if w.shell != nil {
		_ = w.shell.Close()
	}
	return errors.Join(err, w.removeNamespace(ctx))
}

// What follows is the ground that a run stands on here, besides what containers.go and collect.go have of it.

// Name is the name of the world.
func (w *World) Name() string { return "kind" }

// Dial reaches into the cluster through a node.
func (w *World) Dial(ctx context.Context, address string) (net.Conn, error) {
	return w.bed.Dial(ctx, address)
}

// Alias is the scenario's name of a node of the cluster.
func (w *World) Alias(node string) string { return w.machines.alias(node) }

// Introduce records the nodes.
func (w *World) Introduce() { w.machines.introduce(w.World) }

// Place puts a pod where no node fault strikes.
func (w *World) Place(s *corev1.PodSpec) {
	const role = "node-role.kubernetes.io/control-plane"
	s.NodeSelector = map[string]string{role: ""}
	s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: role, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
}

// Data is a copy of the site's database, on the control plane.
func (w *World) Data() corev1.VolumeSource { return claimVolume(claimData).VolumeSource }

// Keep has journals be written to a directory of the node, see namespace.go.
func (w *World) Keep(s *corev1.PodSpec, values map[string]string) {
	s.Volumes = append(s.Volumes, claimVolume(claimRecord))
	c := &s.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: claimRecord, MountPath: environment.RecordFolder})
	values[environment.Record], values[environment.RecordClaim] = environment.RecordFolder, claimRecord
}

// Pages are in memory.
func (w *World) Pages(string) io.Writer { return nil }

func claimVolume(claim string) corev1.Volume {
	return corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}
}
