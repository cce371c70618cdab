package scenarios

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// Scale makes a scenario fit a world that runs in real time: every time of it is divided by Factor, within Limits.
type Scale struct {
	Factor float64 `json:"factor"`
	Limits Limits  `json:"limits"`
}

// Limits are what a world with real clocks, kubelets and machines can keep. The zero Limits ask for nothing.
type Limits struct {
	World string `json:"world,omitempty"`
	// Whole are the settings that Kubernetes keeps in whole seconds; they are rounded up. A task's own deadline is one too.
	Whole []string `json:"whole,omitempty"`
	// Least are the smallest values of settings that such a world can keep; a setting that is 0, which means none, stays so.
	Least map[string]time.Duration `json:"least,omitempty"`
	// Fixed are the settings that are the world's own, whatever a scenario says.
	Fixed map[string]time.Duration `json:"fixed,omitempty"`
	// Platform is how fast the world is where a scenario does not say; what is not set here either is the ordinary value, scaled.
	Platform clusters.Platform `json:"platform"`
	// Unset are the fields of a scenario's platform that nobody can set there: the world is as it is.
	Unset []string `json:"unset,omitempty"`
	// Notice is the shortest notice of a spot reclaim.
	Notice time.Duration `json:"notice,omitempty"`
	// Late is what things may take longer than a scenario expects tasks to start and end by: real machines have moods. Then it need not
	// put to the test what it expects to, either.
	Late time.Duration `json:"late,omitempty"`
	// Horizon is the shortest horizon: before it nothing has had the time to happen there.
	Horizon time.Duration `json:"horizon,omitempty"`
	// Tasks is how many tasks a group has at most, since every one is a container to start; 0: as many as a scenario wants.
	Tasks int `json:"tasks,omitempty"`
	// Machines is how many nodes of each type there are, none of them provisioned; nil: as many as a scenario wants.
	Machines map[clusters.CapacityType]int `json:"machines,omitempty"`
}

// none tells whether the limits ask for nothing.
func (l Limits) none() bool {
	return len(l.Whole)+len(l.Least)+len(l.Fixed)+len(l.Machines)+len(l.Unset)+l.Tasks == 0 && l.Horizon == 0 && l.Platform == (clusters.Platform{}) && l.Notice == 0 && l.Late == 0
}

// Changes tells whether the scale changes anything.
func (sc Scale) Changes() bool { return sc.Factor != 1 && sc.Factor != 0 || !sc.Limits.none() }

// Scaled returns a copy of the scenario that fits. One whose settings do not nest any more is an *InputError, which names the
// settings and a factor with which they do.
func (s *Scenario) Scaled(sc Scale) (*Scenario, error) {
	if !sc.Changes() {
		return s, nil
	}
	scaled, err := s.scaledBy(sc)
	if err != nil {
		return nil, err
	}
	if found := scaled.unnested(); len(found) > 0 {
		return nil, s.refuseScale(sc, scaled, found)
	}
	return scaled, nil
}

// Scale is what the scenario was scaled by; the zero Scale for one that was not.
func (s *Scenario) Scale() Scale { return s.scale }

// Fitted lists what else was changed so that the scenario fits the world: its machines, and what was aimed at them.
func (s *Scenario) Fitted() []string { return s.fitted }

func (s *Scenario) scaledBy(sc Scale) (*Scenario, error) {
	settings, err := s.DispatcherSettings()
	if err != nil {
		return nil, err
	}
	c := *s
	c.scale = sc
	c.Settings = OverridesTo(sc.settings(settings))
	c.Platform, c.fitted = sc.settable(s.Platform)
	c.Platform = sc.platform(c.Platform)
	c.Tasks, c.Clients, c.Faults = slices.Clone(s.Tasks), slices.Clone(s.Clients), slices.Clone(s.Faults)
	c.trim(sc.Limits.Tasks)
	for i := range c.Tasks {
		sc.task(&c.Tasks[i])
	}
	for i := range c.Clients {
		c.Clients[i].At, c.Clients[i].Every = sc.dist(c.Clients[i].At), sc.time(c.Clients[i].Every)
	}
	for i := range c.Faults {
		sc.fault(&c.Faults[i])
	}
	c.Horizon, c.Settle = max(sc.time(s.Horizon), sc.Limits.Horizon), sc.time(s.Settle)
	c.Expect = sc.expect(s.Expect)
	c.fit(sc.Limits.Machines)
	return &c, nil
}

// time is a duration, scaled; one that was above nothing stays so.
func (sc Scale) time(d time.Duration) time.Duration {
	if d == 0 || sc.Factor == 1 || sc.Factor == 0 {
		return d
	}
	part := time.Duration(math.Round(float64(d)/sc.Factor/float64(time.Millisecond))) * time.Millisecond
	switch {
	case part == 0 && d > 0:
		return time.Millisecond
	case part == 0:
		return -time.Millisecond
	}
	return part
}

