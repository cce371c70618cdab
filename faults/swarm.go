package faults

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// SwarmOptions is what a swarm is drawn for.
type SwarmOptions struct {
	Nodes                    []clusters.NodeGroup
	Tasks                    []string
	Dispatchers, Reconcilers int
	Settings                 dispatcher.Settings
	Horizon                  time.Duration
}

// Draw is a plan drawn from a swarm, and what the draw switched on. Whole kinds are off in each draw (Groce
// et al., "Swarm Testing", ISSTA 2012): a fault that is always there hides what only shows without it.
type Draw struct {
	Plan Plan
	On   []Kind
	Off  []Kind
	// Gap is the mean time between two strikes.
	Gap time.Duration
}

// Swarms lists the names of the mixes that Swarm knows.
func Swarms() []string { return []string{"standard"} }

// recipe draws one fault of a kind; At is already set.
type recipe struct {
	kind   Kind
	weight int
	draw   func(w *swarm, f *Fault)
}

// standard is every kind that a right dispatcher must survive. Left out: store-failover, which loses acknowledged
// commits, so that no dispatcher can be right; pod-remove, which is harmless only to work that stops itself when fenced;
// and node-remove without notice of on-demand nodes, of which too few are left to run anything. store-crash, store-pause and api-pause came
// later: one more recipe shifts every draw, and what known seeds stand for would be lost. store-outage and api-outage stand in for them.
var standard = []recipe{
	{NodeKill, 3, func(w *swarm, f *Fault) { w.anyNode(f, ""); f.For = w.long(30*time.Second, 12*time.Minute) }},
	{NodeRemove, 1, func(w *swarm, f *Fault) { w.anyNode(f, clusters.Spot) }},
	{NodePartition, 3, (*swarm).partition},
	{SpotReclaim, 3, func(w *swarm, f *Fault) {
		w.anyNode(f, clusters.Spot)
		f.Notice = w.between(15*time.Second, 2*time.Minute)
	}},
	{PodEvict, 2, func(w *swarm, f *Fault) { f.Target.Task = "any:running" }},
	{ContainerKill, 2, func(w *swarm, f *Fault) { f.Target.Task = "any:running" }},
	{RunTime, 3, (*swarm).overrun},
	{SchedulingHold, 1, func(w *swarm, f *Fault) { f.For = w.long(10*time.Second, w.Settings.StartTimeout+time.Minute) }},
	{ProcessCrash, 4, func(w *swarm, f *Fault) { w.replica(f); f.For = w.long(time.Second, 2*time.Minute) }},
	{ProcessPause, 4, func(w *swarm, f *Fault) {
		w.replica(f)
		f.For = w.long(w.Settings.LeaseTTL/3, 6*w.Settings.LeaseTTL)
	}},
	{ClockSkew, 1, (*swarm).skew},
	{LeaseUnreachable, 2, func(w *swarm, f *Fault) {
		w.replica(f)
		f.For = w.long(w.Settings.LeaseTTL/3, 4*w.Settings.LeaseTTL)
	}},
	{LeaseHang, 2, func(w *swarm, f *Fault) {
		w.replica(f)
		f.For = w.long(w.Settings.LeaseTTL/3, 4*w.Settings.LeaseTTL)
	}},
	{Call, 8, (*swarm).call},
	{APIOutage, 2, func(w *swarm, f *Fault) { f.For = w.long(time.Second, 2*time.Minute) }},
	{APISlow, 1, func(w *swarm, f *Fault) {
		f.Delay = w.delay(w.Settings.CreateTimeout)
		f.For = w.long(5*time.Second, 2*time.Minute)
	}},
	{StoreOutage, 2, func(w *swarm, f *Fault) { f.For = w.long(time.Second, 2*time.Minute) }},
	{StoreSlow, 1, func(w *swarm, f *Fault) {
		f.Delay = w.delay(w.Settings.StoreTimeout)
		f.For = w.long(5*time.Second, 2*time.Minute)
	}},
	{StaleCache, 2, func(w *swarm, f *Fault) {
		f.Lag = w.long(time.Second, 2*time.Minute)
		f.For = w.long(30*time.Second, 5*time.Minute)
	}},
	{StaleReplica, 2, func(w *swarm, f *Fault) {
		f.Lag = w.long(time.Second, time.Minute)
		f.For = w.long(30*time.Second, 5*time.Minute)
	}},
}

