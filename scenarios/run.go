package scenarios

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
)

// World makes a world; which ones there are is for the caller to know. The context is that of the run: a world that needs
// time to come about gives up when it ends.
type World func(context.Context, clusters.Config) (clusters.Cluster, error)

// Options is what a run needs besides its scenario.
type Options struct {
	System dispatcher.System
	Seed   uint64
	World  World
	// Demand, when set, is what the scenario's Demand gives for the seed, drawn before.
	Demand *Demand
	// Version of Squall, for the record.
	Version string
	// Record is given the history before it is judged; evidence comes first. May be nil.
	Record func(*history.History) error
	Check  checker.Options
	// Plan, when set, takes the place of the faults that the scenario and the seed would make.
	Plan faults.Plan
	// Fork continues the run otherwise from some record on.
	Fork clusters.Fork
	// Order is how events are ordered that fall close together, and Seen what a search is told: see clusters.Config.
	Order clusters.Order
	Seen  func(index int, state uint64) bool
	// Tell is told, while the run is under way, what it comes to: phases, and what becomes of faults. May be nil.
	Tell func(Note)
}

// Note is something to tell of a run that is under way.
type Note struct {
	At   time.Duration // since the run began
	What string
}

// Result is one run of one scenario against one dispatcher.
type Result struct {
	Scenario   *Scenario
	Dispatcher string
	Seed       uint64
	Settings   dispatcher.Settings
	Plan       faults.Plan
	Order      clusters.Order
	History    *history.History
	Report     checker.Report
	// Verdict is the report's, less the violations that the scenario tolerates.
	Verdict checker.Verdict
	// Interrupted is set when the run was stopped early; what was recorded was judged.
	Interrupted bool
	Virtual     time.Duration
	Wall        time.Duration
	// Err is a failure of the harness or a crash of the system under test: there is no verdict.
	Err error

	world clusters.Cluster // closed; keeps the history
}

// Forget gives the memory of the history to later runs: nobody may look at it any more.
func (r *Result) Forget() {
	if w, ok := r.world.(clusters.Recycler); ok {
		w.Recycle()
	}
	r.world, r.History = nil, nil
}

// Orderly is the world of the run, for what there was to order in it; nil when it does not order by an Order. It holds until Forget.
func (r *Result) Orderly() clusters.Orderly {
	o, _ := r.world.(clusters.Orderly)
	return o
}

// Fatal returns the violations that count, in order.
func (r Result) Fatal() []checker.Violation {
	var fatal []checker.Violation
	for _, v := range r.Report.Violations {
		if !r.Scenario.tolerates(v.Invariant) {
			fatal = append(fatal, v)
		}
	}
	return fatal
}

// Run makes the scenario happen once: faults until the horizon, then everything heals and time passes for every
// timeout, then the history is judged. It returns a result on every outcome.
func Run(ctx context.Context, s *Scenario, o Options) Result {
	began := time.Now()
	r := &runner{scenario: s, options: o, result: Result{Scenario: s, Dispatcher: o.System.Name, Seed: o.Seed}}
	if err := r.guarded(ctx); err != nil {
		r.result.Err = fmt.Errorf("run %s with %s, seed %d: %w", s.Name, o.System.Name, o.Seed, err)
	}
	r.result.Wall = time.Since(began)
	return r.result
}

// guarded keeps a panic of one run, a checker's say, from ending all the others.
func (r *runner) guarded(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return r.run(ctx)
}

type runner struct {
	scenario *Scenario
	options  Options
	cluster  clusters.Cluster
	injector *faults.Injector
	pending  atomic.Int64 // what clients, which may run beside the world, have yet to do
	result   Result
	wanted   dispatcher.Settings // those of the scenario
}

func (r *runner) run(ctx context.Context) (err error) {
	config, err := r.scenario.Config(r.options.System, r.options.Seed)
	if err != nil {
		return err
	}
	r.wanted = config.Settings
	if change := r.options.System.Settings; change != nil {
		config.Settings = change(config.Settings)
	}
	r.result.Settings, config.Fork = config.Settings, r.options.Fork
	if r.result.Plan = r.options.Plan; r.result.Plan == nil {
		if r.result.Plan, err = r.scenario.Plan(r.options.Seed); err != nil {
			return err
		}
	}
	config.Order, config.Seen = r.options.Order, r.options.Seen
	r.result.Order = config.Order
	if r.cluster, err = r.options.World(ctx, config); err != nil {
		if ctx.Err() != nil { // somebody stopped it before there was anything to judge
			r.result.Interrupted = true
			return nil
		}
		return err
	}
	r.result.world = r.cluster
	defer func() { err = errors.Join(err, r.cluster.Close()) }()
	if r.result.Orderly() == nil && config.Order.Strategy != clusters.Random {
		return fmt.Errorf("strategy %s: this world has real time, and cannot order events", config.Order.Strategy)
	}
	if err := r.arm(config); err != nil {
		return err
	}
	crash := r.phases(ctx)
	if errors.Is(crash, clusters.ErrSeen) {
		return errors.Join(crash, r.judge(config.Settings))
	}
	lost := r.collect(ctx)
	if err := r.judge(config.Settings); err != nil {
		return errors.Join(crash, lost, err)
	}
	return errors.Join(crash, lost)
}