func (sc Scale) dist(d clusters.Dist) clusters.Dist {
	return d.Each(sc.time)
}

func (sc Scale) whole(name string, d time.Duration) time.Duration {
	if d <= 0 || !slices.Contains(sc.Limits.Whole, name) {
		return d
	}
	return (d + time.Second - 1).Truncate(time.Second)
}

func (sc Scale) settings(s dispatcher.Settings) dispatcher.Settings {
	all := OverridesTo(s)
	for i := range all {
		o := &all[i]
		if !isDuration(o.Name) {
			continue
		}
		if o.Duration > 0 {
			o.Duration = sc.whole(o.Name, max(sc.time(o.Duration), sc.Limits.Least[o.Name]))
		}
		if fixed, ok := sc.Limits.Fixed[o.Name]; ok {
			o.Duration = fixed
		}
	}
	return all.Apply(s)
}

func (sc Scale) task(g *TaskGroup) {
	g.Arrive.At, g.Arrive.Every = sc.dist(g.Arrive.At), sc.dist(g.Arrive.Every)
	g.Run, g.StartDeadline = sc.dist(g.Run), sc.time(g.StartDeadline)
	if g.Deadline > 0 {
		g.Deadline = sc.whole(deadlineName, max(sc.time(g.Deadline), sc.Limits.Least[deadlineName]))
	}
	g.Work.CrashAt = sc.time(g.Work.CrashAt)
}

// deadlineName is the setting that a task's own deadline replaces.
const deadlineName = "workflow_deadline"

func (sc Scale) fault(f *Fault) {
	for _, d := range []*clusters.Dist{&f.At, &f.For, &f.Delay, &f.Notice, &f.Run, &f.Lag, &f.Lost} {
		*d = sc.dist(*d)
	}
	f.By, f.Every, f.RetryAfter = sc.time(f.By), sc.time(f.Every), sc.time(f.RetryAfter)
	if f.Notice.Shape != clusters.NotSet && f.Notice.A < sc.Limits.Notice {
		f.Notice = clusters.Fixed(max(sc.Limits.Notice, f.Notice.Max()))
	}
}

func (sc Scale) expect(e Expect) Expect {
	e.Reference, e.Naive = sc.expectation(e.Reference), sc.expectation(e.Naive)
	e.Planted = slices.Clone(e.Planted)
	for i := range e.Planted {
		e.Planted[i].Expectation = *sc.expectation(&e.Planted[i].Expectation)
	}
	return e
}

func (sc Scale) expectation(e *Expectation) *Expectation {
	if e == nil {
		return nil
	}
	c := *e
	c.Tasks = slices.Clone(e.Tasks)
	if sc.Limits.Late > 0 {
		c.Exercised = nil // whether a race comes about is up to the machine; the report says what was never put to the test
	}
	for i := range c.Tasks {
		for _, by := range []*time.Duration{&c.Tasks[i].StartedBy, &c.Tasks[i].EndedBy} {
			if *by > 0 {
				*by = sc.time(*by) + sc.Limits.Late
			}
		}
	}
	c.Calls = slices.Clone(e.Calls)
	for i := range c.Calls {
		if after := &c.Calls[i].After; *after > 0 {
			*after = sc.time(*after) + sc.Limits.Late
		}
	}
	return &c
}

// platform scales what the scenario says; the rest is the world's own, else the ordinary value, scaled. How long a call takes
// is no matter of scale.
func (sc Scale) platform(p Platform) Platform {
	own, usual := sc.Limits.Platform, ordinary
	return Platform{
		APILatency:   p.APILatency.Or(own.APILatency),
		StoreLatency: p.StoreLatency.Or(own.StoreLatency),
		Scheduling:   sc.dist(p.Scheduling).Or(own.Scheduling).Or(sc.dist(usual.Scheduling)),
		ImagePull:    sc.dist(p.ImagePull).Or(own.ImagePull).Or(sc.dist(usual.ImagePull)),
		Startup:      sc.dist(p.Startup).Or(own.Startup).Or(sc.dist(usual.Startup)),
		Shutdown:     sc.dist(p.Shutdown).Or(own.Shutdown).Or(sc.dist(usual.Shutdown)),
		Provisioning: sc.dist(p.Provisioning).Or(own.Provisioning).Or(sc.dist(usual.Provisioning)),
		CacheLag:     sc.dist(p.CacheLag).Or(own.CacheLag).Or(sc.dist(usual.CacheLag)),
		ReplicaLag:   sc.dist(p.ReplicaLag).Or(own.ReplicaLag).Or(sc.dist(usual.ReplicaLag)),
		OnDemand:     sc.machine(p.OnDemand), Spot: sc.machine(p.Spot),
	}
}

