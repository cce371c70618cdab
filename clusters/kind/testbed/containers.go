package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Container is what the container runtime of a node says about a container.
type Container struct {
	ID, Namespace, Pod, UID, Name string
	Attempt                       int    // restarts before this one
	State                         string // created, running, exited, unknown
	Created, Started, Finished    time.Time
	ExitCode                      int
	Reason                        string
}

// The labels that the kubelet gives a container (k8s.io/kubernetes, pkg/kubelet/types/labels.go).
const (
	podNameLabel   = "io.kubernetes.pod.name"
	namespaceLabel = "io.kubernetes.pod.namespace"
	podUIDLabel    = "io.kubernetes.pod.uid"
	containerLabel = "io.kubernetes.container.name"
)

// inspectScript takes labels. crictl ps knows neither exit codes nor end times, so what it lists is inspected: in one call,
// or one by one if the kubelet has removed one in between.
const inspectScript = `
labels=()
for label; do labels+=(--label "$label"); done
ids=$(crictl ps --all --quiet "${labels[@]}") || exit 1
[ -z "$ids" ] && exit 0
crictl inspect --quiet --output json $ids 2>/dev/null && exit 0
for id in $ids; do crictl inspect --quiet --output json "$id" 2>/dev/null; done
exit 0
`

// Containers lists containers, ended ones too as long as the kubelet has not removed them, in the order of their creation. An
// empty argument fits all.
func (n *Node) Containers(ctx context.Context, namespace, pod, name string) ([]Container, error) {
	args := []string{"inspect"}
	for _, label := range [][2]string{{namespaceLabel, namespace}, {podNameLabel, pod}, {containerLabel, name}} {
		if label[1] != "" {
			args = append(args, label[0]+"="+label[1])
		}
	}
	out, err := n.script(ctx, inspectScript, args...)
	if err != nil {
		return nil, err
	}
	found, err := parseContainers(out)
	if err != nil {
		return nil, fmt.Errorf("node %s: containers: %w", n.name, err)
	}
	return found, nil
}

// status is the part of a CRI container status that matters, as crictl prints it.
type status struct {
	Status struct {
		ID       string
		Metadata struct {
			Name    string
			Attempt int
		}
		State                            string
		CreatedAt, StartedAt, FinishedAt time.Time
		ExitCode                         int
		Reason                           string
		Labels                           map[string]string
	}
}

// parseContainers reads one object, one array, or several after each other: crictl prints an array for more than one.
func parseContainers(out []byte) ([]Container, error) {
	var found []Container
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if raw[0] != '[' {
			raw = slices.Concat([]byte{'['}, raw, []byte{']'})
		}
		var statuses []status
		if err := json.Unmarshal(raw, &statuses); err != nil {
			return nil, err
		}
		for _, s := range statuses {
			found = append(found, s.container())
		}
	}
	slices.SortFunc(found, func(a, b Container) int { return a.Created.Compare(b.Created) })
	return found, nil
}

func (s status) container() Container {
	t := s.Status
	return Container{
		ID: t.ID, Namespace: t.Labels[namespaceLabel], Pod: t.Labels[podNameLabel], UID: t.Labels[podUIDLabel],
		Name: t.Metadata.Name, Attempt: t.Metadata.Attempt,
		State:   strings.ToLower(strings.TrimPrefix(t.State, "CONTAINER_")),
		Created: t.CreatedAt, Started: stamp(t.StartedAt), Finished: stamp(t.FinishedAt),
		ExitCode: t.ExitCode, Reason: t.Reason,
	}
}

// stamp is zero for what has not happened: CRI's zero is the Unix epoch.
func stamp(t time.Time) time.Time {
	if t.Unix() <= 0 {
		return time.Time{}
	}
	return t
}

// KillContainer ends a container with SIGKILL, without the grace that deleting its pod would give. One that ended by itself a moment before
// is no error.
func (n *Node) KillContainer(ctx context.Context, id string) error {
	err := n.task(ctx, id, "kill", "--signal", "SIGKILL")
	if err != nil && strings.Contains(err.Error(), "no running task found") {
		return nil
	}
	return err
}

// PauseContainer freezes the processes of a container: its connections stay open, and nothing answers.
func (n *Node) PauseContainer(ctx context.Context, id string) error { return n.task(ctx, id, "pause") }

// ResumeContainer lets a frozen container go on.
func (n *Node) ResumeContainer(ctx context.Context, id string) error {
	return n.task(ctx, id, "resume")
}

// task asks containerd itself: CRI has neither a kill without grace nor a freezer.
func (n *Node) task(ctx context.Context, id string, args ...string) error {
	args = append([]string{"ctr", "--namespace=k8s.io", "task"}, append(args, id)...)
	_, err := n.Exec(ctx, args...)
	return err
}
