package testbed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

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
	At                            time.Time // by containerd's stamp; by the clock here for Watching and Interrupted
	ID, Namespace, Pod, UID, Name string    // of the container
	ExitCode                      int
	Err                           error // of Interrupted
}

// watchScript prints containerd's events, and before the first of a container what that is. containerd has no event for "you are
// subscribed", so the script makes one in a namespace of its own until it sees it. It ends with its input, since killing
// docker exec kills nothing in the node.
const watchScript = `
mark=squall-watch-$0
declare -A known
# what the CRI plugin has written into the bundle needs no process to be read: with two of them per container a tick is felt
bundled() {
	IFS= read -r -d '' spec <"/run/containerd/io.containerd.runtime.v2.task/k8s.io/$1/config.json"
	local about= field
	for field in container-name:container.name sandbox-name:pod.name sandbox-namespace:pod.namespace sandbox-uid:pod.uid; do
		if [[ $spec =~ \"io\.kubernetes\.cri\.${field%:*}\":\ *\"([^\"]*)\" ]]; then
			about+=",\"io.kubernetes.${field#*:}\":\"${BASH_REMATCH[1]}\""
		fi
	done
	[ -n "$about" ] && echo "squall labels {\"id\":\"$1\",\"labels\":{${about#,}}}"
} 2>/dev/null
label() {
	[ -n "${known[$1]}" ] && return
	known[$1]=1
	bundled "$1" || echo "squall labels $(ctr --namespace=k8s.io containers info "$1" | jq -c '{id: .ID, labels: .Labels}')"
}
{
	trap 'seen=1' USR1
	until [ -n "$seen" ]; do
		sleep 0.2
		ctr namespaces create "$mark" && ctr namespaces remove "$mark"
	done
} >/dev/null 2>&1 &
marker=$!
{
	ctr --namespace=k8s.io events | while IFS= read -r line; do
		case $line in
		*" k8s.io /tasks/start "* | *" k8s.io /tasks/exit "*)
			id=${line#*\"container_id\":\"}
			label "${id%%\"*}"
			echo "$line" ;;
		*" /namespaces/"*"$mark"*)
			[ -n "$watching" ] || { watching=1; kill -USR1 $marker; echo squall watching; } ;;
		esac
	done
	kill 0
} &
cat >/dev/null
kill 0
`

// Watch passes on the starts and exits of the node's containers, in their order, until ctx ends. It connects again after
// the node was away; the first Watching says that nothing is missed from there on. report is called from one goroutine.
func (n *Node) Watch(ctx context.Context, report func(Event)) error {
	known := map[string]map[string]string{} // labels by container
	for {
		err := n.stream(ctx, known, report)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		report(Event{Kind: Interrupted, Node: n.name, At: time.Now(), Err: err})
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(2 * time.Second):
		}
	}
}

// stream reads events until the node or ctx ends.
func (n *Node) stream(ctx context.Context, known map[string]map[string]string, report func(Event)) error {
	args := []string{"exec", "--privileged", "--interactive", n.name, "bash", "-c", watchScript, fmt.Sprint(time.Now().UnixNano())}
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.WaitDelay = 2 * time.Second
	said := new(firstWords)
	cmd.Stderr = said
	in, err := cmd.StdinPipe() // kept open: its end ends the script
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Cancel = in.Close // the script ends, and docker exec with it; WaitDelay is for a node that is frozen
	if err := cmd.Start(); err != nil {
		return command{args: args, node: n.name}.failure(err, "")
	}
	err = n.follow(out, known, report)
	_ = in.Close()
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	if err == nil {
		err = errors.New("containerd ended the stream")
	}
	return command{args: args, node: n.name}.failure(err, said.String())
}

func (n *Node) follow(out io.Reader, known map[string]map[string]string, report func(Event)) error {
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		e, ok, err := parseEvent(scanner.Text(), known)
		if err != nil {
			return err
		}
		if ok {
			e.Node = n.name
			report(e)
		}
	}
	return scanner.Err()
}

// parseEvent reads a line of the script: its own, or one of `ctr events`, which is a time in Go's own format, a namespace, a
// topic and the event as JSON.
func parseEvent(line string, known map[string]map[string]string) (e Event, ok bool, err error) {
	if own, is := strings.CutPrefix(line, "squall "); is {
		if own == "watching" {
			return Event{Kind: Watching, At: time.Now()}, true, nil
		}
		return Event{}, false, learn(strings.TrimPrefix(own, "labels "), known)
	}
	before, body, found := strings.Cut(line, " {")
	field := strings.Fields(before)
	if !found || len(field) != 6 {
		return Event{}, false, fmt.Errorf("not an event of containerd: %q", line)
	}
	var task struct {
		ContainerID string `json:"container_id"`
		ID          string `json:"id"` // of an exec process, if it is another than the container's
		ExitStatus  int    `json:"exit_status"`
		ExitedAt    *struct {
			Seconds int64 `json:"seconds"`
			Nanos   int64 `json:"nanos"`
		} `json:"exited_at"`
	}
	if err := json.Unmarshal([]byte("{"+body), &task); err != nil {
		return Event{}, false, fmt.Errorf("event of containerd %q: %w", line, err)
	}
	labels := known[task.ContainerID]
	if labels[containerLabel] == "" || task.ID != "" && task.ID != task.ContainerID {
		return Event{}, false, nil // a pod's sandbox, a probe, or what is none of the kubelet's
	}
	e = Event{
		ID: task.ContainerID, Namespace: labels[namespaceLabel], Pod: labels[podNameLabel], UID: labels[podUIDLabel],
		Name: labels[containerLabel], ExitCode: task.ExitStatus,
	}
	e.At, err = time.Parse("2006-01-02 15:04:05.999999999 -0700 MST", strings.Join(field[:4], " "))
	if err != nil {
		return Event{}, false, fmt.Errorf("event of containerd %q: %w", line, err)
	}
	switch field[5] {
	case "/tasks/start":
		e.Kind = Started
	case "/tasks/exit":
		e.Kind = Exited
		if task.ExitedAt != nil { // the shim's own stamp: the event's is that of its publication
			e.At = time.Unix(task.ExitedAt.Seconds, task.ExitedAt.Nanos).UTC()
		}
		delete(known, task.ContainerID)
	default:
		return Event{}, false, nil
	}
	return e, true, nil
}

// learn keeps the labels of a container. They may be missing if it was gone before it was asked about.
func learn(text string, known map[string]map[string]string) error {
	if text == "" {
		return nil
	}
	var c struct {
		ID     string
		Labels map[string]string
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return fmt.Errorf("labels of a container %q: %w", text, err)
	}
	known[c.ID] = c.Labels
	return nil
}
