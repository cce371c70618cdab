package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

func setting() Setting {
	return Setting{
		Nodes: []clusters.NodeGroup{{Name: "od", CapacityType: clusters.OnDemand, Count: 2, Pods: 5}, {Name: "spot", CapacityType: clusters.Spot, Count: 1, Max: 3, Pods: 5}},
		Tasks: []string{"task-1"}, Dispatchers: 2, Reconcilers: 1, Horizon: 10 * time.Minute,
	}
}

func TestValidateAcceptsWhatMakesSense(t *testing.T) {
	for _, f := range []Fault{
		{Kind: NodeKill, Target: Target{Node: "spot-3"}, For: time.Minute},
		{Kind: NodeKill, Target: Target{Node: "any:spot"}},
		{Kind: NodePartition, Target: Target{Node: "task:task-1"}, Ports: []clusters.Port{clusters.Store}},
		{Kind: ProcessPause, Target: Target{Process: "leader:reconciler"}, For: time.Minute},
		{Kind: ClockSkew, Target: Target{Process: "dispatcher*"}, By: -time.Second},
		{Kind: Call, Action: clusters.LoseReply, Target: Target{Process: "worker*", Port: clusters.Store, Verb: "finish", Nth: 1}},
		{Kind: Call, Action: clusters.Answer, Code: "throttled", Target: Target{Verb: "create", Share: 0.5}},
		{Kind: Call, Action: clusters.Answer, Code: "throttled", Applied: true, RetryAfter: time.Second, Target: Target{Verb: "create"}},
		{Kind: Call, Action: clusters.Answer, Code: "internal", Applied: true, Target: Target{Port: clusters.Lease}},
		{Kind: StoreCrash, For: time.Minute},
		{Kind: ContainerKill, Target: Target{Task: "any:running"}},
	} {
		if found := (Plan{f}).Validate(setting()); found != nil {
			t.Errorf("%s: %v", f, found)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	minute := time.Minute
	for _, c := range []struct {
		fault Fault
		code  string
		field Field
		says  string
	}{
		{Fault{Kind: "node-kil"}, CodeUnknownKind, FieldKind, `unknown kind of fault "node-kil"`},
		{Fault{Kind: NodeKill}, CodeNeedsField, FieldNode, "needs target.node"},
		{Fault{Kind: NodeRemove, Target: Target{Node: "od-1"}, For: minute}, CodeUnusedField, FieldFor, "does not use for"},
		{Fault{Kind: NodeKill, Target: Target{Node: "od-3"}}, CodeNoSuchTarget, FieldNode, `unknown node "od-3"`},
		{Fault{Kind: NodeKill, Target: Target{Node: "task:nix"}}, CodeNoSuchTarget, FieldNode, `unknown task "nix"`},
		{Fault{Kind: PodEvict, Target: Target{Task: "task-2"}}, CodeNoSuchTarget, FieldTask, `unknown task "task-2"`},
		{Fault{Kind: ProcessCrash, Target: Target{Process: "dispatcher-3"}}, CodeNoSuchTarget, FieldProcess, `unknown process "dispatcher-3"`},
		{Fault{Kind: ProcessCrash, Target: Target{Process: "worker-1"}}, CodeNoSuchTarget, FieldProcess, `unknown process "worker-1"`},
		{Fault{Kind: SpotReclaim, Target: Target{Node: "od-1"}}, CodeNoSuchTarget, FieldNode, "node od-1 is on-demand"},
		{Fault{Kind: Call}, CodeNeedsField, FieldAction, "needs action"},
		{Fault{Kind: Call, Action: "lose"}, CodeUnknownName, FieldAction, `unknown action "lose"`},
		{Fault{Kind: Call, Action: clusters.Slow}, CodeNeedsField, FieldDelay, "needs delay"},
		{Fault{Kind: Call, Action: clusters.Answer}, CodeNeedsField, FieldCode, "needs code"},
		{Fault{Kind: Call, Action: clusters.CrashCaller}, CodeNeedsField, FieldProcess, "needs target.process"},
		{Fault{Kind: Call, Action: clusters.Drop, Delay: clusters.Fixed(minute)}, CodeUnusedField, FieldDelay, "does not use delay"},
		{Fault{Kind: Call, Action: clusters.Answer, Code: "418"}, CodeUnknownName, FieldCode, `unknown code "418"`},
		{Fault{Kind: Call, Action: clusters.Drop, Applied: true, Target: Target{Verb: "create"}}, CodeUnusedField, FieldApplied, "does not use applied"},
		{Fault{Kind: Call, Action: clusters.Drop, RetryAfter: time.Second}, CodeUnusedField, FieldRetry, "does not use retry_after"},
		{Fault{Kind: Call, Action: clusters.Answer, Code: "exists", Applied: true, Target: Target{Verb: "create"}}, CodeUnusedField, FieldApplied, "throttled or internal, never exists"},
		{Fault{Kind: Call, Action: clusters.Answer, Code: "internal", Applied: true, Target: Target{Verb: "finish"}}, CodeUnusedField, FieldApplied, "only an answer of the API server"},
		{Fault{Kind: Call, Action: clusters.Answer, Code: "internal", Applied: true}, CodeUnusedField, FieldApplied, "set target.port"},
		{Fault{Kind: Call, Action: clusters.Answer, Code: "expired", RetryAfter: time.Second, Target: Target{Verb: "list"}}, CodeUnusedField, FieldRetry, "never expired"},
		{Fault{Kind: Call, Action: clusters.Answer, Code: "internal", RetryAfter: -time.Second, Target: Target{Verb: "list"}}, CodeOutOfRange, FieldRetry, "negative"},
		{Fault{Kind: StoreCrash, Target: Target{Node: "od-1"}}, CodeUnusedField, FieldNode, "does not use target.node"},
		{Fault{Kind: Call, Action: clusters.Drop, Target: Target{Verb: "crate"}}, CodeUnknownName, FieldVerb, `unknown verb "crate"`},
		{Fault{Kind: Call, Action: clusters.Drop, Target: Target{Port: clusters.Store, Verb: "create"}}, CodeMatchesNone, FieldVerb, "never store"},
		{Fault{Kind: Call, Action: clusters.Drop, Target: Target{Share: 1.5}}, CodeOutOfRange, FieldShare, "not between 0 and 1"},
		{Fault{Kind: Call, Action: clusters.Drop, Target: Target{Nth: 1, Share: 0.5}}, CodeUnusedField, FieldShare, "picks one call"},
		{Fault{Kind: APIOutage, At: 10 * minute}, CodePastHorizon, FieldAt, "strikes at 10m"},
		{Fault{Kind: APIOutage, At: 9 * minute, For: 2 * minute}, CodePastHorizon, FieldFor, "heals at 11m"},
		{Fault{Kind: NodePartition, Target: Target{Node: "od-1"}, Ports: []clusters.Port{clusters.Lease}}, CodeUnknownName, FieldPorts, "unknown port of a node"},
	} {
		found := (Plan{c.fault}).Validate(setting())
		if len(found) != 1 || found[0].Code != c.code || found[0].Field != c.field || !strings.Contains(found[0].Message, c.says) {
			t.Errorf("%s %+v:\n got %v\nwant %s %s %q", c.fault.Kind, c.fault, found, c.code, c.field, c.says)
		}
	}
}

func TestValidateKnowsWhatAWorldCannotDo(t *testing.T) {
	in := setting()
	in.World, in.Can = "kind", Capabilities{Nodes}
	p := Plan{{Kind: NodeKill, Target: Target{Node: "od-1"}}, {Kind: StaleCache, Lag: time.Second}}
	found := p.Validate(in)
	if len(found) != 1 || found[0].Code != CodeWorldCannot || found[0].Index != 1 {
		t.Errorf("got %v", found)
	}
}

func TestFaultsReadAsSentences(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{Fault{Kind: NodeKill, Target: Target{Node: "spot-2"}, For: 90 * time.Second}, "node spot-2 is switched off for 1m30s"},
		{Fault{Kind: ProcessPause, Target: Target{Process: "leader:dispatcher"}, For: time.Hour}, "the leading dispatcher is paused for 1h"},
		{Fault{Kind: SpotReclaim, Target: Target{Node: "any:spot"}, Notice: 2 * time.Minute}, "some spot node is reclaimed with 2m notice"},
		{Fault{Kind: Call, Action: clusters.LoseReply, Target: Target{Verb: "create", Task: "task-1", Process: "dispatcher*", Nth: 1}},
			"the 1st create of task-1 by dispatcher* takes effect but the reply is lost"},
		{Fault{Kind: Call, Action: clusters.Slow, Delay: clusters.Uniform(time.Second, time.Minute), Target: Target{Port: clusters.Store, Share: 0.25}, For: time.Minute},
			"25 % of the calls to the database take 1s to 1m longer for 1m"},
		{Fault{Kind: Call, Action: clusters.Drop, Target: Target{Verb: "launched", Share: 0.55}}, // 100 times which is a little more than 55
			"55 % of the launched calls never arrive until everything heals"},
		{Fault{Kind: StoreCrash, For: 20 * time.Second}, "the database is killed and stays down for 20s"},
		{Fault{Kind: StorePause, For: 20 * time.Second}, "the database is frozen for 20s"},
		{Fault{Kind: APIPause}, "the API server is frozen until everything heals"},
		{Fault{Kind: Call, Action: clusters.Answer, Code: "internal", Applied: true, RetryAfter: time.Second, Target: Target{Verb: "create", Nth: 2}},
			"the 2nd create takes effect but is answered \"internal\", try again after 1s"},
		{Fault{Kind: ClockSkew, Target: Target{Process: "reconciler-1"}, By: -3 * time.Second}, "the clock of reconciler-1 is 3s slow until everything heals"},
	} {
		if got := c.fault.String(); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestEveryKindIsDescribed(t *testing.T) {
	for _, k := range Kinds() {
		f := Fault{Kind: k, Target: Target{Process: "dispatcher-1", Node: "od-1", Task: "task-1"}, Action: clusters.Drop}
		if k.Does() == "" || k.Family() == "" || k.Need() == "" || Why(k) == "" || strings.Contains(f.String(), "unknown") {
			t.Errorf("%s is not described: %q, %q, %q, %q, %q", k, k.Does(), k.Family(), k.Need(), Why(k), f)
		}
	}
}

func TestUntil(t *testing.T) {
	c := settings(t)
	for _, x := range []struct {
		fault Fault
		want  time.Duration
	}{
		{Fault{Kind: PodRemove}, 0},
		{Fault{Kind: NodeKill}, c.NodeGrace + c.UnreachableToleration + c.PodGrace + c.TerminationTimeout},
		{Fault{Kind: ProcessPause}, c.LeaseTTL + 2*c.RetryPeriod + c.CreateTimeout},
		{Fault{Kind: Call, Action: clusters.Late, Delay: clusters.Fixed(time.Minute)}, time.Minute + c.LeaseTTL + 2*c.RetryPeriod + c.CreateTimeout},
		{Fault{Kind: StaleCache, Lag: 7 * time.Second}, 7 * time.Second},
	} {
		if got := Until(x.fault, c); got != x.want {
			t.Errorf("%s: got %s, want %s", x.fault.Kind, got, x.want)
		}
	}
}
