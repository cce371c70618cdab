package calibration

import (
	"slices"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// TestARecordTellsOfLivesCallsAndMachines has one of each by hand, and a fault that spoils what falls into it.
func TestARecordTellsOfLivesCallsAndMachines(t *testing.T) {
	s := func(x int) time.Duration { return time.Duration(x) * time.Second }
	h := &history.History{Tasks: []string{"a", "b", "c"}, Nodes: []string{"od-1", "od-2"}, Processes: []string{"dispatcher-1"}}
	add := func(at int, kind history.Kind, object string, node history.ID, detail string) {
		h.Events = append(h.Events, history.Event{Seq: history.Seq(len(h.Events) + 1), At: s(at), Kind: kind, Object: object, Node: node, Task: 1, Detail: detail})
	}
	add(0, history.NodeAdded, "", 1, "")
	add(1, history.ObjectCreated, "one", 0, "")
	add(5, history.ContainerStarted, "one", 1, "") // with the pull: no start
	add(6, history.WorkStarted, "one", 1, "")
	add(36, history.WorkEnded, "one", 1, "exit 0")
	add(36, history.ContainerEnded, "one", 1, "exit 0")
	add(40, history.ObjectCreated, "two", 0, "")
	add(42, history.ContainerStarted, "two", 1, "")
	add(43, history.WorkStarted, "two", 1, "")
	add(60, history.ObjectCreated, "three", 0, "")
	add(63, history.ObjectDeleting, "two", 1, "")
	add(65, history.WorkEnded, "two", 1, "exit 143")
	add(65, history.ContainerEnded, "two", 1, "exit 143")
	add(110, history.NodeAdded, "", 2, "")
	add(115, history.ContainerStarted, "three", 2, "")
	add(116, history.WorkStarted, "three", 2, "")
	add(200, history.FaultStruck, "", 0, "")
	add(210, history.ObjectCreated, "four", 0, "")
	add(220, history.ContainerStarted, "four", 1, "")
	add(300, history.Ended, "", 0, "")
	h.Operations = []history.Operation{
		{Call: 1, CalledAt: s(1), ReturnedAt: s(1) + 20*time.Millisecond, Verb: history.Create, Outcome: history.OK, Process: 1},
		{Call: 2, CalledAt: s(2), ReturnedAt: s(2) + 5*time.Millisecond, Verb: history.Claim, Outcome: history.OK, Process: 1},
		{Call: 2, CalledAt: s(2), ReturnedAt: s(2) + 5*time.Millisecond, Verb: history.Claim, Outcome: history.OK, Process: 1},
		{Call: 3, CalledAt: s(3), ReturnedAt: s(9), Verb: history.Create, Outcome: history.Unknown, Process: 1},
		{Call: 4, CalledAt: s(210), ReturnedAt: s(211), Verb: history.Create, Outcome: history.OK, Process: 1},
	}
	got := NewSamples()
	FromHistory(h, func(string) clusters.CapacityType { return clusters.OnDemand }, got)
	for m, want := range map[Measure][]Sample{
		Startup:      {{Value: s(2)}},
		Run:          {{Value: s(22), AtLeast: true}, {Value: s(30)}, {Value: s(184), AtLeast: true}},
		Shutdown:     {{Value: s(2)}},
		Provisioning: {{Value: s(50)}},
		APILatency:   {{Value: 20 * time.Millisecond}},
		StoreLatency: {{Value: 5 * time.Millisecond}},
	} {
		all := got.All(m)
		if len(all) != len(want) {
			t.Errorf("%s: %+v, want %+v", m, all, want)
			continue
		}
		for i := range all {
			if all[i].Value != want[i].Value || all[i].AtLeast != want[i].AtLeast {
				t.Errorf("%s: %+v, want %+v", m, all[i], want[i])
			}
		}
	}
	if left := got.Left(Startup); len(left) != 1 || left[0].Reason != underFault {
		t.Errorf("left out of the starts: %+v", left)
	}
}

// TestARecordOfRealNodesTellsOfSchedulingAndSilence: the nodes have the image and are all there, so that nothing is made of those.
func TestARecordOfRealNodesTellsOfSchedulingAndSilence(t *testing.T) {
	s := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	h := &history.History{Meta: history.Meta{World: "kind"}, Tasks: []string{"a"}, Nodes: []string{"od-1", "worker3"}}
	add := func(at float64, e history.Event) {
		e.Seq, e.At = history.Seq(len(h.Events)+1), s(at)
		h.Events = append(h.Events, e)
	}
	add(0, history.Event{Kind: history.NodeAdded, Node: 1, Detail: "on-demand"})
	add(0, history.Event{Kind: history.NodeAdded, Node: 2, Detail: "spot"})
	add(1, history.Event{Kind: history.ObjectCreated, Object: "one", Task: 1})
	add(1.25, history.Event{Kind: history.ObjectBound, Object: "one", Task: 1, Node: 2})
	add(3, history.Event{Kind: history.ContainerStarted, Object: "one", Task: 1, Node: 2})
	add(4, history.Event{Kind: history.ObjectCreated, Object: "two", Task: 1})
	add(9, history.Event{Kind: history.ObjectBound, Object: "two", Task: 1, Node: 1, Detail: history.Gated})
	add(10, history.Event{Kind: history.FaultStruck, Fault: 1, Node: 1, Due: s(5)})
	add(18.5, history.Event{Kind: history.NodeNotReady, Node: 1, Due: s(9.5)})
	add(19, history.Event{Kind: history.NodeNotReady, Node: 2, Due: s(10)}) // while another node's fault is active
	add(20, history.Event{Kind: history.NodeNotReady, Node: 2})             // an older record
	add(30, history.Event{Kind: history.FaultHealed, Fault: 1, Node: 1})
	add(40, history.Event{Kind: history.NodeAdded, Node: 1, Detail: "on-demand"})
	add(39, history.Event{Kind: history.ObjectCreated, Object: "three", Task: 1})
	add(41, history.Event{Kind: history.ObjectBound, Object: "three", Task: 1, Node: 1})
	got := NewSamples()
	if FromHistory(h, func(string) clusters.CapacityType { return "" }, got) {
		t.Error("the starts are said to include the scheduling")
	}
	for _, c := range []struct {
		m    Measure
		kind clusters.CapacityType
		want []time.Duration
	}{
		{Scheduling, clusters.Spot, []time.Duration{s(0.25)}},
		{Scheduling, clusters.OnDemand, []time.Duration{s(2)}},
		{Startup, clusters.Spot, []time.Duration{s(1.75)}},
		{NotReady, clusters.OnDemand, []time.Duration{s(9.5)}},
		{NotReady, clusters.Spot, nil},
		{Provisioning, clusters.OnDemand, nil},
	} {
		var all []time.Duration
		for _, sample := range got.Of(c.m, c.kind) {
			all = append(all, sample.Value)
		}
		if !slices.Equal(all, c.want) {
			t.Errorf("%s on %s: %v, want %v", c.m, c.kind, all, c.want)
		}
	}
	if left := got.Left(NotReady); len(left) != 2 {
		t.Errorf("left out of the silences: %+v", left)
	}
	if left := got.Left(Scheduling); len(left) != 1 {
		t.Errorf("left out of the scheduling: %+v", left)
	}
}