func (sc Scale) machine(m Machine) Machine {
	return Machine{ImagePull: sc.dist(m.ImagePull), Startup: sc.dist(m.Startup), Shutdown: sc.dist(m.Shutdown), Provisioning: sc.dist(m.Provisioning)}
}

// settable leaves out what nobody can set in the world, and says so.
func (sc Scale) settable(p Platform) (Platform, []string) {
	var told []string
	v := reflect.ValueOf(&p).Elem()
	for _, f := range fieldsOf(v.Type()) {
		field := v.FieldByIndex(f.Index)
		if slices.Contains(sc.Limits.Unset, f.Name) && !field.IsZero() {
			field.SetZero()
			told = append(told, fmt.Sprintf("%s is what it is in %s", f.Name, sc.Limits.World))
		}
	}
	return p, told
}

// unnested lists the findings about settings that do not fit together any more, unless the scenario is about just that.
func (s *Scenario) unnested() []dispatcher.Finding {
	settings, err := s.DispatcherSettings()
	if err != nil || s.UnsafeSettings != "" {
		return nil
	}
	found := settings.Check()
	for _, g := range s.Tasks {
		if g.Deadline > 0 {
			own := settings
			own.WorkflowDeadline = g.Deadline
			found = append(found, own.Check()...)
		}
	}
	return slices.DeleteFunc(found, func(f dispatcher.Finding) bool { return f.Severity != dispatcher.SeverityError })
}

// refuseScale says which settings are in the way, and what factor to take instead.
func (s *Scenario) refuseScale(sc Scale, scaled *Scenario, found []dispatcher.Finding) error {
	fix := "run it in sim, unscaled"
	if factor := s.LargestScale(sc); factor > 0 {
		fix = fmt.Sprintf("--scale %g", factor)
	}
	src := s.sourceFor()
	seen := map[string]bool{}
	for _, f := range found {
		if text := f.String(); !seen[text] {
			seen[text] = true
			src.add(src.place(s.settingPath(f, "settings")), CodeScale, fix, "%s: %s", sc, text)
		}
	}
	return src.err()
}

// LargestScale is the largest factor, up to that of the scale, with which the scenario still nests; 0: none.
func (s *Scenario) LargestScale(sc Scale) float64 {
	const step = 0.5
	for sc.Factor = math.Floor(sc.Factor/step) * step; sc.Factor >= 1; sc.Factor -= step {
		if scaled, err := s.scaledBy(sc); err == nil && len(scaled.unnested()) == 0 {
			return sc.Factor
		}
	}
	return 0
}

// sourceFor is a place to report problems of a scenario at, whether it came from a file or not.
func (s *Scenario) sourceFor() *source {
	if s.source == nil {
		return newSource(s.Name, "")
	}
	src := *s.source
	src.problems, src.more = nil, 0
	return &src
}

func either(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// String is the scale in words: by 12, within what kind can keep.
func (sc Scale) String() string {
	text := fmt.Sprintf("scaled by %g", max(sc.Factor, 1))
	if !sc.Limits.none() {
		text += ", within what " + either(sc.Limits.World, "the world") + " can keep"
	}
	return text
}

// Table lists the limits in words, for people.
func (l Limits) Table() []string {
	var lines []string
	if len(l.Whole) > 0 {
		lines = append(lines, "whole seconds: "+strings.Join(l.Whole, ", "))
	}
	for _, part := range []struct {
		what   string
		values map[string]time.Duration
	}{{"at least", l.Least}, {"always", l.Fixed}} {
		for _, name := range slices.Sorted(maps.Keys(part.values)) {
			lines = append(lines, fmt.Sprintf("%s %s %s", name, part.what, part.values[name]))
		}
	}
	if len(l.Unset) > 0 {
		lines = append(lines, "cannot be set: "+strings.Join(l.Unset, ", "))
	}
	if l.Horizon > 0 {
		lines = append(lines, fmt.Sprintf("horizon at least %s", l.Horizon))
	}
	if l.Late > 0 {
		lines = append(lines, fmt.Sprintf("expected starts and ends may be %s later, and races need not come about", l.Late))
	}
	if l.Tasks > 0 {
		lines = append(lines, fmt.Sprintf("at most %d tasks of a group, those that a scenario speaks of by number besides", l.Tasks))
	}
	for _, kind := range slices.Sorted(maps.Keys(l.Machines)) {
		lines = append(lines, fmt.Sprintf("%d %s nodes, none provisioned", l.Machines[kind], kind))
	}
	return lines
}
