package scenarios

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
)

const timed = `apiVersion: squall/v1alpha1
kind: Scenario
name: timed
summary: Every field that is a time.
profile: tick-300s
nodes:
  - {name: od, capacity_type: on-demand, count: 3, pods: 5}
  - {name: spot, capacity_type: spot, count: 0, max: 2, pods: 4}
platform: {image_pull: {uniform: [24s, 48s]}, provisioning: 60s, api_latency: 12ms, cache_lag: 20s}
tasks:
  - {name: task, count: 2, arrive: {at: 12s, every: 24s}, run: {lognormal: {median: 60s, p99: 120s}}, start_deadline: 10m, deadline: 230s, work: {crash_at: 36s}}
clients:
  - {at: 60s, every: 12s, times: 2, read: task-1}
faults:
  - {at: 120s, kind: node-kill, target: {node: od-3}, for: 240s}
  - {at: 120s, kind: spot-reclaim, target: {node: spot-1}, notice: 30s}
  - {at: 120s, kind: run-time, target: {task: task-1}, run: 60s, for: 60s}
  - {at: 120s, kind: call, action: slow, delay: {uniform: [12s, 24s]}, target: {port: api}, for: 60s}
horizon: 20m
settle: 12m
expect:
  reference: {tasks: [{task: task-1, started_by: 120s, ended_by: 12m}], calls: [{verb: create, after: 120s, max: 9}]}
`

var tight = Limits{
	World: "rack", Whole: []string{"workflow_deadline", "pod_grace"},
	Least: map[string]time.Duration{"store_timeout": time.Second, "lease_ttl": 4 * time.Second, "renew_deadline": 2500 * time.Millisecond},
	Fixed: map[string]time.Duration{"node_grace": 8 * time.Second}, Notice: 5 * time.Second,
	Platform: clusters.Platform{Startup: clusters.Fixed(700 * time.Millisecond)},
	Machines: map[clusters.CapacityType]int{clusters.OnDemand: 2, clusters.Spot: 1},
	Unset:    []string{"cache_lag"},
}

func TestScaledTimes(t *testing.T) {
	s := parsed(t, timed)
	x, err := s.Scaled(Scale{Factor: 12, Limits: tight})
	if err != nil {
		t.Fatal(err)
	}
	settings, err := x.DispatcherSettings()
	if err != nil {
		t.Fatal(err)
	}
	task, ms := x.Tasks[0], time.Millisecond
	for _, c := range []struct {
		what      string
		got, want time.Duration
	}{
		{"tick", settings.Tick, 25 * time.Second},
		{"workflow_deadline, whole", settings.WorkflowDeadline, 20 * time.Second},
		{"pod_grace, rounded up", settings.PodGrace, 3 * time.Second},
		{"store_timeout, at least", settings.StoreTimeout, time.Second},
		{"lease_ttl, at least", settings.LeaseTTL, 4 * time.Second},
		{"node_grace, fixed", settings.NodeGrace, 8 * time.Second},
		{"heartbeat_interval, none", settings.HeartbeatInterval, 0},
		{"arrive.at", task.Arrive.At.A, time.Second},
		{"arrive.every", task.Arrive.Every.A, 2 * time.Second},
		{"run median", task.Run.A, 5 * time.Second},
		{"run p99", task.Run.B, 10 * time.Second},
		{"start_deadline", task.StartDeadline, 50 * time.Second},
		{"deadline, whole", task.Deadline, 20 * time.Second},
		{"crash_at", task.Work.CrashAt, 3 * time.Second},
		{"client at", x.Clients[0].At.A, 5 * time.Second},
		{"client every", x.Clients[0].Every, time.Second},
		{"reclaim at", x.Faults[0].At.A, 10 * time.Second},
		{"notice, at least", x.Faults[0].Notice.A, 5 * time.Second},
		{"run-time run", x.Faults[1].Run.A, 5 * time.Second},
		{"run-time for", x.Faults[1].For.A, 5 * time.Second},
		{"call delay", x.Faults[2].Delay.B, 2 * time.Second},
		{"image_pull", x.Platform.ImagePull.B, 4 * time.Second},
		{"api_latency is no matter of scale", x.Platform.APILatency.A, 12 * ms},
		{"cache_lag cannot be set", x.Platform.CacheLag.A, 17 * ms},
		{"startup is the world's", x.Platform.Startup.A, 700 * ms},
		{"shutdown is the ordinary one's part", x.Platform.Shutdown.B, 250 * ms},
		{"scheduling waits for the machine", x.Platform.Scheduling.A, 5002 * ms},
		{"horizon", x.Horizon, 100 * time.Second},
		{"settle", x.Settle, time.Minute},
		{"started_by", x.Expect.Reference.Tasks[0].StartedBy, 10 * time.Second},
		{"ended_by", x.Expect.Reference.Tasks[0].EndedBy, time.Minute},
		{"calls after", x.Expect.Reference.Calls[0].After, 10 * time.Second},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, expected %s", c.what, c.got, c.want)
		}
	}
	if s.Faults[0].At.A != 120*time.Second || s.Expect.Reference.Tasks[0].EndedBy != 12*time.Minute || s.Expect.Reference.Calls[0].After != 2*time.Minute {
		t.Error("the scenario itself was changed")
	}
}

