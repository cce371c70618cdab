package experiment

import (
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// Observation is what is kept of one run. It holds whole numbers only: see the package comment.
type Observation struct {
	Seed     uint64          `json:"seed"`
	Verdict  checker.Verdict `json:"verdict"`
	Violated []string        `json:"violated,omitempty"` // the invariants whose violation counts
	Trace    uint64          `json:"trace,string"`
	// Struck is how many faults struck, and Events how many events the history has: what makes a counterexample small.
	Struck int `json:"struck"`
	Events int `json:"events"`

	Overlaps    int             `json:"overlaps,omitempty"`     // executions that ran beside another of their task
	Effects     int             `json:"effects,omitempty"`      // results that counted beside another of their task
	Stranded    int             `json:"stranded,omitempty"`     // times that a running row had nothing alive for longer than B
	StrandedFor time.Duration   `json:"stranded_for,omitempty"` // all times that a running row had nothing alive, summed up
	Recoveries  []time.Duration `json:"recoveries,omitempty"`   // how long each loss took to be dealt with
	Kills       int             `json:"kills,omitempty"`        // by the deadline, of work that would have ended in time
	Succeeded   int             `json:"succeeded"`              // tasks, at the end
	InTime      int             `json:"in_time"`                // of them, before the horizon
	Calls       int             `json:"calls"`                  // to the API server
	Virtual     time.Duration   `json:"virtual"`                // how long the run was
	OnDemand    Use             `json:"on_demand"`
	Spot        Use             `json:"spot"`
}

// Use is what containers took of machines of one capacity type.
type Use struct {
	Ran    time.Duration `json:"ran,omitempty"`
	Wasted time.Duration `json:"wasted,omitempty"` // of Ran: by containers whose work had no result that counted
	Starts int           `json:"starts,omitempty"` // first executions of tasks
	Delay  time.Duration `json:"delay,omitempty"`  // from submission to them, summed up
	Worst  time.Duration `json:"worst,omitempty"`  // the longest of these
}

// observe reduces a run. Overruns are the tasks that a deadline rightly ends.
func observe(r scenarios.Result, overruns map[string]bool) Observation {
	h := r.History
	o := Observation{Seed: r.Seed, Verdict: r.Verdict, Trace: h.Meta.TraceHash, Events: len(h.Events), Virtual: r.Virtual}
	for _, v := range r.Report.Invariants {
		switch v.Name {
		case "I1-overlap":
			o.Overlaps = v.Violated
		case "I1-effect":
			o.Effects = v.Violated
		case "I2-stranded":
			o.Stranded = v.Violated
		}
	}
	for _, v := range r.Fatal() {
		if n := len(o.Violated); n == 0 || !contains(o.Violated, v.Invariant) {
			o.Violated = append(o.Violated, v.Invariant)
		}
	}
	w := &watcher{Observation: &o, h: h, tasks: make([]watched, len(h.Tasks)+1), spot: spotNodes(r.Scenario, h.Nodes), plan: r.Plan,
		patience: r.Settings.CreateTimeout, horizon: r.Scenario.Horizon, overruns: overruns}
	w.watch()
	for i := range h.Operations {
		if v := h.Operations[i].Verb; v >= history.Create && v <= history.Watch {
			o.Calls++
		}
	}
	return o
}

func contains(all []string, name string) bool {
	for _, one := range all {
		if one == name {
			return true
		}
	}
	return false
}

// overruns are the tasks whose work does not end by itself before the deadline that the scenario's own settings give it: to end it is
// what a deadline is for.
func overruns(base *scenarios.Scenario, demand *scenarios.Demand) map[string]bool {
	names := map[string]bool{}
	settings, err := base.DispatcherSettings()
	if err != nil {
		return names
	}
	for _, a := range demand.Arrivals() {
		limit := settings.WorkflowDeadline
		if a.Spec.Deadline > 0 {
			limit = a.Spec.Deadline
		}
		if a.Spec.Work.Hang || a.Spec.Work.Run > limit {
			names[string(a.Spec.ID)] = true
		}
	}
	return names
}

// spotNodes tells of each node, by its ID, whether it is spot: nodes are named after their group.
func spotNodes(s *scenarios.Scenario, nodes []string) []bool {
	spot := make([]bool, len(nodes)+1)
	for i, name := range nodes {
		cut := strings.LastIndexByte(name, '-')
		if cut < 0 {
			continue
		}
		if _, err := strconv.Atoi(name[cut+1:]); err != nil {
			continue
		}
		for _, g := range s.Nodes {
			spot[i+1] = spot[i+1] || g.Name == name[:cut] && g.CapacityType == clusters.Spot
		}
	}
	return spot
}

// watcher follows what there is of every task through a history.
type watcher struct {
	*Observation
	h        *history.History
	tasks    []watched // by task ID
	spot     []bool    // by node ID
	plan     faults.Plan
	patience time.Duration // as long as a create call may take: nothing alive for less is no loss
	horizon  time.Duration
	overruns map[string]bool
	now      time.Duration
}

// watched is one task.
type watched struct {
	phase     history.Phase
	token     uint64
	bodies    []body
	submitted time.Duration
	known     bool // its row was seen
	begun     bool // it was executed
	prolonged bool // a fault makes its work take longer
	counted   []uint64
	nothing   bool          // its row is running and there is nothing of it
	since     time.Duration // from when
}

// body is an API object and its container.
type body struct {
	object                                              string
	token                                               uint64
	node                                                history.ID
	from                                                time.Duration
	known, started, alive, working, leaving, over, gone bool
	ran                                                 time.Duration
}

func (w *watcher) watch() {
	for i := range w.h.Events {
		e := &w.h.Events[i]
		w.now = e.At
		if e.Kind == history.FaultStruck {
			w.struck(e)
		}
		if e.Task == 0 || e.Kind > history.ObjectPhase {
			continue
		}
		t := &w.tasks[e.Task]
		if e.Kind == history.Row {
			w.row(t, e)
		} else {
			w.body(t, e)
		}
		w.look(t)
	}
	for i := range w.tasks {
		w.sum(&w.tasks[i])
	}
}

func (w *watcher) struck(e *history.Event) {
	w.Struck++
	if e.Task > 0 && e.Fault >= 1 && int(e.Fault) <= len(w.plan) && w.plan[e.Fault-1].Kind == faults.RunTime {
		w.tasks[e.Task].prolonged = true
	}
}

// row takes in a commit; what the row itself puts an end to was a loss that is dealt with now.
func (w *watcher) row(t *watched, e *history.Event) {
	if !t.known {
		t.known, t.submitted = true, e.At
	}
	if t.nothing && (e.Phase != history.Running || e.Token != t.token) {
		if lost := e.At - t.since; lost > w.patience {
			w.StrandedFor += lost
			w.Recoveries = append(w.Recoveries, lost)
		}
		t.nothing = false
	}
	if e.Phase == history.Succeeded && t.phase != history.Succeeded && e.At <= w.horizon {
		w.InTime++
	}
	t.phase, t.token = e.Phase, e.Token
}

func (w *watcher) body(t *watched, e *history.Event) {
	switch e.Kind {
	case history.EffectCounted:
		t.counted = append(t.counted, e.Token)
		return
	case history.EffectLost:
		for i, token := range t.counted {
			if token == e.Token {
				t.counted = append(t.counted[:i], t.counted[i+1:]...)
				break
			}
		}
		return
	case history.EffectRefused:
		return
	}
	b := t.find(e)
	switch e.Kind {
	case history.ObjectCreated:
		b.known = true
	case history.ObjectDeleting:
		b.leaving = true
	case history.ObjectGone:
		b.gone = true
	case history.ObjectPhase:
		b.over = strings.HasPrefix(e.Detail, "succeeded") || strings.HasPrefix(e.Detail, "failed")
		if e.Detail == "failed DeadlineExceeded" && !t.prolonged && !w.overruns[w.h.Tasks[e.Task-1]] {
			w.Kills++
		}
	case history.ContainerStarted:
		b.started, b.alive, b.from, b.node = true, true, e.At, e.Node
	case history.ContainerEnded:
		if b.alive {
			b.ran += e.At - b.from
		}
		b.alive, b.working = false, false
	case history.WorkStarted:
		b.started, b.working = true, true
		w.begin(t, e, b)
	case history.WorkEnded:
		b.working = false
	}
}

func (w *watcher) begin(t *watched, e *history.Event, b *body) {
	if t.begun {
		return
	}
	t.begun = true
	u := w.use(b.node)
	u.Starts++
	u.Delay += e.At - t.submitted
	u.Worst = max(u.Worst, e.At-t.submitted)
}

func (w *watcher) use(node history.ID) *Use {
	if int(node) < len(w.spot) && w.spot[node] {
		return &w.Spot
	}
	return &w.OnDemand
}

func (t *watched) find(e *history.Event) *body {
	for i := range t.bodies {
		if t.bodies[i].object == e.Object {
			return &t.bodies[i]
		}
	}
	t.bodies = append(t.bodies, body{object: e.Object, token: e.Token})
	return &t.bodies[len(t.bodies)-1]
}

// look notes from when on there is nothing of a task whose row says running.
func (w *watcher) look(t *watched) {
	nothing := t.phase == history.Running && !t.present()
	if nothing && !t.nothing {
		t.since = w.now
	} else if !nothing && t.nothing && w.now-t.since > w.patience {
		w.StrandedFor += w.now - t.since
	}
	t.nothing = nothing
}

// present is what package checker counts as something: work that is really under way, a container of the current attempt, or an
// object of it that waits for one.
func (t *watched) present() bool {
	for i := range t.bodies {
		b := &t.bodies[i]
		waiting := b.known && !b.started && !b.leaving && !b.over && !b.gone
		if b.working || b.token == t.token && (b.alive || waiting) {
			return true
		}
	}
	return false
}

// sum is the end of a task.
func (w *watcher) sum(t *watched) {
	if t.phase == history.Succeeded {
		w.Succeeded++
	}
	if t.nothing && w.now-t.since > w.patience {
		w.StrandedFor += w.now - t.since
	}
	for i := range t.bodies {
		b := &t.bodies[i]
		if b.alive {
			b.ran += w.now - b.from
		}
		u := w.use(b.node)
		u.Ran += b.ran
		useful := false
		for _, token := range t.counted {
			useful = useful || token == b.token
		}
		if !useful {
			u.Wasted += b.ran
		}
	}
}
