package chaosmesh

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh/coverage"
)

// everything is a site where all that can be known is known.
func everything() Site {
	return Site{
		Namespace: "batch", Name: "sample", Horizon: 10 * time.Minute, PodGrace: 30 * time.Second, Dispatchers: 2, Reconcilers: 1,
		Nodes:     []clusters.NodeGroup{{Name: "od", CapacityType: clusters.OnDemand, Count: 2}, {Name: "spot", CapacityType: clusters.Spot, Count: 2}},
		APIServer: []string{"10.96.0.1"},
		Database:  Database{Pods: map[string]string{"app": "postgres"}},
		HTTP:      map[clusters.Port]HTTPServer{clusters.API: {Pods: map[string]string{"app": "gateway"}, Port: 8080, Path: "/jobs*"}},
	}
}

// sample is a fault of the kind that Chaos Mesh can express, if it can express any.
func sample(k faults.Kind, a clusters.Action) faults.Fault {
	f := faults.Fault{Kind: k, Action: a, At: 90 * time.Second, For: 45 * time.Second}
	switch k {
	case faults.NodeKill, faults.NodeRemove, faults.NodePartition, faults.SpotReclaim:
		f.Target.Node, f.Notice = "any:spot", 20*time.Second
	case faults.PodEvict, faults.PodRemove, faults.PodRelabel, faults.ContainerKill, faults.RunTime:
		f.Target.Task = "task-1"
	case faults.ProcessCrash, faults.ProcessPause, faults.LeaseHang, faults.LeaseUnreachable:
		f.Target.Process = "dispatcher-1"
	case faults.ClockSkew:
		f.Target.Process, f.By = "leader:reconciler", -10*time.Minute
	case faults.APISlow, faults.StoreSlow:
		f.Delay = clusters.Uniform(100*time.Millisecond, 300*time.Millisecond)
	case faults.Call:
		f.Target.Port, f.Target.Process, f.Delay = clusters.API, "dispatcher*", clusters.Fixed(2*time.Second)
	}
	return f
}

// TestTheTableTellsTheTruth: what a row calls covered is rendered and valid, and what it calls not covered is not, for its reason.
func TestTheTableTellsTheTruth(t *testing.T) {
	s := everything()
	for _, row := range coverage.Rows() {
		r, err := s.Render(faults.Plan{sample(row.Kind, row.Action)}, ObjectsForm)
		if err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		m := r.Faults[0]
		switch {
		case row.Extent == coverage.None && (m.Maps() || m.Why != row.Why || len(r.Left()) != 1):
			t.Errorf("%s is not covered, but %d objects came out; left: %q", row, len(r.Objects), m.Why)
		case row.Extent != coverage.None && len(r.Objects) == 0:
			t.Errorf("%s is covered, but: %s", row, m.Why)
		case row.Extent == coverage.Part && (len(m.Differs) == 0 || m.Differs[0] != row.Why):
			t.Errorf("%s is covered in part, but what differs is %q", row, m.Differs)
		case row.Extent == coverage.Whole && row.Kind != faults.ClockSkew && len(m.Differs) > 0:
			t.Errorf("%s is covered as a whole, but differs: %q", row, m.Differs)
		}
		for _, o := range r.Objects {
			if kind := o.Sent.GetKind(); !strings.HasPrefix(row.Object, kind+" ") && row.Object != kind {
				t.Errorf("%s: the table says %s, and a %s came out", row, row.Object, kind)
			}
		}
	}
}

