package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// State is what List found of a cluster.
type State string

// The states of a cluster.
const (
	Running    State = "running"
	Creating   State = "creating"   // another process is at it
	Stopped    State = "stopped"    // the control plane does not run
	Degraded   State = "degraded"   // a worker does not run
	Incomplete State = "incomplete" // its creation was interrupted
	Orphaned   State = "orphaned"   // containers or a network without a state directory
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
	// Kubeconfig is the path of the file, "" if there is none.
	Kubeconfig string
	Nodes      []NodeInfo
}

// NodeInfo describes a node container.
type NodeInfo struct {
	Name     string
	Capacity clusters.CapacityType // "" for the control plane, and where nothing says
	State    string                // in Docker's words: running, paused, exited
}

// What marks the containers and the network of a cluster in the engine. kind offers no label of our own on a node
// container (kind v0.33.0, pkg/cluster/constants has its own), so the network, which we create before kind does, carries it.
const (
	clusterLabel = "io.x-k8s.kind.cluster"
	roleLabel    = "io.x-k8s.kind.role"
	ownLabel     = "squall.testbed"       // on the network: the name
	stateLabel   = "squall.testbed.state" // on the network: the state directory
)

// remains is everything that the machine holds of one cluster.
type remains struct {
	name       string
	containers []container
	network    bool   // with the label, or of the name
	owner      string // the state directory that the network names
	dir        bool
	locked     bool
	record     *record
	unreadable error // the record is there and makes no sense
}

type container struct{ name, role, state string }