func TestScaledMachines(t *testing.T) {
	x, err := parsed(t, timed).Scaled(Scale{Factor: 12, Limits: tight})
	if err != nil {
		t.Fatal(err)
	}
	want := []NodeGroup{{Name: "od", CapacityType: clusters.OnDemand, Count: 2, Pods: 8}, {Name: "spot", CapacityType: clusters.Spot, Count: 1, Pods: 8}}
	if !reflect.DeepEqual(x.Nodes, want) {
		t.Errorf("nodes %+v", x.Nodes)
	}
	if got := strings.Join(x.Fitted(), "; "); !strings.Contains(got, "the node-kill of od-3 is left out") || !strings.Contains(got, "cache_lag is what it is in rack") || !strings.Contains(got, "group od has 2 nodes of 8 pods") {
		t.Errorf("it is said to be fitted so: %s", got)
	}
	if why := x.Misfits(Ability{World: "rack", Faults: faults.Capabilities{faults.Nodes, faults.Calls, faults.Platform}, Machines: tight.Machines}, 1); why != nil {
		t.Errorf("it does not fit: %v", why)
	}
}

// TestFewerTasks come over the same time, and all that the scenario speaks of are there.
func TestFewerTasks(t *testing.T) {
	crowd := strings.Replace(timed, "count: 2, arrive: {at: 12s, every: 24s}", "count: 41, arrive: {at: 12s, every: 12s}", 1)
	x, err := parsed(t, crowd).Scaled(Scale{Factor: 12, Limits: Limits{Tasks: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if g := x.Tasks[0]; g.Count != 5 || g.Arrive.Every.A != 10*time.Second {
		t.Errorf("%d tasks, one every %s; expected 5, one every 10s", g.Count, g.Arrive.Every.A)
	}
	x, err = parsed(t, strings.Replace(crowd, "every: 12s}", "every: 12s, batch: 10}", 1)).Scaled(Scale{Factor: 12, Limits: Limits{Tasks: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if g := x.Tasks[0]; g.Count != 5 || g.Arrive.Batch != 2 || g.Arrive.Every.A != 2*time.Second {
		t.Errorf("%d tasks, %d every %s; expected 5, 2 every 2s", g.Count, g.Arrive.Batch, g.Arrive.Every.A)
	}
	for _, c := range []struct{ named, by string }{
		{"nth call", strings.Replace(crowd, "target: {port: api}", "target: {port: api, nth: 7}", 1)},
		{"target of a fault", strings.Replace(crowd, "run-time, target: {task: task-1}", "run-time, target: {task: task-7}", 1)},
		{"node of a task", strings.Replace(crowd, "node-kill, target: {node: od-3}", "node-kill, target: {node: \"task:task-7\"}", 1)},
		{"client", strings.Replace(crowd, "read: task-1", "read: task-7", 1)},
		{"expectation", strings.Replace(crowd, "{task: task-1, started_by", "{task: task-7, started_by", 1)},
	} {
		x, err := parsed(t, c.by).Scaled(Scale{Factor: 12, Limits: Limits{Tasks: 5}})
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Tasks[0].Count; got != 7 {
			t.Errorf("named as a %s: %d tasks are left, expected 7", c.named, got)
		}
	}
}

// TestScaleByOne is the identity, whatever the scenario.
func TestScaleByOne(t *testing.T) {
	for _, s := range Library() {
		x, err := s.Scaled(Scale{Factor: 1})
		if err != nil || !reflect.DeepEqual(x, s) {
			t.Errorf("%s is not itself (%v)", s.Name, err)
		}
		forced, err := s.scaledBy(Scale{Factor: 1})
		if err != nil {
			t.Fatal(err)
		}
		before, _ := s.Config(dispatcher.System{}, 3)
		after, _ := forced.Config(dispatcher.System{}, 3)
		if !reflect.DeepEqual(before, after) || !reflect.DeepEqual(s.Arrivals(3), forced.Arrivals(3)) || !reflect.DeepEqual(s.Faults, forced.Faults) {
			t.Errorf("%s is changed by 1", s.Name)
		}
	}
}

func TestScaledTooFarIsRefused(t *testing.T) {
	s := parsed(t, timed)
	_, err := s.Scaled(Scale{Factor: 100, Limits: tight})
	var input *InputError
	if !errors.As(err, &input) {
		t.Fatalf("not refused: %v", err)
	}
	text := err.Error()
	for _, want := range []string{"SQ205 scaled by 100, within what rack can keep", "http_timeout", "must be below", "fix: --scale "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from\n%s", want, text)
		}
	}
	factor := s.LargestScale(Scale{Factor: 100, Limits: tight})
	if _, err := s.Scaled(Scale{Factor: factor, Limits: tight}); factor < 1 || err != nil {
		t.Errorf("the factor %g that is suggested does not do: %v", factor, err)
	}
}

func TestWhatAWorldRefuses(t *testing.T) {
	s := parsed(t, strings.Replace(timed, "work: {", "work: {launcher: true, ", 1))
	a := Ability{World: "rack", Start: 15 * time.Minute, Faults: faults.Capabilities{faults.Nodes, faults.Calls}, Machines: map[clusters.CapacityType]int{clusters.OnDemand: 2, clusters.Spot: 1},
		Cannot: faults.Refusals{{Kind: faults.Call, Action: clusters.Slow, Why: "the wire is as fast as it is"}}}
	got := strings.Join(inBrief(s.CheckWorld(a, 1)), "\n")
	for _, want := range []string{
		"SQ305 world rack cannot do call slow of any call: the wire is as fast as it is",
		"SQ305 world rack cannot do run-time: it has no faults of platform",
		"SQ305 world rack has 2 on-demand nodes, and group od wants 1 more than are left",
		"SQ305 world rack provisions no nodes, and group spot may grow to 2",
		"SQ305 world rack cannot do work.launcher: workers there have no right to make pods",
		"SQ305 world rack cannot keep a start_deadline of 10m0s: it takes up to 15m0s to start a task there",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing from\n%s", want, got)
		}
	}
}

// TestAMachineThatOutwaitsStartsIsNotFitted: with the wait before each pod instead, no attempt would ever begin.
func TestAMachineThatOutwaitsStartsIsNotFitted(t *testing.T) {
	text := strings.Replace(timed, "provisioning: 60s", "provisioning: 5m", 1)
	x, err := parsed(t, text).Scaled(Scale{Factor: 1, Limits: Limits{World: "rack", Machines: tight.Machines}})
	if err != nil {
		t.Fatal(err)
	}
	why := x.Misfits(Ability{World: "rack", Faults: faults.Capabilities{faults.Nodes, faults.Calls, faults.Platform}, Machines: tight.Machines}, 1)
	if want := "provisions no nodes, and group spot may grow to 2"; len(why) != 1 || why[0] != want {
		t.Errorf("misfits %q, expected %q", why, want)
	}
}