// TestWhatOneFaultLacks: faults of covered kinds that Chaos Mesh cannot express as they are.
func TestWhatOneFaultLacks(t *testing.T) {
	bare := Site{Namespace: "batch", Name: "sample", Horizon: time.Minute}
	for _, c := range []struct {
		name  string
		site  Site
		fault faults.Fault
		why   string
	}{
		{"a verb", everything(), faults.Fault{Kind: faults.Call, Action: clusters.Drop, Target: faults.Target{Verb: "create"}}, "packets do not tell a create"},
		{"the second call", everything(), faults.Fault{Kind: faults.Call, Action: clusters.Drop, Target: faults.Target{Port: clusters.Store, Nth: 2}}, "one call from another"},
		{"a share that is slow", everything(), faults.Fault{Kind: faults.Call, Action: clusters.Slow, Delay: clusters.Fixed(time.Second), Target: faults.Target{Port: clusters.Store, Share: 0.5}}, "share"},
		{"calls about a task", everything(), faults.Fault{Kind: faults.Call, Action: clusters.Refuse, Target: faults.Target{Port: clusters.API, Task: "task-1"}}, "which task"},
		{"a client", everything(), faults.Fault{Kind: faults.Call, Action: clusters.Drop, Target: faults.Target{Port: clusters.Store, Process: "client"}}, "outside the cluster"},
		{"workers and the API server", everything(), faults.Fault{Kind: faults.Call, Action: clusters.Drop, Target: faults.Target{Port: clusters.API, Process: "worker*"}}, "no calls to the API server"},
		{"a dispatcher by its node", everything(), faults.Fault{Kind: faults.Call, Action: clusters.Drop, Target: faults.Target{Process: "dispatcher*", Node: "od-1"}}, "without its name"},
		{"a kubelet", everything(), faults.Fault{Kind: faults.NodePartition, Ports: []clusters.Port{clusters.API}, Target: faults.Target{Node: "od-1"}}, "kubelet"},
		{"no API server", bare, faults.Fault{Kind: faults.APIOutage}, "--api-server"},
		{"no database", bare, faults.Fault{Kind: faults.StoreOutage}, "--database"},
		{"a database in no Pod", Site{Database: Database{Hosts: []string{"db"}}}, faults.Fault{Kind: faults.StoreCrash}, "--database LABEL=VALUE"},
		{"no HTTP server", bare, faults.Fault{Kind: faults.Call, Action: clusters.LoseReply, Target: faults.Target{Verb: "create", Nth: 1}}, "--http"},
		{"no delay", everything(), faults.Fault{Kind: faults.APISlow, Delay: clusters.Fixed(0)}, "nothing"},
	} {
		m := c.site.Map(0, c.fault)
		if m.Maps() || !strings.Contains(m.Why, c.why) || len(m.Differs) > 0 {
			t.Errorf("%s: %d objects, differs %q, and why: %q; expected none, for %q", c.name, len(m.pieces), m.Differs, m.Why, c.why)
		}
	}
}

// TestAWatchedClusterIsStruckByName: who applies objects to a cluster that it watches knows who leads.
func TestAWatchedClusterIsStruckByName(t *testing.T) {
	s := everything()
	s.Pods = func(process string) (string, bool) { return "squall-dispatcher-abc", process == "leader:dispatcher" }
	m := s.Map(0, faults.Fault{Kind: faults.ProcessCrash, Target: faults.Target{Process: "leader:dispatcher"}})
	got := m.pieces[0].chaos.PodChaos.Selector
	if names := got.Pods["batch"]; len(names) != 1 || names[0] != "squall-dispatcher-abc" || len(m.Differs) != 1 {
		t.Errorf("selector %+v, differs %q", got, m.Differs)
	}
}

// TestAlikeIsNotARow: only what repeats itself at equal distances, one interval after the start at the earliest, is a Schedule.
func TestAlikeIsNotARow(t *testing.T) {
	s := everything()
	for name, c := range map[string]struct {
		at    []int
		kinds string
	}{
		"a row":              {[]int{30, 60, 90}, "Schedule"},
		"two":                {[]int{30, 60}, "PodChaos PodChaos"},
		"at the same time":   {[]int{30, 30, 30}, "PodChaos PodChaos PodChaos"},
		"at uneven times":    {[]int{30, 60, 95}, "PodChaos PodChaos PodChaos"},
		"a row and one":      {[]int{30, 60, 90, 130}, "Schedule PodChaos"},
		"from the start":     {[]int{0, 30, 60, 90}, "PodChaos Schedule"},
		"too soon for a row": {[]int{10, 40, 70}, "PodChaos PodChaos PodChaos"},
	} {
		var plan faults.Plan
		for _, at := range c.at {
			plan = append(plan, faults.Fault{Kind: faults.PodRemove, At: time.Duration(at) * time.Second, Target: faults.Target{Task: "task-1"}})
		}
		r, err := s.Render(plan, ObjectsForm)
		var kinds []string
		covered := 0
		for _, o := range r.Objects {
			kinds = append(kinds, o.Sent.GetKind())
			covered += len(o.Faults)
		}
		if got := strings.Join(kinds, " "); err != nil || got != c.kinds || covered != len(plan) {
			t.Errorf("%s: %q for %d faults, %v; expected %q", name, got, covered, err, c.kinds)
		}
	}
}

