package scenarios_test

import (
	"context"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// gauge is a meter that remembers.
type gauge struct {
	counts map[dispatcher.Counter]int
	oldest time.Duration
	lag    time.Duration
	last   dispatcher.Health
}

func (g *gauge) Count(c dispatcher.Counter, n int) { g.counts[c] += n }

func (g *gauge) Watch(h dispatcher.Health, lag time.Duration) {
	g.oldest, g.lag, g.last = max(g.oldest, h.OldestRunning), max(g.lag, lag), h
}

// TestMeter shows rule 12: what operators watch tells what happened.
func TestMeter(t *testing.T) {
	g := &gauge{counts: map[dispatcher.Counter]int{}}
	system := planted.Reference()
	system.Ports = func(p dispatcher.Ports) dispatcher.Ports { p.Meter = g; return p }
	s := named(t, "node-kill-and-return")
	r := scenarios.Run(context.Background(), s, scenarios.Options{System: system, Seed: 1, World: simulated})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	for _, c := range []dispatcher.Counter{dispatcher.CountClaims, dispatcher.CountLaunches, dispatcher.CountRequeues} {
		if g.counts[c] == 0 {
			t.Errorf("%s was never counted", c)
		}
	}
	if g.counts[dispatcher.CountClaims] < len(s.TaskNames()) {
		t.Errorf("%d claims of %d tasks", g.counts[dispatcher.CountClaims], len(s.TaskNames()))
	}
	if g.oldest < time.Minute {
		t.Errorf("a task ran for minutes, but the oldest running one was %s", g.oldest)
	}
	if g.last.Pending+g.last.Running > 0 {
		t.Errorf("at the end: %+v", g.last)
	}
}
