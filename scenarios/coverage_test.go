package scenarios

import (
	"slices"
	"testing"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

// TestCoverageTellsStepsAndPairs follows one task through its life, with a fault in each step.
func TestCoverageTellsStepsAndPairs(t *testing.T) {
	plan := faults.Plan{{Kind: faults.NodeKill}, {Kind: faults.Call, Action: clusters.LoseReply}, {Kind: faults.StoreOutage}}
	struck := func(f int32) history.Event { return history.Event{Kind: history.FaultStruck, Fault: f} }
	h := &history.History{Tasks: []string{"a"}, Events: []history.Event{
		struck(1), // nothing is under way
		{Kind: history.FaultHealed, Fault: 1},
		{Kind: history.Row, Task: 1, Phase: history.Pending},
		struck(1),
		{Kind: history.Row, Task: 1, Phase: history.Running},
		struck(2), // beside 1
		{Kind: history.FaultHealed, Fault: 1},
		{Kind: history.ObjectCreated, Task: 1},
		{Kind: history.WorkStarted, Task: 1},
		struck(3), // beside 2
		{Kind: history.WorkEnded, Task: 1},
		{Kind: history.Row, Task: 1, Phase: history.Succeeded, Cleanup: true},
		struck(3),
		{Kind: history.Row, Task: 1, Phase: history.Succeeded},
		struck(2),
	}}
	c := NewCoverage()
	c.Add(h, plan)
	c.Merge(nil)
	for name, want := range map[string][]int{
		"node-kill": {1, 0, 0, 0, 0}, "call: lose-reply": {0, 1, 0, 0, 0}, "store-outage": {0, 0, 0, 1, 1}, "clock-skew": nil,
	} {
		if !slices.Equal(c.Strikes[name], want) {
			t.Errorf("%s: %v, want %v", name, c.Strikes[name], want)
		}
	}
	lostBeside, duringWork := c.Pairs[Pair{"call: lose-reply", "node-kill"}], c.Pairs[Pair{"call: lose-reply", "store-outage"}]
	if lostBeside.Runs != 1 || !slices.Equal(lostBeside.Steps, []int{0, 1, 0, 0, 0}) || duringWork.Runs != 1 || !slices.Equal(duringWork.Steps, []int{0, 0, 0, 1, 1}) ||
		len(c.Pairs) != 2 {
		t.Errorf("pairs %v", c.Pairs)
	}
	twice := NewCoverage()
	twice.Merge(c)
	twice.Merge(c)
	if twice.Strikes["store-outage"][3] != 2 || twice.Pairs[Pair{"call: lose-reply", "node-kill"}].Runs != 2 || twice.Pairs[Pair{"call: lose-reply", "node-kill"}].Steps[1] != 2 {
		t.Errorf("twice: %v %v", twice.Strikes, twice.Pairs)
	}
}

// TestSometimesIsSeen has a literal history for assertions that are easily mistaken.
func TestSometimesIsSeen(t *testing.T) {
	op := func(seq history.Seq, v history.Verb, o history.Outcome, detail string) history.Operation {
		return history.Operation{Call: seq, Return: seq + 1, Verb: v, Task: 1, Token: 7, Process: 1, Outcome: o, Applied: history.OK, Detail: detail}
	}
	lost := op(20, history.Requeue, history.OK, "workload lost")
	lost.Effect = 21
	for name, c := range map[string]struct {
		h    history.History
		want bool
	}{
		"adopted":                           {history.History{Operations: []history.Operation{op(1, history.Create, history.Unknown, ""), op(3, history.Launched, history.OK, "uid")}}, true},
		"adopted, no":                       {history.History{Operations: []history.Operation{op(1, history.Create, history.OK, ""), op(3, history.Launched, history.OK, "uid")}}, false},
		"taken over":                        {history.History{Operations: []history.Operation{op(1, history.Claim, history.OK, ""), op(3, history.Claim, history.OK, "")}}, true},
		"taken over, no":                    {history.History{Operations: []history.Operation{op(1, history.Claim, history.OK, "")}}, false},
		"requeued after proof of death":     {history.History{Operations: []history.Operation{lost}, Events: []history.Event{{Seq: 9, Kind: history.ContainerEnded, Token: 7}}}, true},
		"requeued after proof of death, no": {history.History{Operations: []history.Operation{lost}, Events: []history.Event{{Seq: 30, Kind: history.ContainerEnded, Token: 7}}}, false},
	} {
		assertion := name
		if !c.want {
			assertion = name[:len(name)-len(", no")]
		}
		if got := slices.Contains(reached(&c.h), assertion); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
