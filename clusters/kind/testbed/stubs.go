package testbed

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"k8s.io/client-go/rest"

	"github.com/squall-chaos/squall/clusters"
)

var errNotYet = errors.New("not written yet")

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound   = errors.New("no such cluster")
	ErrForeign    = errors.New("not a cluster of ours")
	ErrNotRunning = errors.New("cluster does not run")
	ErrBusy       = errors.New("another process works on the cluster")
)

// Up creates a cluster and waits until its nodes are ready. What it created is removed again when it fails or ctx ends.
func Up(ctx context.Context, o Options) (*Cluster, error) { return nil, errNotYet }

// Open is a cluster that runs already.
func Open(ctx context.Context, name string) (*Cluster, error) { return nil, errNotYet }

// List finds every cluster that is ours or has our prefix, whole or not.
func List(ctx context.Context) ([]Info, error) { return nil, errNotYet }

// Down removes a cluster of ours wholly, whatever is left of it.
func Down(ctx context.Context, name string, progress io.Writer) error { return errNotYet }

// DownForced is Down for a cluster without our marks too.
func DownForced(ctx context.Context, name string, progress io.Writer) error { return errNotYet }

// State is what List found of a cluster.
type State string

// The states of a cluster.
const (
	Running    State = "running"
	Creating   State = "creating"   // another process is at it
	Stopped    State = "stopped"    // the control plane does not run
	Degraded   State = "degraded"   // a worker does not run
	Incomplete State = "incomplete" // its creation was interrupted
	Orphaned   State = "orphaned"   // containers or network without a state directory
	Vanished   State = "vanished"   // a state directory without containers
	Foreign    State = "foreign"    // our prefix without our marks
)

// Info describes a cluster.
type Info struct {
	Name    string // without the prefix
	State   State
	Reason  string // in words, unless it runs
	Remedy  string // the command, unless it runs
	Image   string
	Created time.Time
	Nodes   []NodeInfo
}

// NodeInfo describes a node container.
type NodeInfo struct {
	Name     string
	Capacity clusters.CapacityType
	State    string // in Docker's words: running, paused, exited
}

// Cluster is a cluster that runs.
type Cluster struct{ nodes []*Node }

// Name is the name without the prefix.
func (c *Cluster) Name() string { return "" }

// Config reaches the API server.
func (c *Cluster) Config() *rest.Config { return nil }

// Kubeconfig is the path of a file that reaches the API server.
func (c *Cluster) Kubeconfig() string { return "" }

// Nodes are the workers: on-demand first, then spot.
func (c *Cluster) Nodes() []*Node { return c.nodes }

// ControlPlane is the node of the control plane.
func (c *Cluster) ControlPlane() *Node { return nil }

// Load puts an image archive into every node that does not hold the reference yet.
func (c *Cluster) Load(ctx context.Context, archive, ref string) error { return errNotYet }

// Dial opens a TCP connection from within the cluster to the address of a pod or service.
func (c *Cluster) Dial(ctx context.Context, address string) (net.Conn, error) { return nil, errNotYet }

// Logs writes the logs of the nodes into a directory.
func (c *Cluster) Logs(ctx context.Context, dir string) error { return errNotYet }

// Node is a node of the cluster, which is a container of the Docker engine.
type Node struct{}

// Name is the name of the Kubernetes node and of its container.
func (n *Node) Name() string { return "" }

// CapacityType is "" for the control plane.
func (n *Node) CapacityType() clusters.CapacityType { return "" }

// Kill ends everything on the node at once.
func (n *Node) Kill(ctx context.Context) error { return errNotYet }

// Start brings a killed node back.
func (n *Node) Start(ctx context.Context) error { return errNotYet }

// Pause freezes the node: its connections stay open, and nothing answers.
func (n *Node) Pause(ctx context.Context) error { return errNotYet }

// Unpause lets a frozen node go on.
func (n *Node) Unpause(ctx context.Context) error { return errNotYet }

// Exec runs a program in the node.
func (n *Node) Exec(ctx context.Context, args ...string) ([]byte, error) { return nil, errNotYet }

// Read returns the files below a directory of the node, by their path below it.
func (n *Node) Read(ctx context.Context, dir string) (map[string][]byte, error) {
	return nil, errNotYet
}

// CutAPI drops what goes between the node itself and the API server; its containers run on, and their traffic flows.
func (n *Node) CutAPI(ctx context.Context) error { return errNotYet }

// JoinAPI undoes CutAPI.
func (n *Node) JoinAPI(ctx context.Context) error { return errNotYet }

// CutPods drops the traffic of the node's pods to a TCP port of other pods.
func (n *Node) CutPods(ctx context.Context, port int) error { return errNotYet }

// JoinPods undoes CutPods.
func (n *Node) JoinPods(ctx context.Context, port int) error { return errNotYet }

// Container is what the container runtime of a node says about a container.
type Container struct {
	ID, Namespace, Pod, UID, Name string
	Attempt                       int    // restarts before this one
	State                         string // created, running, exited, unknown
	Created, Started, Finished    time.Time
	ExitCode                      int
	Reason                        string
}

// Containers lists containers, ended ones too; an empty argument fits all.
func (n *Node) Containers(ctx context.Context, namespace, pod, container string) ([]Container, error) {
	return nil, errNotYet
}

// KillContainer ends a container with SIGKILL.
func (n *Node) KillContainer(ctx context.Context, id string) error { return errNotYet }

// PauseContainer freezes the processes of a container.
func (n *Node) PauseContainer(ctx context.Context, id string) error { return errNotYet }

// ResumeContainer lets a frozen container go on.
func (n *Node) ResumeContainer(ctx context.Context, id string) error { return errNotYet }

// EventKind tells events of a node's container runtime apart.
type EventKind string

// The events. Between Interrupted and Watching nothing was seen.
const (
	Watching    EventKind = "watching"
	Started     EventKind = "started"
	Exited      EventKind = "exited"
	Interrupted EventKind = "interrupted"
)

// Event is one record of the container runtime of a node.
type Event struct {
	Kind                          EventKind
	Node                          string
	At                            time.Time // by the runtime's own stamp
	ID, Namespace, Pod, UID, Name string    // of the container
	ExitCode                      int
	Err                           error // of Interrupted
}

// Watch passes on the starts and exits of the node's containers, in their order, until ctx ends. It connects again after
// the node was away; the first Watching says that nothing is missed from there on.
func (n *Node) Watch(ctx context.Context, report func(Event)) error { return errNotYet }
