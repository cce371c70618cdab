package explore_test

import (
	"fmt"
	"testing"

	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/explore"
)

// TestEqualStatesGoOnAlike: what the search does not follow, as it has been in that state before, would have gone on as the run that it did
// follow: each owner makes the same accesses, and the verdict is the same. It is what every claim of having exhausted rests on. (The order of accesses by
// several owners within a second may differ: times count in whole seconds.)
func TestEqualStatesGoOnAlike(t *testing.T) {
	for _, c := range []struct {
		scenario, dispatcher string
		bounds               explore.Bounds
	}{
		{"two-tasks-control", "reference", explore.Bounds{Reversals: 2}},
		{"two-tasks-control", "reference", explore.Bounds{Faults: 1, Reversals: 1, Kinds: []string{"lease-loss"}}},
		{"two-tasks-control", "reference", explore.Bounds{Faults: 1, Kinds: explore.Kinds()}},
		{"two-tasks-slow-control", "reference", explore.Bounds{Faults: 1, Kinds: []string{"relabelled", "cut-off"}}},
		{"two-tasks-control", "no-epoch", explore.Bounds{Faults: 1, Kinds: explore.UsualKinds()}},
	} {
		t.Run(c.scenario+" "+c.dispatcher, func(t *testing.T) {
			s := searchOf(t, c.scenario, c.dispatcher, c.bounds)
			s.All = true
			twins := explore.TwinsOf(t.Context(), s)
			const most = 12
			for i := 0; i < len(twins); i += max(len(twins)/most, 1) {
				x := twins[i]
				if found := alike(futureOf(t, s, x.First, x.AtFirst), futureOf(t, s, x.Second, x.AtSecond)); found != "" {
					t.Errorf("twins %d of %d: access %d of %v, %v and access %d of %v, %v: %s", i, len(twins), x.AtFirst, x.First.Plan, x.First.Order.Delays,
						x.AtSecond, x.Second.Plan, x.Second.Order.Delays, found)
				}
			}
			t.Logf("%d twins", len(twins))
			if len(twins) == 0 {
				t.Errorf("%d twins: nothing was put to the test", len(twins))
			}
		})
	}
}

// future is what a run does after some access, by owner.
type future struct {
	owners  []string
	does    map[string][]string
	verdict string
}

func futureOf(t *testing.T, s explore.Search, p *explore.Path, at int) future {
	t.Helper()
	o := s.Options
	o.Plan, o.Order = p.Plan, p.Order
	r := scenarios.Run(t.Context(), s.Scenario, o)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	accesses, _ := r.Orderly().Accesses()
	f := future{does: map[string][]string{}, verdict: r.Verdict.String()}
	for _, a := range accesses[at+1:] {
		if f.does[a.Owner] == nil {
			f.owners = append(f.owners, a.Owner)
		}
		f.does[a.Owner] = append(f.does[a.Owner], a.What)
	}
	return f
}

// alike tells how the two differ; empty when they do not. Worlds are asked once in a second whether they are done, so that one may go on for a
// little longer.
func alike(a, b future) string {
	const longer = 3
	if a.verdict != b.verdict {
		return a.verdict + " against " + b.verdict
	}
	for _, owner := range a.owners {
		one, other := a.does[owner], b.does[owner]
		n := min(len(one), len(other))
		for i := range n {
			if one[i] != other[i] {
				return fmt.Sprintf("access %d of %s is %q against %q", i, owner, one[i], other[i])
			}
		}
		if len(one)-n > longer || len(other)-n > longer {
			return fmt.Sprintf("%s makes %d accesses against %d", owner, len(one), len(other))
		}
	}
	return ""
}
