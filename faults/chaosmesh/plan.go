package chaosmesh

import (
	"fmt"
	"reflect"
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/squall-chaos/squall/faults"
)

// Form is what a plan is turned into.
type Form string

// The forms.
const (
	// WorkflowForm is one Workflow that strikes and heals the faults of the plan at their times, counted from its creation.
	WorkflowForm Form = "workflow"
	// ObjectsForm is an object per fault, with its duration: whoever applies it decides when. A series becomes a Schedule.
	ObjectsForm Form = "objects"
)

// Forms lists the forms.
func Forms() []Form { return []Form{WorkflowForm, ObjectsForm} }

// Rendered is a plan as objects of Chaos Mesh.
type Rendered struct {
	Faults  []Mapped // all of the plan, in its order
	Objects []Object
}

// Object is one object to apply.
type Object struct {
	// Faults are indices of the plan.
	Faults []int
	// OneShot tells that it is over as soon as it is injected, so that nothing is to recover.
	OneShot bool
	Sent    *unstructured.Unstructured
}

// String names the object as kubectl does.
func (o Object) String() string { return o.Sent.GetKind() + " " + o.Sent.GetName() }

// Left are the faults that nothing expresses.
func (r Rendered) Left() []Mapped {
	var left []Mapped
	for _, m := range r.Faults {
		if !m.Maps() {
			left = append(left, m)
		}
	}
	return left
}

// Render turns a plan into objects. An object that the module refuses is a *Refused.
func (s Site) Render(p faults.Plan, form Form) (Rendered, error) {
	var r Rendered
	for i, f := range p {
		r.Faults = append(r.Faults, s.Map(i, f))
	}
	var err error
	all := s.series(r.Faults)
	switch {
	case len(all) == 0:
	case form == ObjectsForm:
		r.Objects, err = s.objects(all)
	default:
		r.Objects, err = s.workflow(all)
	}
	return r, err
}

// series are faults that strike again and again at equal distances, or one that strikes once.
type series struct {
	first Mapped
	index []int // of the plan
	every time.Duration
}

func (x series) repeated() bool { return len(x.index) > 1 }

// span is how long a Schedule of the series is kept: half an interval more, so that its last strike is not cut off and there is none after it.
func (x series) span() time.Duration { return time.Duration(len(x.index))*x.every + x.every/2 }

// least is how many equal faults at equal distances make a Schedule.
const least = 3

// series groups what repeats itself. A Schedule counts in whole seconds, strikes for the first time one interval after its creation, and
// holds no more than one object of its own at a time: what does not fit is left as single faults.
func (s Site) series(all []Mapped) []series {
	var out []series
	taken := make([]bool, len(all))
	for i, m := range all {
		if taken[i] || !m.Maps() {
			continue
		}
		x := series{first: m, index: []int{i}}
		if run, every := s.run(all, taken, i); len(run) >= least {
			x.index, x.every = run, every
		}
		for _, j := range x.index {
			taken[j] = true
		}
		out = append(out, x)
	}
	return out
}

// run is the longest series that begins with the fault.
func (s Site) run(all []Mapped, taken []bool, i int) ([]int, time.Duration) {
	first := all[i]
	var every time.Duration
	run := []int{i}
	for j := i + 1; j < len(all); j++ {
		if taken[j] || !sameButTime(first, all[j]) {
			continue
		}
		gap := all[j].Fault.At - all[run[len(run)-1]].Fault.At
		if every == 0 {
			every = gap
		}
		if gap != every || gap == 0 {
			break
		}
		run = append(run, j)
	}
	last := first.Fault.For
	fits := every >= time.Second && every%time.Second == 0 && first.Fault.At >= every && len(first.pieces) == 1 &&
		(first.pieces[0].oneShot() || last > 0 && last < every)
	if !fits {
		return nil, 0
	}
	return run, every
}

// sameButTime compares what strikes, not when.
func sameButTime(a, b Mapped) bool {
	if a.Fault.Kind != b.Fault.Kind || len(a.pieces) != len(b.pieces) {
		return false
	}
	a.Fault.At, b.Fault.At, a.Index, b.Index = 0, 0, 0, 0
	return reflect.DeepEqual(a, b)
}

// name of a fault's objects: fault-3, fault-3-workers.
func (x series) name(p piece) string {
	name := fmt.Sprintf("fault-%d", x.first.Index+1)
	if len(x.first.pieces) > 1 {
		name += "-" + p.part
	}
	return name
}

// lasts is how long a fault lasts by itself, or until everything heals.
func (s Site) lasts(m Mapped) time.Duration {
	switch {
	case m.lasts > 0:
		return m.lasts
	case m.Fault.For > 0:
		return m.Fault.For
	}
	return max(s.Horizon-m.Fault.At, time.Second)
}