type swarm struct {
	SwarmOptions
	random *rand.Rand
	span   time.Duration // from the strike that is being drawn to the horizon
}

// Swarm draws a plan from the named mix. Every fault heals before the horizon.
func Swarm(name string, seed uint64, o SwarmOptions) (Draw, error) {
	if name != "standard" {
		return Draw{}, fmt.Errorf("unknown swarm %q: there is only %q", name, "standard")
	}
	h := fnv.New64a()
	h.Write([]byte("swarm " + name))
	w := &swarm{SwarmOptions: o, random: rand.New(rand.NewPCG(seed, h.Sum64()))}
	var d Draw
	var on []recipe
	for _, r := range standard {
		switch {
		case w.random.Uint64()&1 == 0 || !w.can(r.kind):
			d.Off = append(d.Off, r.kind)
		default:
			d.On = append(d.On, r.kind)
			on = append(on, r)
		}
	}
	// From three faults in a run to forty, equally likely on a logarithmic scale.
	d.Gap = time.Duration(float64(o.Horizon) / (3 * math.Pow(40.0/3, w.random.Float64())))
	if len(on) == 0 || d.Gap <= 0 {
		return d, nil
	}
	last := o.Horizon - o.Horizon/10 // leave time to be felt
	for at := w.exponential(d.Gap); at < last; at += w.exponential(d.Gap) {
		w.span = o.Horizon - at
		d.Plan = append(d.Plan, w.one(on, at))
	}
	slices.SortStableFunc(d.Plan, func(a, b Fault) int { return int(a.At - b.At) })
	return d, nil
}

// can tells whether there is anything that the kind could strike.
func (w *swarm) can(k Kind) bool {
	switch k {
	case NodeRemove, SpotReclaim:
		return len(w.groups(clusters.Spot)) > 0
	case RunTime:
		return len(w.Tasks) > 0
	case ClockSkew:
		return w.Settings.MaxClockSkew > 0
	}
	return true
}

func (w *swarm) one(on []recipe, at time.Duration) Fault {
	total := 0
	for _, r := range on {
		total += r.weight
	}
	pick := w.random.IntN(total)
	for _, r := range on {
		if pick -= r.weight; pick < 0 {
			f := Fault{Kind: r.kind, At: at}
			r.draw(w, &f)
			return f
		}
	}
	panic("weights do not add up")
}

func (w *swarm) exponential(mean time.Duration) time.Duration {
	return max(time.Duration(w.random.ExpFloat64()*float64(mean)).Round(time.Millisecond), time.Millisecond)
}

func (w *swarm) between(lo, hi time.Duration) time.Duration {
	return clusters.Uniform(lo, max(lo, min(hi, w.span))).Draw(w.random).Round(time.Millisecond)
}

// long draws on a logarithmic scale, so that short faults are as likely as long ones, and ends before the horizon.
func (w *swarm) long(lo, hi time.Duration) time.Duration {
	lo = max(min(lo, w.span), time.Millisecond)
	hi = max(lo, min(hi, w.span))
	d := time.Duration(float64(lo) * math.Pow(float64(hi)/float64(lo), w.random.Float64()))
	return min(d.Round(time.Millisecond), w.span)
}

// delay is around the caller's timeout: as often below as above.
func (w *swarm) delay(timeout time.Duration) clusters.Dist {
	top := w.long(timeout/10, 3*timeout)
	return clusters.Uniform(top/4, top)
}

func (w *swarm) groups(t clusters.CapacityType) []string {
	var names []string
	for _, g := range w.Nodes {
		if t == "" || g.CapacityType == t {
			names = append(names, g.Name)
		}
	}
	return names
}

