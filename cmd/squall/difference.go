package main

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/squall-chaos/squall/checker/history"
)

// record is one line of a history: an operation, which stands at its call, or an event.
type record struct {
	seq  history.Seq
	text string
}

// records merges operations and events into one sequence, in words.
func records(h *history.History) []record {
	all := make([]record, 0, len(h.Operations)+len(h.Events))
	for i := range h.Operations {
		all = append(all, record{h.Operations[i].Call, operationText(h, h.Operations[i])})
	}
	for i := range h.Events {
		all = append(all, record{h.Events[i].Seq, eventText(h, h.Events[i])})
	}
	slices.SortStableFunc(all, func(a, b record) int { return int(a.seq) - int(b.seq) })
	return all
}

// complete tells whether the recorded run went to its end; one that was interrupted has no such event.
func complete(h *history.History) bool {
	return len(h.Events) > 0 && slices.ContainsFunc(h.Events[max(0, len(h.Events)-10):], func(e history.Event) bool { return e.Kind == history.Ended })
}

// sameSoFar compares the events of a run that was interrupted with those of the whole one. Calls are left out: those that
// were under way have no outcome in the first.
func sameSoFar(cut, whole *history.History) string {
	for i, e := range cut.Events {
		if i == len(whole.Events) {
			return fmt.Sprintf("the recording has %d events, and now there are %d", len(cut.Events), len(whole.Events))
		}
		if before, now := eventText(cut, e), eventText(whole, whole.Events[i]); before != now || e.Seq != whole.Events[i].Seq {
			return fmt.Sprintf("first difference, at event %d:\n  before: [%d] %s\n  now:    [%d] %s", i+1, e.Seq, before, whole.Events[i].Seq, now)
		}
	}
	return ""
}

// firstDifference names the first thing that two histories do not have in common.
func firstDifference(first, second *history.History) string {
	a, b := records(first), records(second)
	for i := range min(len(a), len(b)) {
		if !reflect.DeepEqual(a[i], b[i]) {
			return fmt.Sprintf("first difference, at record %d:\n  before: %s\n  now:    %s", i+1, a[i], b[i])
		}
	}
	switch {
	case len(a) < len(b):
		return fmt.Sprintf("the first %d records are the same; then comes one more: %s", len(a), b[len(a)])
	case len(b) < len(a):
		return fmt.Sprintf("the first %d records are the same; then one is missing: %s", len(b), a[len(b)])
	}
	return "the recorded events are the same: only choices that left no record differ"
}

func (r record) String() string { return fmt.Sprintf("[%d] %s", r.seq, r.text) }

func operationText(h *history.History, o history.Operation) string {
	text := fmt.Sprintf("%s %s %s", short(o.CalledAt), nameOf(h.Processes, o.Process), o.Verb)
	if o.Task != 0 {
		text += " " + nameOf(h.Tasks, o.Task)
	}
	if o.Token != 0 {
		text += fmt.Sprintf(" token %d", o.Token)
	}
	if o.Epoch != 0 {
		text += fmt.Sprintf(" epoch %d", o.Epoch)
	}
	if o.Detail != "" {
		text += " " + o.Detail
	}
	switch {
	case o.Return == 0:
		text += ": never returned"
	case o.Code != 0:
		text += fmt.Sprintf(": %s (%s) at %s", o.Outcome, o.Code, short(o.ReturnedAt))
	default:
		text += fmt.Sprintf(": %s at %s", o.Outcome, short(o.ReturnedAt))
	}
	if o.Outcome == history.Unknown && o.Applied == history.OK {
		text += ", but it took effect"
	}
	return text
}

func eventText(h *history.History, e history.Event) string {
	text := fmt.Sprintf("%s %s", short(e.At), e.Kind)
	for _, part := range []string{nameOf(h.Tasks, e.Task), nameOf(h.Processes, e.Process), nameOf(h.Nodes, e.Node), e.Phase.String()} {
		if part != "" {
			text += " " + part
		}
	}
	if e.Token != 0 {
		text += fmt.Sprintf(" token %d", e.Token)
	}
	if e.Epoch != 0 {
		text += fmt.Sprintf(" epoch %d", e.Epoch)
	}
	if e.Fault != 0 {
		text += fmt.Sprintf(" fault %d", e.Fault)
	}
	if e.Object != "" {
		text += " object " + e.Object
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func nameOf(table []string, id history.ID) string {
	if id >= 1 && int(id) <= len(table) {
		return table[id-1]
	}
	return ""
}
