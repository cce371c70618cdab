package sim

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// submission is one task handed in at a moment, and what became of it.
type submission struct {
	id      dispatcher.TaskID
	at      time.Duration
	err     error
	returns time.Duration
}

// submitAt has one client each hand in a task, with a second's patience.
func submitAt(w *Cluster, at map[dispatcher.TaskID]time.Duration) map[dispatcher.TaskID]*submission {
	all := map[dispatcher.TaskID]*submission{}
	for id, when := range at {
		s := &submission{id: id, at: when}
		all[id] = s
		w.At(when, "submit "+string(id), func() {
			w.Go("client-"+string(id), func(ctx context.Context, p dispatcher.Ports) {
				s.err = submitOne(ctx, p, s.id)
				s.returns = w.Now()
			})
		})
	}
	return all
}

// kept tells whether the database has the task.
func kept(w *Cluster, id dispatcher.TaskID) bool {
	_, err := w.database.Read(background, id)
	return err == nil
}

// TestADatabaseThatIsKilled: the sources stand at type server.
func TestADatabaseThatIsKilled(t *testing.T) {
	w := still(t)
	felt := 0
	w.At(100*ms, "kill", func() { w.StopServer(clusters.Store, func() { felt++ }) })
	w.At(500*ms, "start", func() { w.StartServer(clusters.Store) })
	all := submitAt(w, map[dispatcher.TaskID]time.Duration{"before": 0, "served": 93 * ms, "flying": 97 * ms, "down": 200 * ms, "after": 600 * ms})
	run(t, w, 2*time.Second)

	for _, c := range []struct {
		id      dispatcher.TaskID
		err     error
		kept    bool
		returns time.Duration
	}{
		{"before", nil, true, 10 * ms},
		{"served", clusters.ErrReset, true, 103 * ms},  // committed, and nobody was told
		{"flying", clusters.ErrReset, false, 107 * ms}, // not committed, and nobody was told
		{"down", dispatcher.ErrUnavailable, false, 205 * ms},
		{"after", nil, true, 610 * ms},
	} {
		got := all[c.id]
		if !errors.Is(got.err, c.err) || got.returns != c.returns || kept(w, c.id) != c.kept {
			t.Errorf("%s: %v at %s, kept %t; want %v at %s, kept %t", c.id, got.err, got.returns, kept(w, c.id), c.err, c.returns, c.kept)
		}
	}
	if felt != 3 {
		t.Errorf("felt %d times, want once per call that broke or was refused", felt)
	}
}

// TestAServerThatIsFrozen: callers wait until their deadline or until it goes on, whichever comes first.
func TestAServerThatIsFrozen(t *testing.T) {
	w := still(t)
	felt := 0
	w.At(100*ms, "freeze", func() { w.PauseServer(clusters.Store, func() { felt++ }) })
	w.At(3*time.Second, "go on", func() { w.ResumeServer(clusters.Store) })
	at := map[dispatcher.TaskID]time.Duration{"served": 93 * ms, "patient": 2500 * ms, "after": 3500 * ms}
	const givenUp = 40
	for i := range givenUp {
		at[dispatcher.TaskID(fmt.Sprintf("given-up-%d", i))] = 97 * ms
	}
	all := submitAt(w, at)
	run(t, w, 10*time.Second)

	for id, returns := range map[dispatcher.TaskID]time.Duration{"served": 103 * ms, "patient": 3005 * ms, "after": 3510 * ms} {
		if got := all[id]; got.err != nil || got.returns != returns || !kept(w, id) {
			t.Errorf("%s: %v at %s, kept %t; want success at %s", id, got.err, got.returns, kept(w, id), returns)
		}
	}
	late := 0
	for i := range givenUp {
		got := all[dispatcher.TaskID(fmt.Sprintf("given-up-%d", i))]
		if !errors.Is(got.err, dispatcher.ErrUnknown) || got.returns != 1097*ms {
			t.Errorf("%s: %v at %s, want silence until its deadline", got.id, got.err, got.returns)
		}
		if kept(w, got.id) {
			late++
		}
	}
	if late == 0 || late == givenUp {
		t.Errorf("%d of %d requests that were given up took effect: both must happen", late, givenUp)
	}
	if felt != givenUp+1 {
		t.Errorf("felt %d times, want once per call that had to wait", felt)
	}
}

// TestAFrozenServerIsKilled: what waits finds its connection broken, and nothing takes effect.
func TestAFrozenServerIsKilled(t *testing.T) {
	w := still(t)
	w.At(100*ms, "freeze", func() { w.PauseServer(clusters.Store, nil) })
	w.At(300*ms, "kill", func() { w.StopServer(clusters.Store, nil) })
	w.At(400*ms, "start", func() { w.StartServer(clusters.Store) })
	w.At(700*ms, "go on", func() { w.ResumeServer(clusters.Store) })
	all := submitAt(w, map[dispatcher.TaskID]time.Duration{"waiting": 200 * ms, "after": 500 * ms})
	run(t, w, 2*time.Second)
	if got := all["waiting"]; !errors.Is(got.err, clusters.ErrReset) || got.returns != 305*ms || kept(w, "waiting") {
		t.Errorf("waiting: %v at %s, kept %t", got.err, got.returns, kept(w, "waiting"))
	}
	if got := all["after"]; got.err != nil || got.returns != 510*ms {
		t.Errorf("after: %v at %s: what was started again is not frozen", got.err, got.returns)
	}
}

// TestAFrozenAPIServerTakesLeasesAndKubeletsAlong.
func TestAFrozenAPIServerTakesLeasesAndKubeletsAlong(t *testing.T) {
	w := still(t)
	var lease, store error
	w.At(100*ms, "freeze", func() { w.PauseServer(clusters.API, nil) })
	w.At(200*ms, "look", func() {
		w.Go("client-1", func(ctx context.Context, p dispatcher.Ports) {
			short, cancel := p.Clock.WithTimeout(ctx, time.Second)
			defer cancel()
			_, lease = p.Leases.GetLease(short, "dispatcher")
			_, store = p.Store.Now(ctx)
		})
	})
	run(t, w, 2*time.Minute)
	if !errors.Is(lease, dispatcher.ErrUnknown) || store != nil {
		t.Errorf("lease: %v, store: %v", lease, store)
	}
	if n := len(nodesNotReady(w)); n != 0 {
		t.Errorf("%d nodes are NotReady, and nobody could have written that", n)
	}
	w.ResumeServer(clusters.API)
	w.Go("client-2", func(ctx context.Context, p dispatcher.Ports) { _, lease = p.Leases.GetLease(ctx, "dispatcher") })
	run(t, w, 3*time.Minute)
	if !errors.Is(lease, dispatcher.ErrNotFound) {
		t.Errorf("lease afterwards: %v", lease)
	}
}

func nodesNotReady(w *Cluster) (nodes []history.ID) {
	for _, e := range w.History().Events {
		if e.Kind == history.NodeNotReady {
			nodes = append(nodes, e.Node)
		}
	}
	return nodes
}