// collecting is how long a world may take to gather its history: longer than any single thing that it waits for.
const collecting = 3 * time.Minute

// collect gathers the history of a world that has it in many places, an interrupted run's too.
func (r *runner) collect(ctx context.Context) error {
	world, ok := r.cluster.(clusters.Collector)
	if !ok {
		return nil
	}
	r.tell("gathering the records")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), collecting)
	defer cancel()
	if err := world.Collect(ctx); err != nil {
		return fmt.Errorf("gather the history: %w", err)
	}
	return nil
}

func (r *runner) tell(format string, args ...any) {
	if r.options.Tell != nil {
		r.options.Tell(Note{r.cluster.Now(), fmt.Sprintf(format, args...)})
	}
}

func (r *runner) arm(config clusters.Config) error {
	var err error
	r.injector, err = faults.Arm(r.result.Plan, r.cluster, config.Settings, stream(r.options.Seed, "injector"))
	if err != nil {
		return err
	}
	if r.options.Tell != nil {
		r.injector.Told = func(kind history.Kind, f faults.Fault) {
			r.tell("%s: %s", strings.TrimPrefix(kind.String(), "fault-"), f)
		}
	}
	r.submit(config.Settings)
	return nil
}

// phases runs the safety phase and then the liveness phase. An error is a crash of what ran, not a verdict.
func (r *runner) phases(ctx context.Context) error {
	r.tell("running")
	if err := r.cluster.Run(ctx, r.scenario.Horizon, r.over); err != nil {
		return r.stopped(ctx, err)
	}
	r.injector.HealAll()
	r.tell("healed; waiting until everything is done")
	r.cluster.Observe(history.Event{Kind: history.Healed})
	until := r.cluster.Now() + r.settle()
	if err := r.cluster.Run(ctx, until, r.cluster.Quiet); err != nil {
		return r.stopped(ctx, err)
	}
	why := "quiet"
	if !r.cluster.Quiet() {
		why = "out of time"
	}
	r.cluster.Observe(history.Event{Kind: history.Ended, Detail: why})
	return nil
}

// over tells that nothing can happen any more before the horizon.
func (r *runner) over() bool { return r.submitted() && r.cluster.Quiet() && r.injector.Done() }

func (r *runner) stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		r.result.Interrupted = true
		return nil
	}
	return err
}

// settle is how long the healed system may take.
func (r *runner) settle() time.Duration {
	if r.scenario.Settle > 0 {
		return r.scenario.Settle
	}
	s := r.result.Settings
	detect := s.NodeGrace + s.UnreachableToleration + s.PodGrace + s.TerminationTimeout
	round := s.Bound(detect, r.scenario.taskCount()) + s.StartTimeout + s.WorkflowDeadline
	return time.Duration(s.MaxFailures+1) * round
}

func (r *runner) judge(s dispatcher.Settings) error {
	h := r.cluster.History()
	h.Meta.Scenario = r.scenario.Name
	h.Meta.Dispatcher = r.options.System.Name
	h.Meta.Seed = r.options.Seed
	h.Meta.Version = r.options.Version
	h.Meta.Limits.CallsPerMinute = callsPerMinute
	// What was asked for, whatever the dispatcher makes of it.
	h.Meta.Limits.MaxInFlight = r.wanted.MaxInFlight
	h.Meta.Limits.StartTimeout, h.Meta.Limits.Deadline = r.wanted.StartTimeout, r.wanted.WorkflowDeadline
	r.result.History = h
	r.result.Virtual = r.cluster.Now()
	if r.options.Record != nil {
		if err := r.options.Record(h); err != nil {
			return err
		}
	}
	r.result.Report = checker.Check(h, r.options.Check)
	r.result.Verdict = r.scenario.Verdict(r.result.Report)
	return nil
}

// callsPerMinute is how often one process may call one verb, unless it calls about so many tasks that each has only a few: more than
// twenty times a second, for a minute, is a loop without backoff. (A launch rate of ten a second is the fastest that a profile asks for.)
const callsPerMinute = 1200

// Verdict is the report's verdict, less what the scenario tolerates. Where nothing was put to the test nothing is known.
func (s *Scenario) Verdict(report checker.Report) checker.Verdict {
	v := checker.NotExercised
	for _, inv := range report.Invariants {
		if inv.Verdict == checker.Invalid && s.tolerates(inv.Name) {
			v = v.Merge(checker.Valid)
			continue
		}
		v = v.Merge(inv.Verdict)
	}
	if v == checker.NotExercised {
		return checker.Unknown
	}
	return v
}

func (s *Scenario) tolerates(invariant string) bool {
	for _, t := range s.Expect.Tolerate {
		if t == invariant {
			return true
		}
	}
	return false
}
