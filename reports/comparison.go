package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// Comparison is what comparing settings came to, as reports tell it.
type Comparison struct {
	*experiment.Result
	Command string // that makes it again
	Wall    time.Duration
	// Cases are the counterexamples that were kept, by cell.
	Cases map[int]Case
	// Confirmed are runs of some of the settings in a world where everything is real.
	Confirmed []Confirmation
	// Places are where the chain's values stand, by setting; nil: nobody gave a chain file.
	Places map[string]Place
}

// Case is a counterexample: a run under which a setting was unsafe, kept as a bundle.
type Case struct {
	Scenario string
	Seed     uint64
	Violated []string
	Story    string
	Bundle   string // empty: it was not kept
	Report   string
	Replay   string // the command
	Note     string // what is to be said of it besides
	// Minimal is the command that runs the smallest scenario found that fails in the same way, and Size how large that is. Empty: it was not shrunk.
	Minimal, Size string
}

// Confirmation is a run of a cell in a real world.
type Confirmation struct {
	Cell     int
	World    string
	Verdict  Verdict
	Violated []string
	Report   string
	Note     string // why it was not run, or what else there is to say
}

// Place is where a value of the chain stands and who owns it.
type Place struct{ At, Owner string }

// name is what a cell is called, the baseline said.
func (c *Comparison) name(cell int) string { return c.Cells[cell].Name }

// Headline is the recommendation in one sentence.
func (c *Comparison) Headline() string {
	runs := thousands(c.runs())
	switch {
	case c.NoDifference:
		return fmt.Sprintf("No difference shown: all %d settings that keep the rules were safe in all %s runs, and neither cost nor recovery latency differs by more than chance. %s may stay.",
			len(c.Like)+1, runs, c.name(c.Winner))
	case c.Winner >= 0 && len(c.Cells) == 1:
		return fmt.Sprintf("%s was safe in all %s runs; there was nothing to compare it with.", c.name(c.Winner), runs)
	case c.Winner >= 0 && c.Sound == 1:
		return fmt.Sprintf("Take %s: no other setting was safe in all %s runs and keeps the rules.", c.name(c.Winner), runs)
	case c.Winner >= 0:
		return fmt.Sprintf("Take %s: of the %d settings that were safe in all %s runs and keep the rules it %s.", c.name(c.Winner), c.Sound, runs, c.merit())
	case c.Unruly >= 0:
		return fmt.Sprintf("Nothing is recommended: %s was safe in all %s runs, but its settings break a rule, and runs that happened to go well are no proof.",
			c.name(c.Unruly), runs)
	case c.Least >= 0:
		u := c.Cells[c.Least].Unsafe
		return fmt.Sprintf("No setting is safe. The fewest unsafe runs has %s: %s.", c.name(c.Least), shareWords(u))
	}
	return "Nothing is recommended: no setting could be decided."
}

func (c *Comparison) runs() int { return c.Count * len(c.Workloads) }

// merit is what the winner has before the others.
func (c *Comparison) merit() string {
	switch {
	case c.OnPrice && c.OnSpeed:
		return "is the cheapest, and of those that cost the same the fastest to recover"
	case c.OnPrice:
		return "is the cheapest"
	}
	return "recovers fastest; no difference in cost is shown"
}

// price is what the winner costs against the fastest unsafe setting.
func (c *Comparison) price() string {
	base := c.Cells[c.Fastest].Estimates[measureIndex("cost")].Mean.Value
	return fmt.Sprintf("The price, against the fastest unsafe setting (%s): recovery latency %s; cost %s.", c.name(c.Fastest),
		paid(*c.RecoveryPaid, " s", 1), paid(*c.CostPaid, " %", 100/base))
}

// paid writes a difference with its interval, or that none is shown.
func paid(d experiment.Interval, unit string, times float64) string {
	if d.N < 2 || d.Holds(0) || math.IsInf(times, 0) {
		return "no difference shown"
	}
	return fmt.Sprintf("%s%s (%s to %s)", signed(d.Value*times), unit, signed(d.Low*times), signed(d.High*times))
}

