package linearize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
)

// explain describes the task on which the search is stuck.
func (c *ledgerCheck) explain(task history.ID) Failure {
	f := Failure{Task: task, Culprit: -1, Prefix: c.search.settled}
	for i := range c.ops {
		if n := c.ops[i].index; n >= 0 {
			f.Operations = append(f.Operations, int(n))
		}
	}
	name := nameOf(c.h.Tasks, task, "task")
	if c.referred {
		f.Explanation = fmt.Sprintf("no order of the %d operations on task %s explains all of their answers", len(c.ops), name)
		return f
	}
	culprit := &c.search.ops[c.search.culprit]
	f.Culprit = int(culprit.index)
	f.Explanation = fmt.Sprintf("%s fits in no order: %s the row of task %s can only be %s", sentence(c.h, culprit),
		afterThe(c.search.settled), name, possible(c.h, &c.search, row.String))
	return f
}

// explain describes the role on which the search is stuck.
func (c *leadershipCheck) explain(r *roleCheck) Failure {
	f := Failure{Role: r.role, Culprit: -1, Prefix: r.search.settled}
	if r.referred {
		f.Explanation = fmt.Sprintf("no order of the operations under the epochs of the %s explains all of their answers", r.role)
		return f
	}
	culprit := &r.search.ops[r.search.culprit]
	f.Culprit = int(culprit.index)
	f.Explanation = fmt.Sprintf("%s fits in no order: %s the newest epoch of the %s can only be %s", sentence(c.h, culprit),
		afterThe(r.search.settled), r.role, possible(c.h, &r.search, term.String))
	f.Operations = r.around()
	return f
}

// around is what was open around the culprit, with the Leads that made the epochs possible there.
func (r *roleCheck) around() (operations []int) {
	for i := range r.search.open {
		operations = append(operations, int(r.search.ops[r.search.order[i]].index))
	}
	for _, c := range r.search.now.items {
		if c.last >= 0 {
			operations = append(operations, int(c.last))
		}
	}
	slices.Sort(operations)
	return slices.Compact(operations)
}

func afterThe(settled int) string {
	switch settled {
	case 0:
		return "at the start"
	case 1:
		return "after the one operation that returned before it"
	}
	return fmt.Sprintf("after the %d operations that returned before it", settled)
}

// possible lists the states that the search is left with, each with the operation that made it.
func possible[S comparable](h *history.History, s *search[S], word func(S) string) string {
	return eitherOf(s.now.items, func(c config[S]) string {
		text := word(c.state)
		if c.last >= 0 {
			o := &h.Operations[c.last]
			text += fmt.Sprintf(" (since %s by %s, call #%d)", o.Verb, nameOf(h.Processes, o.Process, "process"), o.Call)
		}
		return text
	})
}

// eitherOf joins what is different, and no more than three.
func eitherOf[T any](items []T, word func(T) string) string {
	var words []string
	for _, item := range items {
		if w := word(item); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if more := len(words) - 3; more > 0 {
		words = append(words[:3], fmt.Sprintf("one of %d more states", more))
	}
	return strings.Join(words, ", or ")
}

// sentence says what an operation was and what was answered.
func sentence(h *history.History, o *op) string {
	if o.verb == lapse {
		return "the end of the start deadline"
	}
	if o.index < 0 {
		return "a claim whose tasks nobody recorded"
	}
	from := &h.Operations[o.index]
	text := fmt.Sprintf("%s by %s%s %s", from.Verb, nameOf(h.Processes, from.Process, "process"), credentials(from), reply(from, o))
	if from.Return != 0 && from.Outcome != history.Unknown {
		return fmt.Sprintf("%s (call #%d, return #%d)", text, from.Call, from.Return)
	}
	return fmt.Sprintf("%s (call #%d)", text, from.Call)
}

// credentials is what the caller showed.
func credentials(o *history.Operation) string {
	if o.Verb == history.Read {
		return ""
	}
	var parts []string
	if o.Token != 0 {
		parts = append(parts, fmt.Sprintf("token %d", o.Token))
	}
	if o.Epoch != 0 {
		parts = append(parts, fmt.Sprintf("epoch %d", o.Epoch))
	}
	if o.Detail != "" {
		parts = append(parts, o.Detail)
	}
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

func reply(from *history.Operation, o *op) string {
	switch o.answer {
	case missing:
		return "found no row"
	case refused:
		return "was refused"
	case conflicting:
		return "met a conflict"
	case fenced:
		return "was fenced"
	}
	switch {
	case o.optional:
		return "may have happened"
	case from.Verb == history.Read:
		return fmt.Sprintf("read %s with token %d", from.Phase, from.Token)
	case from.Outcome == history.Unknown:
		return "took effect, says the server's log,"
	case from.Phase != history.NoPhase:
		return fmt.Sprintf("was accepted and left the task %s", from.Phase)
	}
	return "was accepted"
}

// nameOf is a name from a table, or a number where the history has none.
func nameOf(names []string, id history.ID, what string) string {
	if id > 0 && int(id) <= len(names) {
		return names[id-1]
	}
	return fmt.Sprintf("%s %d", what, id)
}

// String says what a reader of the row would see, and what binds it.
func (r row) String() string {
	if r.phase == history.NoPhase {
		return "missing"
	}
	text := r.phase.String()
	if r.stage != idle {
		text += ", " + [...]string{"idle", "launching", "launched", "executing"}[r.stage]
	}
	if n := r.shown(); n != 0 {
		text += " with token " + number(n)
	}
	if r.cancelling && !r.phase.Terminal() {
		text += ", to be cancelled"
	}
	if r.cleanup {
		text += ", cleanup owed"
	}
	return text
}

// String is the epoch, or none.
func (t term) String() string {
	if t == 0 {
		return "none"
	}
	return number(uint64(t))
}

// number is a token or epoch as people know it.
func number(n uint64) string {
	if n&1 == 1 {
		return fmt.Sprintf("one above %d that nobody saw", n>>1)
	}
	return fmt.Sprint(n >> 1)
}
