package causes

import (
	"fmt"
	"strings"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/faults"
)

// remedy names the single change that averts the failure: of a setting; else of the dispatcher; else that a fault does not come.
func (e *Explanation) remedy() {
	switch m, f := e.nearest(); {
	case m != nil:
		e.Remedy = m.Name + " from " + m.Value + " to " + f.At
		if f.Safe != "" {
			e.Remedy += "; to " + f.Safe + " it keeps the rules of settings as well"
		}
	case e.ReferenceHolds:
		e.Remedy = "what the reference dispatcher does instead: under the same seed and the same faults it is valid"
	default:
		for _, m := range e.Faults {
			if len(m.Flips) > 0 && m.Flips[0].whole() {
				e.Remedy = "without this fault: " + m.Name
				return
			}
		}
	}
}

// nearest is the setting that has to move least, in relation to what it is, where nothing else comes of it, the rules are kept, and
// a little more does not undo it. Nil: there is none.
func (e *Explanation) nearest() (*Matter, *Flip) {
	var of *Matter
	var best *Flip
	for i := range e.Settings {
		m := &e.Settings[i]
		for k := range m.Flips {
			if f := &m.Flips[k]; f.whole() && f.Rules != Broken && !f.Patchy && (best == nil || f.price < best.price) {
				of, best = m, f
			}
		}
	}
	return of, best
}

// whole tells that nothing else comes of it.
func (f Flip) whole() bool { return f.Then == checker.Valid.String() }

// sentence is the cause in one sentence.
func (e *Explanation) sentence(summary string, plan faults.Plan) string {
	var needed []string
	for _, m := range e.Faults {
		if m.Verdict == Flips {
			needed = append(needed, m.Name)
		}
	}
	text := fmt.Sprintf("%s violates %s", e.Dispatcher, e.Invariant)
	switch {
	case len(needed) > 0:
		text += " because " + and(needed)
	case len(e.Enough) > 0:
		for _, n := range e.Enough {
			needed = append(needed, plan[n-1].String())
		}
		text += " because of faults of which no single one is needed; enough is that " + and(needed)
	default:
		text += ", and no fault is needed for it"
	}
	if m, f := e.nearest(); m != nil {
		text += fmt.Sprintf(", with %s at %s (%s)", m.Name, m.Value, f.Words())
	}
	if e.ReferenceHolds && summary != "" {
		text += "; its defect: " + summary
	}
	return text + "."
}

func and(parts []string) string {
	const most = 3
	if n := len(parts); n > most {
		parts = append(parts[:most:most], fmt.Sprintf("%d more", n-most))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// Words are the verdict in words.
func (v Verdict) Words() string {
	if v == Chance {
		return "only shifts the timing"
	}
	return string(v)
}

// Words say at which value the verdict flips, and what comes of it.
func (f Flip) Words() string {
	text := f.At
	switch {
	case f.At == leftOut:
	case f.Patchy:
		text = "at " + f.At
	case f.Upward:
		text = "from " + f.At + " on"
	default:
		text = "at " + f.At + " and below"
	}
	if f.What != "" {
		text = f.What + " " + text
	}
	text += " it holds"
	if f.Then != checker.Valid.String() {
		text += ", but: " + f.Then
	}
	if f.Patchy {
		text += ", not at every value beyond"
	}
	switch {
	case f.Safe != "":
		text += ", from " + f.Safe + " on within the rules"
	case f.Rules == Broken:
		text += ", against the rules"
	}
	return text
}
