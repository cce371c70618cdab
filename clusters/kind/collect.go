package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/journal/rowlog"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

var errNoRecord = errors.New("the record is incomplete")

// Collect gathers what processes, the database and the container runtimes wrote down, and makes the history of it. Journals are
// read from the nodes' disks, also from nodes that are off or cut off.
func (w *World) Collect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	w.drain()
	// Nobody may act any more: what a replica did after its journal was read would have nobody who did it.
	err := w.stopReplicas(ctx)
	calls, events, problem := w.testimonies(ctx)
	err = errors.Join(err, problem)
	rows, problem := w.rows(ctx)
	err = errors.Join(err, problem)
	w.drain()
	events = append(append(events, rows...), w.live.events...)
	unseen, problem := w.unseen(ctx, events)
	err = errors.Join(err, problem)
	events = append(events, unseen...)
	for i := range events {
		e := &events[i]
		e.Node = w.machines.alias(e.Node)
		if e.At.Before(w.start) { // a replica at the starting line
			e.At, e.Monotonic = w.start, 0
		}
	}
	events = append(events, w.unwitnessed(events)...)
	h, problem := journal.Merge(w.start, w.meta(), calls, events)
	w.final = h
	if err = errors.Join(err, problem); err != nil {
		return fmt.Errorf("collect the record of namespace %s: %w", w.namespace, err)
	}
	return nil
}

// rows reads the database's own log. Transactions of processes that are dead or cut off by now end here: until they do, nobody knows
// what was committed after them.
func (w *World) rows(ctx context.Context) ([]journal.Event, error) {
	_, err := w.database.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> $1`, harness)
	if err != nil {
		return nil, fmt.Errorf("end the sessions of the run: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return rowlog.ReadAll(ctx, w.database)
}

func (w *World) meta() history.Meta {
	return history.Meta{
		World: "kind", Dispatcher: w.config.System.Name, Seed: w.config.Seed,
		Limits: clusters.LimitsOf(w.config.Settings, w.lateness),
	}
}

// testimonies reads the journals of replicas, workers and clients.
func (w *World) testimonies(ctx context.Context) (calls []journal.Call, events []journal.Event, err error) {
	take := func(who string, text []byte) {
		c, e, problem := journal.Read(bytes.NewReader(text))
		if problem != nil {
			err = errors.Join(err, fmt.Errorf("%w: journal %s: %w", errNoRecord, who, problem))
		}
		calls, events = append(calls, c...), append(events, e...)
	}
	for _, c := range w.clients {
		take(c.name, c.pages.copy())
	}
	nodes := []*testbed.Node{w.bed.ControlPlane()}
	for _, m := range w.machines {
		nodes = append(nodes, m.node)
	}
	pages := make([]map[string][]byte, len(nodes))
	problem := onAll(nodes, func(n *testbed.Node) (err error) {
		pages[slices.Index(nodes, n)], err = n.Read(ctx, w.recordDir())
		return err
	})
	if problem != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", errNoRecord, problem))
	}
	for i, files := range pages {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(name, ".jsonl") {
				take(nodes[i].Name()+"/"+name, files[name])
			}
		}
	}
	return calls, events, err
}

// unseen asks the container runtimes for the lives of containers that their events have not told of: on a machine that is short of
// processors events come late, and a container may be gone before anybody could ask whose it was.
func (w *World) unseen(ctx context.Context, events []journal.Event) (lives []journal.Event, err error) {
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
		containers[slices.Index(nodes, n)], err = n.Containers(ctx, w.namespace, "", kube.Container)
		return err
	})
	if problem != nil {
		err = fmt.Errorf("%w: %w", errNoRecord, problem)
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

// unwitnessed are the lives of containers that nobody but their workers told of, because their machine was switched off before its
// runtime got round to it: from the first word of the worker to the end of the machine.
func (w *World) unwitnessed(events []journal.Event) []journal.Event {
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