// survey looks for remains of the cluster, or of all clusters if the name is empty.
func survey(ctx context.Context, only string) ([]*remains, error) {
	found := map[string]*remains{}
	of := func(name string) *remains {
		if found[name] == nil {
			found[name] = &remains{name: name}
		}
		return found[name]
	}
	if err := surveyEngine(ctx, of); err != nil {
		return nil, err
	}
	names, err := states()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		of(name).dir = true
	}
	all := make([]*remains, 0, len(found))
	for name, r := range found { // the order does not matter: sorted below
		if only != "" && name != only {
			continue
		}
		if r.dir {
			r.record, r.unreadable = load(name)
			r.locked = locked(name)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *remains) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

func surveyEngine(ctx context.Context, of func(name string) *remains) error {
	out, err := docker(ctx, "ps", "--all", "--filter", "label="+clusterLabel,
		"--format", `{{.Label "`+clusterLabel+`"}}|{{.Names}}|{{.Label "`+roleLabel+`"}}|{{.State}}`)
	if err != nil {
		return err
	}
	for _, line := range lines(out) {
		field := strings.Split(line, "|")
		if len(field) != 4 || !strings.HasPrefix(field[0], Prefix) {
			continue // a kind cluster of somebody else
		}
		r := of(strings.TrimPrefix(field[0], Prefix))
		r.containers = append(r.containers, container{name: field[1], role: field[2], state: field[3]})
	}
	out, err = docker(ctx, "network", "ls", "--filter", "name=^"+Prefix,
		"--format", `{{.Name}}|{{.Label "`+ownLabel+`"}}|{{.Label "`+stateLabel+`"}}`)
	if err != nil {
		return err
	}
	for _, line := range lines(out) {
		field := strings.SplitN(line, "|", 3)
		if len(field) != 3 || field[1] == "" || field[0] != Prefix+field[1] {
			continue // only its label makes it ours: a name can be chance
		}
		r := of(field[1])
		r.network, r.owner = true, field[2]
	}
	return nil
}

// one is survey for a single cluster; nil if nothing is left of it.
func one(ctx context.Context, name string) (*remains, error) {
	all, err := survey(ctx, name)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// List finds every cluster that is ours or has our prefix, whole or not.
func List(ctx context.Context) ([]Info, error) {
	all, err := survey(ctx, "")
	if err != nil {
		return nil, err
	}
	infos := make([]Info, 0, len(all))
	for _, r := range all {
		infos = append(infos, r.info())
	}
	return infos, nil
}

func (r *remains) info() Info {
	info := Info{Name: r.name}
	capacity := map[string]clusters.CapacityType{}
	if r.record != nil {
		info.Image, info.Created = r.record.Image, r.record.Created
		if dir, err := stateDir(r.name); err == nil && r.record.Ready {
			info.Kubeconfig = kubeconfigPath(dir)
		}
		for _, n := range r.record.Nodes {
			capacity[n.Name] = n.Capacity
		}
	}
	for _, c := range r.containers {
		info.Nodes = append(info.Nodes, NodeInfo{Name: c.name, Capacity: capacity[c.name], State: c.state})
	}
	slices.SortFunc(info.Nodes, func(a, b NodeInfo) int { return strings.Compare(a.Name, b.Name) })
	info.State, info.Reason = r.state()
	switch info.State {
	case Running:
	case Creating:
		info.Remedy = "wait for it to end, or end it"
	case Foreign:
		info.Remedy = fmt.Sprintf("take another name, or remove it if it may go: `squall cluster down --force %s`", r.name)
	case Degraded, Stopped:
		info.Remedy = fmt.Sprintf("the next run brings it back; to make the cluster anew: `squall cluster down %s`", r.name)
	default:
		info.Remedy = fmt.Sprintf("remove what is left of it: `squall cluster down %s`", r.name)
	}
	return info
}

// state judges the remains, and says why in words.
func (r *remains) state() (State, string) {
	why, down := r.foreign(), r.down()
	switch {
	case why != "":
		return Foreign, why
	case r.locked:
		return Creating, "another process creates or removes it"
	case len(r.containers) == 0 && r.dir:
		return Vanished, "there is a state directory, but no container"
	case len(r.containers) == 0:
		return Orphaned, "there is a network, but no container and no state directory"
	case r.unreadable != nil:
		return Incomplete, r.unreadable.Error()
	case r.record == nil:
		return Orphaned, "there are containers, but no state directory"
	case !r.record.Ready:
		return Incomplete, fmt.Sprintf("its creation by process %d was interrupted", r.record.PID)
	case len(r.containers) < len(r.record.Nodes):
		return Incomplete, fmt.Sprintf("%d of its %d node containers are gone", len(r.record.Nodes)-len(r.containers), len(r.record.Nodes))
	case down.role == "control-plane":
		return Stopped, fmt.Sprintf("the control plane does not run: container %s is %s", down.name, down.state)
	case down.name != "":
		return Degraded, fmt.Sprintf("container %s is %s", down.name, down.state)
	}
	return Running, ""
}

// foreign says why the cluster is not ours; "" if it is.
func (r *remains) foreign() string {
	dir, err := stateDir(r.name)
	switch {
	case err != nil:
		return err.Error()
	case len(r.containers) > 0 && !r.network && r.record == nil && r.unreadable == nil: // the record comes first, the containers last
		return "its containers have our prefix but none of our marks"
	case r.network && r.owner != dir && !sameDir(r.owner, dir):
		return fmt.Sprintf("it belongs to the state directory %s", r.owner)
	}
	return ""
}

// sameDir sees through symbolic links.
func sameDir(a, b string) bool {
	ia, err := os.Stat(a)
	if err != nil {
		return false
	}
	ib, err := os.Stat(b)
	return err == nil && os.SameFile(ia, ib)
}

// down is the most important container that does not run, the zero value if all do.
func (r *remains) down() container {
	var down container
	for _, c := range r.containers {
		if c.state == "running" {
			continue
		}
		if c.role == "control-plane" {
			return c
		}
		down = c
	}
	return down
}

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound   = errors.New("no such cluster")
	ErrExists     = errors.New("the cluster exists already")
	ErrForeign    = errors.New("not a cluster of ours")
	ErrNotRunning = errors.New("the cluster does not run")
	ErrBusy       = errors.New("another process works on the cluster")
	ErrName       = errors.New("not a name for a cluster")
	ErrKubeconfig = errors.New("the kubeconfig of the cluster cannot be read")
)
