package chaosmesh

import (
	"fmt"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Entry is a line of the fault ledger, out of Chaos Mesh's own records.
type Entry struct {
	Fault  int // index in the plan
	Stage  history.Kind
	At     time.Time // when the records say so; zero: they do not
	Detail string
}

// Ledger is what an object's standing says of the faults that it is: planned, struck with its victims, observed once Chaos Mesh vouches for
// all of them, healed. What failed stands with the stage that it kept the fault in. A Workflow and a Schedule tell of all their faults at once, and not
// which of them struck.
func Ledger(o Object, st Standing) []Entry {
	var all []Entry
	for _, fault := range o.Faults {
		add := func(stage history.Kind, at time.Time, detail string) {
			all = append(all, Entry{Fault: fault, Stage: stage, At: at, Detail: detail})
		}
		add(history.FaultPlanned, time.Time{}, o.name())
		if st.reached(history.FaultStruck) {
			add(history.FaultStruck, st.first(), strings.Join(st.struck(), ", "))
		}
		if st.reached(history.FaultObserved) {
			add(history.FaultObserved, st.last(func(v Victim) time.Time { return v.At }), fmt.Sprintf("all %d, by Chaos Mesh's records", len(st.Victims)))
		}
		if st.reached(history.FaultHealed) {
			add(history.FaultHealed, st.last(func(v Victim) time.Time { return v.Over }), "")
		}
		if last := &all[len(all)-1]; st.Failure != "" {
			last.Detail = strings.TrimPrefix(last.Detail+"; failed: "+st.Failure, "; ")
		}
	}
	return all
}

// stageOrder is the order in which a fault goes through its stages.
var stageOrder = []history.Kind{history.FaultPlanned, history.FaultStruck, history.FaultObserved, history.FaultHealed}

// reached tells whether the records vouch for a stage. What healed may not have struck all that it was to strike, and a Workflow has no
// victims of its own to vouch for.
func (st Standing) reached(stage history.Kind) bool {
	if n := len(st.struck()); stage == history.FaultObserved && (n == 0 || n < len(st.Victims)) {
		return false
	}
	for i := len(stageOrder) - 1; i >= 0 && stageOrder[i] != stage; i-- {
		if stageOrder[i] == st.Stage {
			return true
		}
	}
	return st.Stage == stage
}

func (st Standing) struck() []string {
	var ids []string
	for _, v := range st.Victims {
		if v.Struck {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

// first is when the first victim was struck.
func (st Standing) first() time.Time {
	var first time.Time
	for _, v := range st.Victims {
		if !v.At.IsZero() && (first.IsZero() || v.At.Before(first)) {
			first = v.At
		}
	}
	return first
}

// last is the latest of the victims' times.
func (st Standing) last(of func(Victim) time.Time) time.Time {
	var last time.Time
	for _, v := range st.Victims {
		if of(v).After(last) {
			last = of(v)
		}
	}
	return last
}