func measureIndex(key string) int {
	for i, m := range experiment.Measures() {
		if m.Key == key {
			return i
		}
	}
	panic("no measure " + key)
}

// Remarks are what must be said beside the recommendation.
func (c *Comparison) Remarks() []string {
	var all []string
	if c.Winner >= 0 && c.Fastest >= 0 {
		all = append(all, c.price())
	}
	if c.Winner >= 0 {
		all = append(all, fmt.Sprintf("None of %s was unsafe under %s: with 95 %% confidence that happens in fewer than %s of such runs.",
			count(c.runs(), "run", "runs"), c.name(c.Winner), percent(c.Cells[c.Winner].Unsafe.High)))
	}
	if n := len(c.Like); n > 0 && !c.NoDifference {
		var names []string
		for _, i := range c.Like {
			names = append(names, c.name(i))
		}
		all = append(all, fmt.Sprintf("No difference in cost or recovery latency to it is shown of %s.", firstNames(names, 4)))
	}
	if u := c.Unruly; u >= 0 {
		broken := c.Cells[u].Broken()
		all = append(all, fmt.Sprintf("%s was safe in all runs as well, but breaks a rule: %s.", c.name(u), broken[0]))
	}
	for _, l := range c.Lines {
		for _, cliff := range l.Cliffs {
			all = append(all, c.cliffWords(l, cliff))
		}
	}
	return all
}