func (w *swarm) anyNode(f *Fault, t clusters.CapacityType) {
	f.Target.Node = "any"
	if t != "" {
		f.Target.Node = "any:" + string(t)
	}
	f.Target.Groups = w.groups(t)
}

func (w *swarm) partition(f *Fault) {
	w.anyNode(f, "")
	f.For = w.long(10*time.Second, 15*time.Minute)
	ports := [][]clusters.Port{{clusters.API}, {clusters.Store}, {clusters.API, clusters.Store}}
	f.Ports = ports[w.random.IntN(len(ports))]
}

// overrun draws where in the chain the work ends: past the step, the workflow deadline, or the recovery grace.
func (w *swarm) overrun(f *Fault) {
	f.Target.Task = w.Tasks[w.random.IntN(len(w.Tasks))]
	past := []time.Duration{w.Settings.StepTimeout, w.Settings.WorkflowDeadline, w.Settings.RecoveryGrace}
	f.Run = past[w.random.IntN(len(past))] + w.between(time.Second, time.Minute)
}

// replica aims at the leader as often as at a replica by name.
func (w *swarm) replica(f *Fault) {
	role, count := dispatcher.RoleDispatcher, max(w.Dispatchers, 1)
	if w.random.Uint64()&1 == 0 {
		role, count = dispatcher.RoleReconciler, max(w.Reconcilers, 1)
	}
	f.Target.Process = "leader:" + string(role)
	if w.random.Uint64()&1 == 0 {
		f.Target.Process = fmt.Sprintf("%s-%d", role, 1+w.random.IntN(count))
	}
}

func (w *swarm) skew(f *Fault) {
	w.replica(f)
	f.By = w.between(0, w.Settings.MaxClockSkew)
	if w.random.Uint64()&1 == 0 {
		f.By = -f.By
	}
	if f.By == 0 {
		f.By = w.Settings.MaxClockSkew
	}
	f.For = w.long(30*time.Second, 10*time.Minute)
}

// disturbed are the calls worth disturbing: those whose outcome decides what happens next.
var disturbed = []string{"claim", "launched", "unclaim", "requeue", "conclude", "cleaned", "observe", "start", "heartbeat",
	"finish", "create", "get", "list", "delete", "release", "node-exists", "put-lease", "confirm", "lead", "scan"}

func (w *swarm) call(f *Fault) {
	actions := Actions()
	f.Action = actions[w.random.IntN(len(actions))]
	f.Target.Verb = disturbed[w.random.IntN(len(disturbed))]
	verb, _ := history.ParseVerb(f.Target.Verb)
	f.Target.Port = portOf(verb)
	if w.random.IntN(3) == 0 {
		f.Target.Verb = "" // everything that goes that way
	}
	// Creates and claims come once in a tick: what lasts for less than one would hardly ever meet them.
	f.For = w.long(5*time.Second, max(5*time.Minute, 2*w.Settings.Tick))
	f.Target.Share = float64(5+w.random.IntN(16)*5) / 100 // 5 % to 80 %
	switch f.Action {
	case clusters.Slow:
		f.Delay = w.delay(w.timeout(f.Target.Port))
	case clusters.Late:
		f.Delay = clusters.Uniform(0, w.long(time.Second, time.Minute))
	case clusters.Answer:
		f.Code = "unavailable"
		if f.Target.Port != clusters.Store {
			f.Code = "throttled"
		}
	case clusters.CrashCaller:
		f.Target.Process = string(dispatcher.RoleDispatcher) + "*"
		if w.random.Uint64()&1 == 0 {
			f.Target.Process = string(dispatcher.RoleReconciler) + "*"
		}
		f.Delay = clusters.Fixed(w.between(time.Second, 30*time.Second))
	}
}

func (w *swarm) timeout(p clusters.Port) time.Duration {
	if p == clusters.API {
		return w.Settings.CreateTimeout
	}
	return w.Settings.StoreTimeout
}
