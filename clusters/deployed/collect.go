package deployed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/journal/rowlog"
)

// ErrNoRecord tells that something that was written down could not be had.
var ErrNoRecord = errors.New("the record is incomplete")

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
	start := w.origin().Add(w.ahead)
	events = append(events, rows...)
	for _, e := range w.live.events {
		e.At = e.At.Add(w.ahead)
		events = append(events, e)
	}
	unseen, problem := w.ground.Lives(ctx, events)
	err = errors.Join(err, problem)
	events = append(events, unseen...)
	for i := range events {
		e := &events[i]
		e.Node = w.ground.Alias(e.Node)
		if e.At.Before(start) { // a replica at the starting line
			e.At, e.Monotonic = start, 0
		}
	}
	events = append(events, w.ground.Complete(events)...)
	h, problem := journal.Merge(start, w.meta(), calls, events)
	w.final = h
	if err = errors.Join(err, problem); err != nil {
		return fmt.Errorf("collect the record of namespace %s: %w", w.Namespace(), err)
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
		World: w.ground.Name(), Dispatcher: w.Config.System.Name, Seed: w.Config.Seed,
		Limits: clusters.LimitsOf(w.Config.Settings, w.lateness),
	}
}

// testimonies reads the journals of replicas, workers and clients.
func (w *World) testimonies(ctx context.Context) (calls []journal.Call, events []journal.Event, err error) {
	take := func(who string, text []byte) {
		c, e, problem := journal.Read(bytes.NewReader(text))
		if problem != nil {
			err = errors.Join(err, fmt.Errorf("%w: journal %s: %w", ErrNoRecord, who, problem))
		}
		calls, events = append(calls, c...), append(events, e...)
	}
	for _, c := range w.clients {
		take(c.name, c.pages.copy())
	}
	kept, problem := w.ground.Journals(ctx)
	if problem != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", ErrNoRecord, problem))
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		take(name, kept[name])
	}
	return calls, events, err
}
