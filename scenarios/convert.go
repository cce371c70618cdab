package scenarios

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
)

// DefaultProfile is the profile of scenarios that name none.
const DefaultProfile = "tick-300s"

// stream is the randomness for one purpose: another draw elsewhere does not shift it.
func stream(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// DispatcherSettings returns the profile with the scenario's overrides.
func (s *Scenario) DispatcherSettings() (dispatcher.Settings, error) {
	name := s.Profile
	if name == "" {
		name = DefaultProfile
	}
	profile, ok := dispatcher.Profile(name)
	if !ok {
		return dispatcher.Settings{}, fmt.Errorf("unknown profile %q", name)
	}
	return s.Settings.Apply(profile), nil
}

// Config returns what a world is made from.
func (s *Scenario) Config(sys dispatcher.System, seed uint64) (clusters.Config, error) {
	settings, err := s.DispatcherSettings()
	if err != nil {
		return clusters.Config{}, err
	}
	return clusters.Config{
		Seed: seed, Settings: settings, System: sys,
		Dispatchers: s.dispatchers(), Reconcilers: s.reconcilers(),
		Nodes: s.groups(), Platform: s.Platform.platform(),
	}, nil
}

const defaultReplicas = 2

func (s *Scenario) dispatchers() int {
	if s.Replicas.Dispatchers == 0 {
		return defaultReplicas
	}
	return s.Replicas.Dispatchers
}

func (s *Scenario) reconcilers() int {
	if s.Replicas.Reconcilers == 0 {
		return defaultReplicas
	}
	return s.Replicas.Reconcilers
}

func (s *Scenario) groups() []clusters.NodeGroup {
	groups := make([]clusters.NodeGroup, len(s.Nodes))
	for i, n := range s.Nodes {
		groups[i] = clusters.NodeGroup(n)
	}
	return groups
}

// ordinary is what a platform is like when a scenario does not say: latencies of a healthy cluster in one region, an
// image of some hundred megabytes, and a cloud that takes a minute or two for a machine. The cache's lag is B0's.
var ordinary = clusters.Platform{
	APILatency:   clusters.Uniform(2*time.Millisecond, 20*time.Millisecond),
	StoreLatency: clusters.Uniform(time.Millisecond, 8*time.Millisecond),
	Scheduling:   clusters.Uniform(20*time.Millisecond, 500*time.Millisecond),
	ImagePull:    clusters.Uniform(2*time.Second, 8*time.Second),
	Startup:      clusters.Uniform(300*time.Millisecond, 2*time.Second),
	Shutdown:     clusters.Uniform(200*time.Millisecond, 3*time.Second),
	Provisioning: clusters.Uniform(60*time.Second, 110*time.Second),
	CacheLag:     clusters.Fixed(200 * time.Millisecond),
	ReplicaLag:   clusters.Fixed(100 * time.Millisecond),
}

// platform fills in what the scenario leaves out.
func (p Platform) platform() clusters.Platform {
	return clusters.Platform{
		APILatency:   p.APILatency.Or(ordinary.APILatency),
		StoreLatency: p.StoreLatency.Or(ordinary.StoreLatency),
		Scheduling:   p.Scheduling.Or(ordinary.Scheduling),
		ImagePull:    p.ImagePull.Or(ordinary.ImagePull),
		Startup:      p.Startup.Or(ordinary.Startup),
		Shutdown:     p.Shutdown.Or(ordinary.Shutdown),
		Provisioning: p.Provisioning.Or(ordinary.Provisioning),
		CacheLag:     p.CacheLag.Or(ordinary.CacheLag),
		ReplicaLag:   p.ReplicaLag.Or(ordinary.ReplicaLag),
		OnDemand:     clusters.Machine(p.OnDemand), Spot: clusters.Machine(p.Spot),
	}
}

// Arrival is a task that a client submits.
type Arrival struct {
	At   time.Duration
	Spec dispatcher.Spec
}

// Arrivals returns the tasks in order of submission.
func (s *Scenario) Arrivals(seed uint64) []Arrival {
	var all []Arrival
	for _, g := range s.Tasks {
		when, run := stream(seed, "arrival of "+g.Name), stream(seed, "run of "+g.Name)
		at := g.Arrive.At.Draw(when)
		for i, name := range g.names() {
			if i > 0 && i%max(g.Arrive.Batch, 1) == 0 {
				at += g.Arrive.Every.Draw(when)
			}
			all = append(all, Arrival{At: at, Spec: g.spec(name, g.Run.Draw(run))})
		}
	}
	slices.SortStableFunc(all, func(a, b Arrival) int { return compare(a.At, b.At) })
	return all
}

func compare(a, b time.Duration) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (g TaskGroup) names() []string {
	if g.Count == 0 {
		return []string{g.Name}
	}
	names := make([]string, g.Count)
	for i := range names {
		names[i] = g.Name + "-" + strconv.Itoa(i+1)
	}
	return names
}

func (g TaskGroup) spec(name string, run time.Duration) dispatcher.Spec {
	return dispatcher.Spec{
		ID: dispatcher.TaskID(name), StartDeadline: g.StartDeadline, Deadline: g.Deadline,
		MaxFailures: g.MaxFailures, MaxDisruptions: g.MaxDisruptions,
		Work: dispatcher.Work{
			Run: run, IgnoreTerm: g.Work.IgnoreTerm, IgnoreTimeouts: g.Work.IgnoreTimeouts, IgnoreFence: g.Work.IgnoreFence,
			Hang: g.Work.Hang, FailUntil: g.Work.FailUntil, CrashAt: g.Work.CrashAt, NoResult: g.Work.NoResult, Launcher: g.Work.Launcher,
			Pods: g.Work.Pods, Stragglers: g.Work.Stragglers,
		},
	}
}

// TaskNames lists all tasks in the order of the file.
func (s *Scenario) TaskNames() []string {
	var names []string
	for _, g := range s.Tasks {
		names = append(names, g.names()...)
	}
	return names
}

// taskCount is how many tasks there are.
func (s *Scenario) taskCount() int {
	n := 0
	for _, g := range s.Tasks {
		n += max(g.Count, 1)
	}
	return n
}

// ClientStep is one call of a client: Submit (once more), Cancel, Read or Resume of a task.
type ClientStep struct {
	At   time.Duration
	Verb history.Verb
	Task dispatcher.TaskID
}

// ClientSteps returns what clients do after submitting, in order of time.
func (s *Scenario) ClientSteps(seed uint64) []ClientStep {
	if len(s.Clients) == 0 {
		return nil
	}
	var all []ClientStep
	names := s.TaskNames()
	for i, step := range s.Clients {
		verb, pattern := step.call()
		at := step.At.Draw(stream(seed, fmt.Sprintf("client step %d", i+1)))
		for range max(step.Times, 1) {
			for _, name := range matching(pattern, names) {
				all = append(all, ClientStep{At: at, Verb: verb, Task: dispatcher.TaskID(name)})
			}
			at += step.Every
		}
	}
	slices.SortStableFunc(all, func(a, b ClientStep) int { return compare(a.At, b.At) })
	return all
}

// call is what the step does, and to which tasks.
func (c Step) call() (history.Verb, string) {
	switch {
	case c.Cancel != "":
		return history.Cancel, c.Cancel
	case c.Read != "":
		return history.Read, c.Read
	case c.Resume != "":
		return history.Resume, c.Resume
	}
	return history.Submit, c.Submit
}

// matching lists the names that a name, or a pattern ending in *, means.
func matching(pattern string, names []string) []string {
	prefix, many := strings.CutSuffix(pattern, "*")
	var out []string
	for _, n := range names {
		if n == pattern || many && strings.HasPrefix(n, prefix) {
			out = append(out, n)
		}
	}
	return out
}

// Plan returns the faults of one seed: the fixed ones and those drawn from the swarm.
func (s *Scenario) Plan(seed uint64) (faults.Plan, error) {
	plan, _, err := s.plan(seed)
	return plan, err
}

// Draw returns what the seed draws from the swarm; the zero Draw when the scenario has none.
func (s *Scenario) Draw(seed uint64) (faults.Draw, error) {
	_, draw, err := s.plan(seed)
	return draw, err
}

func (s *Scenario) plan(seed uint64) (faults.Plan, faults.Draw, error) {
	all, draw, err := s.strikes(seed)
	var plan faults.Plan
	for _, x := range all {
		plan = append(plan, x.fault)
	}
	return plan, draw, err
}

// strike is a fault of a plan, and which of the scenario's it is of.
type strike struct {
	fault faults.Fault
	of    int // index in Faults; -1: drawn from the swarm
}

func (s *Scenario) strikes(seed uint64) ([]strike, faults.Draw, error) {
	var all []strike
	for i, f := range s.Faults {
		name := f.Name
		if name == "" {
			name = fmt.Sprintf("fault %d", i+1)
		}
		r := stream(seed, name)
		for _, one := range f.series(func(d clusters.Dist) time.Duration { return d.Draw(r) }, s.groups()) {
			all = append(all, strike{one, i})
		}
	}
	var draw faults.Draw
	if s.Swarm != "" {
		settings, err := s.DispatcherSettings()
		if err != nil {
			return nil, draw, err
		}
		draw, err = faults.Swarm(s.Swarm, seed, faults.SwarmOptions{Nodes: s.groups(), Tasks: s.TaskNames(), Settings: settings,
			Dispatchers: s.dispatchers(), Reconcilers: s.reconcilers(), Horizon: s.Horizon})
		if err != nil {
			return nil, draw, err
		}
		for _, one := range draw.Plan {
			all = append(all, strike{one, -1})
		}
	}
	slices.SortStableFunc(all, func(a, b strike) int { return compare(a.fault.At, b.fault.At) })
	return all, draw, nil
}

// FaultProblem is what is wrong with a fault of the plan of a seed, at the place in the file that it is of: an *InputError.
func (s *Scenario) FaultProblem(seed uint64, index int, code, message, fix string) error {
	all, _, err := s.strikes(seed)
	if err != nil {
		return err
	}
	src := *s.source
	src.problems = nil
	path := "faults"
	if index >= 0 && index < len(all) {
		if path = "swarm"; all[index].of >= 0 {
			path = fmt.Sprintf("faults[%d]", s.faultIndex(all[index].of))
		}
	}
	src.add(src.place(path), code, fix, "%s", message)
	return src.err()
}

// series returns the fault's strikes; value makes a number out of a distribution.
func (f Fault) series(value func(clusters.Dist) time.Duration, groups []clusters.NodeGroup) []faults.Fault {
	at := value(f.At)
	var all []faults.Fault
	for range max(f.Times, 1) {
		one := f.strike(value, groups)
		one.At = at
		all = append(all, one)
		at += f.Every
	}
	return all
}

func (f Fault) strike(value func(clusters.Dist) time.Duration, groups []clusters.NodeGroup) faults.Fault {
	t := f.Target
	return faults.Fault{
		Kind: f.Kind,
		Target: faults.Target{Process: t.Process, Node: t.Node, Task: t.Task, Port: t.Port, Verb: t.Verb, Nth: t.Nth, Share: t.Share,
			Groups: groupsOf(t.Node, groups)},
		For: value(f.For), Action: f.Action, Code: f.Code, Applied: f.Applied, RetryAfter: f.RetryAfter, Delay: f.Delay,
		Notice: value(f.Notice), Run: value(f.Run), By: f.By, Lag: value(f.Lag), Lost: value(f.Lost), Ports: f.Ports,
	}
}

// groupsOf are the groups that an "any" node is drawn from.
func groupsOf(node string, groups []clusters.NodeGroup) []string {
	kind, any := strings.CutPrefix(node, "any")
	if !any {
		return nil
	}
	kind = strings.TrimPrefix(kind, ":")
	var names []string
	for _, g := range groups {
		if kind == "" || string(g.CapacityType) == kind {
			names = append(names, g.Name)
		}
	}
	return names
}
