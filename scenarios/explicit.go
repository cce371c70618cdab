package scenarios

import (
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
)

// Explicit is the scenario with everything that the seed draws before a run written out: each task with its arrival and its length, each step
// of a client, each fault of the plan, nil for that of the seed. Under that seed the run is the same; and what is written out can be taken
// away piece by piece without shifting any other draw. It expects nothing but what it tolerates, and knows only its own settings.
func (s *Scenario) Explicit(seed uint64, plan faults.Plan) (*Scenario, error) {
	settings, err := s.DispatcherSettings()
	if err != nil {
		return nil, err
	}
	if plan == nil {
		if plan, err = s.Plan(seed); err != nil {
			return nil, err
		}
	}
	c := *s
	c.Expect, c.Control, c.Incidents, c.Swarm, c.Calibration = Expect{Tolerate: s.Expect.Tolerate}, "", nil, "", Calibration{}
	c.Variants = nil
	c.Settings = changedFrom(c.profileName(), settings)
	c.Seeds, c.From, c.Variants = 0, 0, nil
	if seed != 1 {
		c.From = int(seed)
	}
	c.Tasks, c.Clients, c.Faults = nil, nil, nil
	groups := map[string]TaskGroup{}
	for _, g := range s.Tasks {
		for _, name := range g.names() {
			groups[name] = g
		}
	}
	for _, a := range s.Arrivals(seed) {
		g := groups[string(a.Spec.ID)]
		g.Name, g.Count, g.Arrive, g.Run = string(a.Spec.ID), 0, Arrive{}, clusters.Fixed(a.Spec.Work.Run)
		if a.At > 0 {
			g.Arrive.At = clusters.Fixed(a.At)
		}
		c.Tasks = append(c.Tasks, g)
	}
	for _, step := range s.ClientSteps(seed) {
		c.Clients = append(c.Clients, step.asStep())
	}
	for _, f := range plan {
		c.Faults = append(c.Faults, faultOf(f))
	}
	return &c, nil
}

func (s *Scenario) profileName() string {
	if s.Profile == "" {
		return DefaultProfile
	}
	return s.Profile
}

// changedFrom are the settings that differ from the profile's.
func changedFrom(profile string, s dispatcher.Settings) Overrides {
	usual, _ := dispatcher.Profile(profile)
	before := OverridesTo(usual)
	var changed Overrides
	for i, o := range OverridesTo(s) {
		if o != before[i] {
			changed = append(changed, o)
		}
	}
	return changed
}

func (c ClientStep) asStep() Step {
	step, task := Step{At: clusters.Fixed(c.At)}, string(c.Task)
	for _, field := range []*string{&step.Cancel, &step.Read, &step.Resume, &step.Submit} {
		*field = task
		if verb, _ := step.call(); verb == c.Verb {
			break
		}
		*field = ""
	}
	return step
}

// faultOf is the fault of a plan as a file has it.
func faultOf(f faults.Fault) Fault {
	t := f.Target
	one := Fault{Kind: f.Kind, At: clusters.Fixed(f.At), Action: f.Action, Code: f.Code, Applied: f.Applied, RetryAfter: f.RetryAfter,
		Delay: f.Delay, By: f.By, Ports: slices.Clone(f.Ports),
		Target: Target{Process: t.Process, Node: t.Node, Task: t.Task, Port: t.Port, Verb: t.Verb, Nth: t.Nth, Share: t.Share}}
	for _, x := range []struct {
		to   *clusters.Dist
		from time.Duration
	}{{&one.For, f.For}, {&one.Notice, f.Notice}, {&one.Run, f.Run}, {&one.Lag, f.Lag}, {&one.Lost, f.Lost}} {
		if x.from != 0 {
			*x.to = clusters.Fixed(x.from)
		}
	}
	return one
}

// Nests tells whether the settings of the scenario keep the rules; where not, a file must say why.
func (s *Scenario) Nests() error {
	own := *s
	own.UnsafeSettings = ""
	if found := own.unnested(); len(found) > 0 {
		return fmt.Errorf("%s", found[0])
	}
	return nil
}
