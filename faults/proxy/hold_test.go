package proxy

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// TestHeldCallsGoOnWhenTheRuleIsGone: the caller gives up, and what it asked for happens when it no longer expects that.
func TestHeldCallsGoOnWhenTheRuleIsGone(t *testing.T) {
	s := newStand(t)
	id := s.arm(Rule{Port: clusters.API, Process: "dispatcher-1", Action: clusters.Slow, Hold: true})
	before := s.cluster.count("POST")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := s.workloads("dispatcher-1").Create(ctx, task("a")); !errors.Is(err, dispatcher.ErrUnknown) {
		t.Errorf("the caller learned %v, want that it knows nothing", err)
	}
	if _, err := s.workloads("dispatcher-2").Create(t.Context(), task("b")); err != nil {
		t.Errorf("another process was held, too: %v", err)
	}
	if n := s.cluster.count("POST") - before; n != 1 {
		t.Errorf("%d creates reached the server, want only the other process's", n)
	}
	if err := s.client.Disarm(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	s.await("what was held goes on", func() bool { return s.cluster.count("POST")-before == 2 })
}

func TestHoldIsForSlowRules(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		says string // empty: it is one
	}{
		{Rule{Action: clusters.Slow, Hold: true}, ""},
		{Rule{Action: clusters.Slow}, "unless a slow one holds"},
		{Rule{Action: clusters.Slow, Hold: true, Delay: fixed(time.Second)}, "delay"},
		{Rule{Action: clusters.Drop, Hold: true}, "it goes with the action slow"},
	} {
		err := c.rule.Check()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.says)
		}
	}
}
