package deployed

import (
	"context"
	"io"
	"net"

	corev1 "k8s.io/api/core/v1"

	"github.com/squall-chaos/squall/clusters/journal"
)

// Ground is what a run stands on: how far the harness reaches into the cluster. All the rest of a run is the same in any.
type Ground interface {
	// Name is that of the world.
	Name() string
	// Dial connects to host:port as seen within the cluster.
	Dial(ctx context.Context, address string) (net.Conn, error)
	// Alias is the scenario's name for a node of the cluster.
	Alias(node string) string
	// Introduce records what the run starts with: its nodes.
	Introduce()
	// WhenAPI does something that needs the API server: now, or when a fault no longer keeps that from answering.
	WhenAPI(do func())

	// Place says where a pod of the harness's own, or a replica, is to be.
	Place(s *corev1.PodSpec)
	// Data is where the database keeps its data.
	Data() corev1.VolumeSource
	// Keep has a replica and its workers keep their journals: it adds to the replica's pod and its environment.
	Keep(s *corev1.PodSpec, environment map[string]string)
	// Pages is where a process of the harness keeps its journal; nil: in memory.
	Pages(process string) io.Writer

	// Kill ends a process by its pod, without a word, and returns when nothing of it can act any more. The pod itself may stay.
	Kill(ctx context.Context, process, pod string) error
	// Freeze has a process stand still, and Thaw has it go on.
	Freeze(ctx context.Context, process, pod string) error
	Thaw(ctx context.Context, process, pod string) error
	// KillContainer kills the container of a task's workload; it tells whether there was one.
	KillContainer(task string) bool

	// Journals are those that were kept, by name.
	Journals(ctx context.Context) (map[string][]byte, error)
	// Lives are events of containers that nobody has told of so far.
	Lives(ctx context.Context, told []journal.Event) ([]journal.Event, error)
	// Complete are events that follow from all others, whose nodes have the scenario's names by then.
	Complete(told []journal.Event) []journal.Event
}