func (s Site) objects(all []series) ([]Object, error) {
	var out []Object
	for _, x := range all {
		for _, p := range x.first.pieces {
			meta := s.meta(s.Name + "-" + x.name(p))
			p = p.duration(s.lasts(x.first))
			var o object
			var err error
			if x.repeated() {
				o = schedule(x, p)
				o.SetName(meta.Name)
				o.SetNamespace(meta.Namespace)
				o.SetLabels(meta.Labels)
			} else if o, err = p.object(meta); err != nil {
				return nil, err
			}
			one, err := admitted(o, x.index...)
			if err != nil {
				return nil, err
			}
			one.OneShot = p.oneShot()
			out = append(out, one)
		}
	}
	return out, nil
}

// admitted is an object that the module finds valid.
func admitted(o object, index ...int) (Object, error) {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	if err := check(o); err != nil {
		blamed := -1
		if len(index) > 0 {
			blamed = index[0]
		}
		return Object{}, &Refused{Index: blamed, Object: kind + " " + o.GetName(), Err: err}
	}
	u, err := sent(o)
	return Object{Faults: index, Sent: u}, err
}

const kept = 1 // how many ended objects a Schedule keeps

func schedule(x series, p piece) *v1alpha1.Schedule {
	return &v1alpha1.Schedule{TypeMeta: typed(v1alpha1.KindSchedule), Spec: v1alpha1.ScheduleSpec{
		Schedule: "@every " + single(x.every), ConcurrencyPolicy: v1alpha1.ForbidConcurrent, HistoryLimit: kept,
		Type: v1alpha1.ScheduleTemplateType(p.kind), ScheduleItem: v1alpha1.ScheduleItem{EmbedChaos: p.chaos},
	}}
}

// entry is the template that a Workflow begins with.
const entry = "plan"

// workflow runs all faults side by side, each after a wait of its own. The deadline of the whole is when everything heals.
func (s Site) workflow(all []series) ([]Object, error) {
	w := &v1alpha1.Workflow{TypeMeta: typed(v1alpha1.KindWorkflow), ObjectMeta: s.meta(s.Name)}
	w.Spec.Entry = entry
	plan := v1alpha1.Template{Name: entry, Type: v1alpha1.TypeParallel, Deadline: new(single(s.Horizon))}
	var index []int
	var rest []v1alpha1.Template
	for _, x := range all {
		templates := s.templates(x)
		plan.Children = append(plan.Children, templates[0].Name)
		rest = append(rest, templates...)
		index = append(index, x.index...)
	}
	w.Spec.Templates = append([]v1alpha1.Template{plan}, rest...)
	if _, err := s.objects(all); err != nil {
		return nil, err // a Workflow's own validation passes over what a Schedule in it holds, and does not name the fault
	}
	one, err := admitted(w)
	one.Faults = index
	return []Object{one}, err
}

// templates are what one series is in a Workflow; the first leads to the others.
func (s Site) templates(x series) []v1alpha1.Template {
	at := x.first.Fault.At - x.every // a Schedule strikes after its first interval
	var strikes []v1alpha1.Template
	for _, p := range x.first.pieces {
		strikes = append(strikes, s.strike(x, p))
	}
	if len(strikes) > 1 {
		both := v1alpha1.Template{Name: fmt.Sprintf("fault-%d-all", x.first.Index+1), Type: v1alpha1.TypeParallel}
		for _, t := range strikes {
			both.Children = append(both.Children, t.Name)
		}
		strikes = append([]v1alpha1.Template{both}, strikes...)
	}
	if at <= 0 {
		return strikes
	}
	name := fmt.Sprintf("fault-%d", x.first.Index+1)
	wait := v1alpha1.Template{Name: name + "-wait", Type: v1alpha1.TypeSuspend, Deadline: new(single(at))}
	first := strikes[0].Name
	lead := v1alpha1.Template{Name: name + "-at-" + single(x.first.Fault.At), Type: v1alpha1.TypeSerial,
		Children: []string{wait.Name, first}}
	return append([]v1alpha1.Template{lead, wait}, strikes...)
}

// over is how long a Workflow keeps the object of a kill, which is over at once.
const over = 5 * time.Second

// strike is one experiment of a Workflow, whose deadline is its duration.
func (s Site) strike(x series, p piece) v1alpha1.Template {
	t := v1alpha1.Template{Name: x.name(p)}
	switch {
	case x.repeated():
		p = p.duration(s.lasts(x.first))
		t.Type = v1alpha1.TypeSchedule
		t.Deadline = new(single(x.span()))
		t.Schedule = &v1alpha1.ChaosOnlyScheduleSpec{Schedule: "@every " + single(x.every), ConcurrencyPolicy: v1alpha1.ForbidConcurrent,
			HistoryLimit: kept, Type: v1alpha1.ScheduleTemplateType(p.kind), EmbedChaos: p.chaos}
		return t
	case p.oneShot():
		t.Deadline = new(single(over))
	default:
		t.Deadline = new(single(s.lasts(x.first)))
	}
	t.Type, t.EmbedChaos = p.kind, p.chaos.DeepCopy()
	return t
}
