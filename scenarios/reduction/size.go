package reduction

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/scenarios"
)

// Size is how large a scenario is, the weightiest part first.
type Size struct {
	Faults, Tasks, Steps, Replicas, Nodes int
	Details                               int // settings, figures of the platform and properties of tasks and faults that differ from the ordinary
	Digits                                int // of all times, trailing zeros aside
	Time                                  time.Duration
	Seed                                  int
}

func (s Size) parts() [9]int64 {
	return [9]int64{int64(s.Faults), int64(s.Tasks), int64(s.Steps), int64(s.Replicas), int64(s.Nodes), int64(s.Details), int64(s.Digits),
		int64(s.Time), int64(s.Seed)}
}

func (s Size) less(other Size) bool {
	a, b := s.parts(), other.parts()
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// String says it in words.
func (s Size) String() string {
	return fmt.Sprintf("faults %d, tasks %d, client steps %d, replicas %d, nodes %d", s.Faults, s.Tasks, s.Steps, s.Replicas, s.Nodes)
}

func sizeOf(s *scenarios.Scenario) Size {
	size := Size{Faults: len(s.Faults), Tasks: len(s.Tasks), Steps: len(s.Clients), Details: len(s.Settings), Seed: max(s.From, 1)}
	for _, n := range []int{s.Replicas.Dispatchers, s.Replicas.Reconcilers} {
		if n == 0 {
			n = 2 // as the language has it
		}
		size.Replicas += n
	}
	for _, n := range s.Nodes {
		size.Nodes += max(n.Count, n.Max)
		size.Details += bits.Len(uint(n.Max)) + n.Pods
	}
	for _, f := range s.Faults {
		if f.Delay.Shape > clusters.FixedShape {
			size.Details++
		}
	}
	for _, d := range details(s) {
		if d.set() {
			size.Details++
		}
	}
	for _, t := range times(s) {
		d := t.get()
		size.Digits += digits(d)
		size.Time += max(d, -d)
	}
	return size
}

// digits counts the figures of a time as it is written, trailing zeros aside: 1 for 20m, 2 for 90s.
func digits(d time.Duration) int {
	n, zeros, number := 0, 0, false
	for _, c := range d.String() {
		switch {
		case c == '0' && number:
			zeros++
		case c >= '1' && c <= '9':
			n += 1 + zeros
			zeros, number = 0, true
		case c != '.':
			zeros, number = 0, false
		}
	}
	return n
}

// moment is one time of a scenario that can be changed.
type moment struct {
	get func() time.Duration
	set func(time.Duration)
}

// times are all times of a scenario, in order. Distributions are not among them.
func times(s *scenarios.Scenario) []moment {
	var all []moment
	plain := func(d *time.Duration) {
		if *d != 0 {
			all = append(all, moment{func() time.Duration { return *d }, func(x time.Duration) { *d = x }})
		}
	}
	fixed := func(d *clusters.Dist) {
		if d.Shape == clusters.FixedShape {
			all = append(all, moment{func() time.Duration { return d.A }, func(x time.Duration) { *d = clusters.Fixed(x) }})
		}
	}
	plain(&s.Horizon)
	for i := range s.Faults {
		f := &s.Faults[i]
		fixed(&f.At)
		for _, d := range []*clusters.Dist{&f.For, &f.Delay, &f.Notice, &f.Run, &f.Lag, &f.Lost} {
			fixed(d)
		}
		plain(&f.By)
	}
	for i := range s.Tasks {
		fixed(&s.Tasks[i].Arrive.At)
		fixed(&s.Tasks[i].Run)
		plain(&s.Tasks[i].StartDeadline)
		plain(&s.Tasks[i].Deadline)
		plain(&s.Tasks[i].Work.CrashAt)
	}
	for i := range s.Clients {
		fixed(&s.Clients[i].At)
	}
	return all
}

// detail is something that can be left out.
type detail struct {
	set   func() bool
	leave func()
}

// details are what may differ from the ordinary, in order.
func details(s *scenarios.Scenario) []detail {
	var all []detail
	dist := func(d *clusters.Dist) {
		all = append(all, detail{func() bool { return d.Shape != clusters.NotSet }, func() { *d = clusters.Dist{} }})
	}
	p := &s.Platform
	for _, d := range []*clusters.Dist{&p.APILatency, &p.StoreLatency, &p.Scheduling, &p.ImagePull, &p.Startup, &p.Shutdown, &p.Provisioning,
		&p.CacheLag, &p.ReplicaLag, &p.OnDemand.ImagePull, &p.OnDemand.Startup, &p.OnDemand.Shutdown, &p.OnDemand.Provisioning,
		&p.Spot.ImagePull, &p.Spot.Startup, &p.Spot.Shutdown, &p.Spot.Provisioning} {
		dist(d)
	}
	for i := range s.Tasks {
		g := &s.Tasks[i]
		all = append(all, zeroed(&g.StartDeadline), zeroed(&g.Deadline), zeroed(&g.MaxFailures), zeroed(&g.MaxDisruptions),
			zeroed(&g.Work.IgnoreTerm), zeroed(&g.Work.IgnoreTimeouts), zeroed(&g.Work.IgnoreFence), zeroed(&g.Work.Hang),
			zeroed(&g.Work.FailUntil), zeroed(&g.Work.CrashAt), zeroed(&g.Work.NoResult), zeroed(&g.Work.Launcher),
			zeroed(&g.Work.Stragglers), zeroed(&g.Work.Pods))
		dist(&g.Arrive.At)
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		dist(&f.For)
		all = append(all, zeroed(&f.Target.Share), zeroed(&f.RetryAfter))
	}
	return append(all, zeroed(&s.Settle), zeroed((*string)(&s.Family)))
}

func zeroed[T comparable](field *T) detail {
	var zero T
	return detail{func() bool { return *field != zero }, func() { *field = zero }}
}