// firstNames writes the first few names.
func firstNames(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// cliffWords compares where the verdict flips with where the rules say that it may.
func (c *Comparison) cliffWords(l experiment.Line, cliff experiment.Cliff) string {
	a := c.Axes[l.Axis]
	unsafe, safe := c.Cells[cliff.Unsafe].Point[l.Axis], c.Cells[cliff.Safe].Point[l.Axis]
	text := fmt.Sprintf("The cliff of %s lies between %s (unsafe in %s) and %s (safe in all).", a.Name, a.Text(unsafe),
		shareWords(c.Cells[cliff.Unsafe].Unsafe), a.Text(safe))
	var derived, spare []string
	for _, r := range cliff.Rules {
		derived = append(derived, a.Text(r.Holds)+" ("+r.Finding.Rule+")")
		spare = append(spare, a.Text(max(r.Holds-safe, safe-r.Holds)))
	}
	switch {
	case len(derived) == 0:
		text += " No rule of the chain says anything of it."
	case !cliff.Enough && len(c.Cells[cliff.Safe].Broken()) > 0: // what satisfies the rules lies beyond the sweep
		text += fmt.Sprintf(" At %s the rules are not kept yet: %s.", a.Text(safe), c.Cells[cliff.Safe].Broken()[0])
	case !cliff.Enough:
		text += fmt.Sprintf(" The rules derive %s, which is NOT enough under these faults.", derived[0])
	default:
		text += fmt.Sprintf(" The rules derive %s: %s more than these runs needed.", strings.Join(derived, " and "), strings.Join(spare, " and "))
	}
	return text
}

// boundWords sets the longest recovery on the safe side of a cliff beside B.
func boundWords(cliff experiment.Cliff) string {
	return fmt.Sprintf("On the safe side B is %s, and the longest recovery took %s, time under faults included.", experiment.Short(cliff.B), seconds(cliff.Worst.Round(100*time.Millisecond)))
}

// verdictOf is a cell's verdict in the words of reports.
func verdictOfCell(c experiment.CellResult) Verdict {
	switch c.Verdict {
	case checker.Valid:
		return Valid
	case checker.Invalid:
		return Invalid
	}
	return Unknown
}

// Verdict is what the comparison counts as: it is valid if there is a setting to recommend.
func (c *Comparison) Verdict() Verdict {
	switch {
	case c.Winner >= 0:
		return Valid
	case c.Least >= 0 || c.Unruly >= 0:
		return Invalid
	}
	return Unknown
}

// shareWords writes how many of how many, with the interval.
func shareWords(s experiment.Share) string {
	if s.Count == 0 {
		return fmt.Sprintf("0 of %s, fewer than %s", thousands(s.N), percent(s.High))
	}
	return fmt.Sprintf("%s of %s, %s to %s", thousands(s.Count), thousands(s.N), percent(s.Low), percent(s.High))
}

func percent(share float64) string {
	v := 100 * share
	switch {
	case v == 0 || v == 100:
		return strconv.FormatFloat(v, 'f', 0, 64) + " %"
	case v < 1 || v > 99 && v < 100:
		return strconv.FormatFloat(v, 'f', 2, 64) + " %"
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " %"
}

// amount writes a measured value with three digits or so.
func amount(v float64) string {
	switch a := math.Abs(v); {
	case math.IsInf(v, 0) || math.IsNaN(v):
		return "?"
	case a == 0:
		return "0"
	case a >= 10_000:
		return thousands(int(math.Round(v)))
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.01:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// signed is amount with a sign; a true minus, as wide as the plus.
func signed(v float64) string {
	if v > 0 {
		return "+" + amount(v)
	}
	return strings.Replace(amount(v), "-", "\u2212", 1)
}

// intervalWords is an estimate with its interval.
func intervalWords(i experiment.Interval) string {
	switch {
	case i.N == 0:
		return "–"
	case i.N == 1:
		return amount(i.Value) + " (one run)"
	case i.Low == i.High:
		return amount(i.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", amount(i.Value), amount(i.Low), amount(i.High))
}

// Assumptions are what the method takes for granted and leaves out, for every report.
func (c *Comparison) Assumptions() []string {
	all := []string{
		fmt.Sprintf("Every setting met the same %s: %s of %s, dispatcher %s. Tasks, lengths of work and faults are drawn once per seed, for the scenario's own settings; differences are taken within seeds.",
			count(c.runs(), "run", "runs"), c.seedWords(), strings.Join(c.Workloads, ", "), c.System),
		"Unsafe is a run with a violation that counts; unknown is not safe. Shares have the exact interval of Clopper and Pearson; of none in n the upper bound is one-sided.",
		"Means and differences have Student's interval. A difference is shown if its interval leaves 0 out and the sign test, corrected after Holm for there being several settings, does not put it down to chance. Verdicts are compared with McNemar's exact test.",
		"Percentiles of recovery latency are of all losses together; their interval is that of a bootstrap over whole runs. A recovery lasts from when a running row had nothing alive to when its row moved on, time under faults included; shorter times than create_timeout are no loss.",
		"A pod-second is a second that a container ran; the time that a pod waits, or pulls its image, is not charged. Wasted are those whose work had no result that counted.",
		"A deadline kill is of healthy work if the work would have ended within the deadline that the scenario's own settings give it, and no fault made it longer.",
		"Start delay is from submission to the first execution, by the machine that it was on.",
		"The simulation models what dispatchers trip over, not everything: one image, one resource, no preemption. Its verdict is about the protocol; the one that counts is kind's.",
	}
	if !c.Prices.Given {
		all = append(all, "No prices were given: cost is in pod-seconds, spot or not.")
	} else {
		all = append(all, fmt.Sprintf("Prices of a pod-second: %g on-demand, %g spot.", c.Prices.OnDemand, c.Prices.Spot))
	}
	if c.Sampled {
		all = append(all, "The grid of the sweep is too large to run whole: its points are from a Halton sequence, and more were added where the verdict flips.")
	}
	return all
}

func (c *Comparison) seedWords() string {
	if c.Count == 1 {
		return "seed " + seed(c.From)
	}
	return "seeds " + seed(c.From) + " to " + seed(c.From+uint64(c.Count)-1)
}