// TestWhomItStrikes: the Pods of some targets.
func TestWhomItStrikes(t *testing.T) {
	s := everything()
	s.Nodes = append(s.Nodes, clusters.NodeGroup{Name: "od-big", CapacityType: clusters.Spot})
	for _, c := range []struct {
		target faults.Target
		pods   string
	}{
		{faults.Target{Process: "worker*", Node: "spot-2"}, "one squall.dev/task Exists [] on spot"},
		{faults.Target{Process: "worker*", Node: "od-big-1"}, "one squall.dev/task Exists [] on spot"},
		{faults.Target{Process: "worker*", Task: "task-1"}, "all squall.dev/task=task-1"},
		{faults.Target{Process: "worker*"}, "all squall.dev/task Exists []"},
		{faults.Target{Process: "reconciler-1"}, "all app.kubernetes.io/component=reconciler"},
		{faults.Target{Process: "leader:dispatcher"}, "one app.kubernetes.io/component=dispatcher"},
		{faults.Target{Process: "dispatcher*"}, "all app.kubernetes.io/component=dispatcher"},
	} {
		c.target.Port = clusters.Store
		m := s.Map(0, faults.Fault{Kind: faults.Call, Action: clusters.Drop, Target: c.target})
		if len(m.pieces) != 1 {
			t.Errorf("%+v: %d objects, %s", c.target, len(m.pieces), m.Why)
			continue
		}
		p := m.pieces[0].chaos.NetworkChaos.PodSelector
		got := string(p.Mode) + " " + labelText(p.Selector.LabelSelectors)
		for _, e := range p.Selector.ExpressionSelectors {
			got += fmt.Sprint(e.Key, " ", e.Operator, " ", e.Values)
		}
		if on := p.Selector.NodeSelectors[labelCapacity]; on != "" {
			got += " on " + on
		}
		if got != c.pods {
			t.Errorf("%+v: %q, want %q", c.target, got, c.pods)
		}
	}
}

func TestDurationsHaveOneUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{90 * time.Second: "90s", 1500 * time.Millisecond: "1500ms", 0: "0s", -10 * time.Minute: "-600s",
		time.Hour + time.Nanosecond: "3600000000001ns", 7 * time.Microsecond: "7us"} {
		if got := single(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

func TestFlags(t *testing.T) {
	for _, text := range []string{"app=postgres", "app=db,tier=store", "db.example.com", "10.1.2.3", "10.0.0.0/24", "fd00::1"} {
		if d, err := ParseDatabase(text); err != nil || d.String() != text && d.String() != "Pods "+text {
			t.Errorf("%q: %s, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "a b", "10.0.0.0/x", "app=", "=x", "app=postgres,", "app==x", "app=a b"} {
		if d, err := ParseDatabase(text); err == nil && text != "app=" { // an empty value is one
			t.Errorf("%q: %s", text, d)
		}
	}
	if port, server, err := ParseHTTP("api=app=gateway,tier=x:8080/jobs*"); err != nil || port != clusters.API || server.Port != 8080 ||
		server.Path != "/jobs*" || labelText(server.Pods) != "app=gateway,tier=x" {
		t.Errorf("%s %+v %v", port, server, err)
	}
	for _, text := range []string{"", "api", "lease=app=x:1", "api=app=x", "api=app=x:y", "api=app=x:70000", "api=app:80", "web=app=x:80"} {
		if _, _, err := ParseHTTP(text); err == nil || !strings.Contains(err.Error(), "expected PORT=LABEL=VALUE:NUMBER") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
