package faults

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		refusal Refusal
		fault   Fault
		field   Field // empty: not refused
	}{
		{Refusal{Kind: ClockSkew}, Fault{Kind: ClockSkew}, FieldKind},
		{Refusal{Kind: ClockSkew}, Fault{Kind: NodeKill}, ""},
		{Refusal{Kind: Call, Action: clusters.Late}, Fault{Kind: Call, Action: clusters.Late}, FieldAction},
		{Refusal{Kind: Call, Action: clusters.Late}, Fault{Kind: Call, Action: clusters.Drop}, ""},
		{Refusal{Kind: Call, Verb: "scan"}, Fault{Kind: Call, Target: Target{Verb: "scan"}}, FieldVerb},
		{Refusal{Kind: Call, Verb: "scan"}, Fault{Kind: Call, Target: Target{Port: clusters.Store}}, ""},
		{Refusal{Kind: Call, Port: clusters.Store}, Fault{Kind: Call, Target: Target{Verb: "scan"}}, FieldPort},
		{Refusal{Kind: Call, Process: "worker*"}, Fault{Kind: Call, Target: Target{Process: "worker-1"}}, FieldProcess},
		{Refusal{Kind: Call, Process: "worker*"}, Fault{Kind: Call, Target: Target{Process: "dispatcher*"}}, ""},
		{Refusal{Kind: NodePartition, CutFrom: clusters.Store}, Fault{Kind: NodePartition}, FieldPorts},
		{Refusal{Kind: NodePartition, CutFrom: clusters.Store}, Fault{Kind: NodePartition, Ports: []clusters.Port{clusters.API}}, ""},
	} {
		c.refusal.Why = "because"
		why, field, refused := Refusals{c.refusal}.Of(c.fault)
		if refused != (c.field != "") || field != c.field || refused && why != "because" {
			t.Errorf("%s of %+v: %v by %q", c.refusal, c.fault, refused, field)
		}
	}
}

// TestAsRecorded: what did not strike is left out, the rest strikes when and what it struck.
func TestAsRecorded(t *testing.T) {
	plan := Plan{
		{Kind: ProcessPause, Target: Target{Process: "leader:dispatcher"}, At: 10 * s, For: 20 * s},
		{Kind: NodeKill, Target: Target{Node: "any:spot", Groups: []string{"spot"}}, At: 30 * s},
		{Kind: APIOutage, At: 60 * s, For: 10 * s},
	}
	h := &history.History{Processes: []string{"dispatcher-1", "dispatcher-2"}, Nodes: []string{"spot-1", "spot-2"}, Events: []history.Event{
		{Kind: history.FaultPlanned, Fault: 1}, {Kind: history.FaultPlanned, Fault: 2}, {Kind: history.FaultPlanned, Fault: 3},
		{Kind: history.FaultStruck, Fault: 1, At: 11 * s, Process: 2},
		{Kind: history.FaultStruck, Fault: 2, At: 33 * s, Node: 2},
		{Kind: history.FaultHealed, Fault: 1, At: 34 * s},
	}}
	got := plan.AsRecorded(h)
	if len(got) != 2 {
		t.Fatalf("%d faults struck, and %d are planned again", 2, len(got))
	}
	if f := got[0]; f.At != 11*time.Second || f.For != 23*time.Second || f.Target.Process != "dispatcher-2" {
		t.Errorf("the pause is %+v", f)
	}
	if f := got[1]; f.At != 33*time.Second || f.For != 0 || f.Target.Node != "spot-2" {
		t.Errorf("the kill is %+v", f)
	}
	if plan[0].At != 10*s {
		t.Error("the plan itself was changed")
	}
}
