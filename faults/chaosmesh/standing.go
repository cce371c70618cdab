package chaosmesh

import (
	"fmt"
	"strings"
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/squall-chaos/squall/checker/history"
)

// Standing is what Chaos Mesh's own records say of an object. It is the word of the one who strikes: that a fault had an effect on a
// dispatcher is for the run's own history to show.
type Standing struct {
	Stage   history.Kind // FaultPlanned, FaultStruck, FaultObserved or FaultHealed
	Victims []Victim
	Paused  bool
	// Judged tells that the controller has looked at the object at all.
	Judged bool
	// Nobody tells that the controller looked and found no Pod to strike.
	Nobody bool
	// Failure is the newest text of a failed step that no later step made good; empty: none failed.
	Failure string
}

// Victim is a Pod or a container that was selected.
type Victim struct {
	ID       string // namespace/pod, or namespace/pod/container
	Struck   bool   // injected, at least once
	Healed   bool   // recovered as often as injected
	At, Over time.Time
	Failure  string
}

// status is what all experiments have in common.
type status struct {
	Conditions []v1alpha1.ChaosCondition `json:"conditions"`
	Experiment v1alpha1.ExperimentStatus `json:"experiment"`
}

// Stand reads an object's status. Stages of an experiment: planned until a victim is injected; struck when one is; observed when
// Chaos Mesh vouches for all that it selected (AllInjected); healed when all are recovered (AllRecovered), and for kills, which leave
// nothing to recover, together with observed. A Schedule is struck by its first object, and a Workflow when it begins and healed when it
// is accomplished.
func Stand(u *unstructured.Unstructured) (Standing, error) {
	st := Standing{Stage: history.FaultPlanned}
	raw, found, err := unstructured.NestedMap(u.Object, "status")
	if err != nil {
		return st, fmt.Errorf("%s %s: read its status: %w", u.GetKind(), u.GetName(), err)
	}
	if !found {
		return st, nil
	}
	read := func(into any) error {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, into); err != nil {
			return fmt.Errorf("%s %s: its status is not as this version of Chaos Mesh's API has it: %w", u.GetKind(), u.GetName(), err)
		}
		return nil
	}
	switch u.GetKind() {
	case v1alpha1.KindSchedule:
		var s v1alpha1.ScheduleStatus
		if err := read(&s); err != nil {
			return st, err
		}
		st.schedule(s)
	case v1alpha1.KindWorkflow:
		var s v1alpha1.WorkflowStatus
		if err := read(&s); err != nil {
			return st, err
		}
		st.workflow(s)
	default:
		var s status
		if err := read(&s); err != nil {
			return st, err
		}
		st.experiment(s, oneShot(u))
	}
	return st, nil
}

func oneShot(u *unstructured.Unstructured) bool {
	action, _, _ := unstructured.NestedString(u.Object, "spec", "action")
	return u.GetKind() == v1alpha1.KindPodChaos &&
		(action == string(v1alpha1.PodKillAction) || action == string(v1alpha1.ContainerKillAction))
}

func (st *Standing) schedule(s v1alpha1.ScheduleStatus) {
	if st.Judged = !s.LastScheduleTime.IsZero(); st.Judged {
		st.Stage = history.FaultStruck
	}
	for _, o := range s.Active {
		st.Victims = append(st.Victims, Victim{ID: o.Namespace + "/" + o.Name, Struck: true})
	}
}

func (st *Standing) workflow(s v1alpha1.WorkflowStatus) {
	if st.Judged = s.StartTime != nil || len(s.Conditions) > 0; s.StartTime != nil {
		st.Stage = history.FaultStruck
	}
	for _, c := range s.Conditions {
		if c.Type == v1alpha1.WorkflowConditionAccomplished && c.Status == corev1.ConditionTrue {
			st.Stage = history.FaultHealed
		}
	}
}

func (st *Standing) experiment(s status, oneShot bool) {
	is := map[v1alpha1.ChaosConditionType]corev1.ConditionStatus{}
	for _, c := range s.Conditions {
		is[c.Type] = c.Status
	}
	st.Judged = len(s.Conditions) > 0 || len(s.Experiment.Records) > 0
	st.Paused = is[v1alpha1.ConditionPaused] == corev1.ConditionTrue
	st.Nobody = len(s.Experiment.Records) == 0 && is[v1alpha1.ConditionSelected] == corev1.ConditionFalse
	struck := 0
	var last time.Time
	for _, r := range s.Experiment.Records {
		if r == nil {
			continue
		}
		v, failedAt := victim(r)
		if v.Struck {
			struck++
		}
		if v.Failure != "" && !failedAt.Before(last) {
			st.Failure, last = v.ID+": "+v.Failure, failedAt
		}
		st.Victims = append(st.Victims, v)
	}
	if struck == 0 {
		return // AllRecovered is true of what never struck, too
	}
	st.Stage = history.FaultStruck
	injected := is[v1alpha1.ConditionAllInjected] == corev1.ConditionTrue
	if injected {
		st.Stage = history.FaultObserved
	}
	if injected && oneShot || is[v1alpha1.ConditionAllRecovered] == corev1.ConditionTrue {
		st.Stage = history.FaultHealed
	}
}

// victim reads one record; the time is that of the failure that stands last in it.
func victim(r *v1alpha1.Record) (Victim, time.Time) {
	v := Victim{ID: r.Id, Struck: r.InjectedCount > 0 || r.Phase == v1alpha1.Injected}
	v.Healed = v.Struck && r.Phase == v1alpha1.NotInjected && r.RecoveredCount > 0
	var failedAt time.Time
	for _, e := range r.Events {
		at := when(e.Timestamp)
		if e.Type == v1alpha1.TypeFailed {
			v.Failure, failedAt = fmt.Sprintf("%s: %s", verbs[e.Operation], oneLine(e.Message)), at
			continue
		}
		v.Failure = ""
		switch {
		case e.Operation == v1alpha1.Recover:
			v.Over = at
		case v.At.IsZero():
			v.At = at
		}
	}
	return v, failedAt
}

var verbs = map[v1alpha1.RecordEventOperation]string{v1alpha1.Apply: "inject", v1alpha1.Recover: "recover"}

func when(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// String is the standing in one line, for reports.
func (st Standing) String() string {
	struck := st.struck()
	text := stages[st.Stage]
	switch {
	case st.Paused:
		text += ", paused"
	case st.Nobody:
		text += ", no Pod was selected"
	case !st.Judged:
		text += ", not looked at by a controller"
	}
	if len(struck) > 0 {
		text += fmt.Sprintf(", %d of %d struck: %s", len(struck), len(st.Victims), strings.Join(struck, ", "))
	}
	if st.Failure != "" {
		text += "; failed: " + st.Failure
	}
	return text
}

var stages = map[history.Kind]string{history.FaultPlanned: "planned", history.FaultStruck: "struck",
	history.FaultObserved: "observed", history.FaultHealed: "healed"}
