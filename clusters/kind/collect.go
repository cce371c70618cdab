package kind

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// Journals are read from the nodes' disks, also from nodes that are off or cut off.
func (w *World) Journals(ctx context.Context) (map[string][]byte, error) {
	nodes := []*testbed.Node{w.bed.ControlPlane()}
	for _, m := range w.machines {
		nodes = append(nodes, m.node)
	}
	pages := make([]map[string][]byte, len(nodes))
	err := onAll(nodes, func(n *testbed.Node) (err error) {
		pages[slices.Index(nodes, n)], err = n.Read(ctx, w.recordDir())
		return err
	})
	all := map[string][]byte{}
	for i, files := range pages {
		for name, text := range files { // order does not matter
			if strings.HasSuffix(name, ".jsonl") {
				all[nodes[i].Name()+"/"+name] = text
			}
		}
	}
	return all, err
}

// Lives asks the container runtimes for the lives of containers that their events have not told of: on a machine that is short of
// processors events come late, and a container may be gone before anybody could ask whose it was.
func (w *World) Lives(ctx context.Context, events []journal.Event) (lives []journal.Event, err error) {
	type fact struct {
		object string
		kind   history.Kind
	}
	seen := map[fact]bool{}
	for _, e := range events {
		if e.Process == journal.Runtime {
			seen[fact{e.Object, e.Kind}] = true
		}
	}
	nodes := w.machines.on()
	containers := make([][]testbed.Container, len(nodes))
	problem := onAll(nodes, func(n *testbed.Node) (err error) {
		containers[slices.Index(nodes, n)], err = n.Containers(ctx, w.Namespace(), "", kube.Container)
		return err
	})
	if problem != nil {
		err = fmt.Errorf("%w: %w", deployed.ErrNoRecord, problem)
	}
	for i, found := range containers {
		for _, c := range found {
			told := journal.Event{Process: journal.Runtime, Object: c.UID, Node: nodes[i].Name(), Kind: history.ContainerStarted, At: c.Started}
			if !c.Started.IsZero() && !seen[fact{c.UID, told.Kind}] {
				lives = append(lives, told)
			}
			told.Kind, told.At, told.Detail = history.ContainerEnded, c.Finished, fmt.Sprintf("exit %d", c.ExitCode)
			if c.State == "exited" && c.Finished.After(c.Started) && !seen[fact{c.UID, told.Kind}] {
				lives = append(lives, told)
			}
		}
	}
	return lives, err
}

// Complete adds the lives of containers that nobody but their workers told of, because their machine was switched off before its
// runtime got round to it: from the first word of the worker to the end of the machine.
func (w *World) Complete(events []journal.Event) []journal.Event {
	witnessed := map[string]bool{}
	for _, e := range events {
		if e.Process == journal.Runtime {
			witnessed[e.Object] = true
		}
	}
	var lives []journal.Event
	for _, e := range events {
		if e.Kind != history.ContainerStarted || witnessed[e.Object] {
			continue
		}
		m := w.machines.named(e.Node)
		if m == nil {
			continue
		}
		for _, off := range m.offAt {
			if !off.Before(e.At) {
				start, end := e, e
				start.Process, end.Process = journal.Runtime, journal.Runtime
				end.Kind, end.Detail, end.At, end.Monotonic = history.ContainerEnded, "killed", off, 0
				lives = append(lives, start, end)
				break
			}
		}
	}
	return lives
}
