package reports

import (
	"strconv"
	"strings"

	"github.com/squall-chaos/squall/checker"
)

// look is how a verdict appears: a word and a sign, so that colour is never alone.
type look struct {
	Word, Sign, Class string
}

var banners = map[Verdict]look{
	Valid:   {"Valid", "✓", "good"},
	Invalid: {"Invalid", "✗", "bad"},
	Unknown: {"Unknown", "?", "warn"},
	Broken:  {"Harness failure", "!", "warn"},
}

// banner is the head of the report.
type banner struct {
	Look       look
	Invariant  string
	Promise    string
	Message    string
	Tolerated  bool
	Others     string // what else was violated
	Notes      string // whether that was to be expected, and whether it is all
	Scenario   string
	Dispatcher string
	About      string
	Facts      []fact
	Replay     string
	Rerun      string
	// ReplayWord and RerunWord say what the commands are for.
	ReplayWord, RerunWord string
}

// fact is a name with its value.
type fact struct{ Name, Value string }

func (r *Run) banner() banner {
	m := r.record().Meta
	b := banner{Look: r.look(), Notes: r.notes(), Scenario: m.Scenario, Dispatcher: m.Dispatcher, About: r.About, Replay: r.Replay()}
	if r.Bundle != "" {
		b.Rerun = r.Rerun()
	}
	b.ReplayWord, b.RerunWord = "Replay", "or, without the bundle:"
	if r.Live {
		b.ReplayWord, b.RerunWord = "Judge again", "no seed makes this run again; in sim, with the faults as they struck here:"
	}
	if v := r.First(); v != nil {
		b.Invariant, b.Message, b.Tolerated = v.Invariant, v.Message, r.tolerates(v.Invariant)
		if i := r.Report.Invariant(v.Invariant); i != nil {
			b.Promise = i.Promise
		}
		b.Others = otherViolations(r.Report, v.Invariant)
	}
	b.Facts = []fact{{"Dispatcher", m.Dispatcher}, {"World", m.World}, {"Seed", seed(m.Seed)},
		{timeWord(r.Live), seconds(r.Virtual)}, {"Wall time", seconds(r.Wall)}, {"Squall", m.Version}}
	if sc := r.Made.Scale; sc.Changes() {
		b.Facts = append(b.Facts, fact{"Times divided by", strconv.FormatFloat(max(sc.Factor, 1), 'g', -1, 64)})
	}
	if m.TraceHash != 0 {
		b.Facts = append(b.Facts, fact{"Trace hash", hash(m.TraceHash)})
	}
	return b
}

// timeWord is what the time of a run is called.
func timeWord(live bool) string {
	if live {
		return "Run time"
	}
	return "Virtual time"
}

// look is that of the verdict; but where that alone would mislead, of what it is worth.
func (r *Run) look() look {
	switch v := r.Verdict(); {
	case v == Valid && len(r.Unmet) > 0:
		return look{"Not as expected", "✗", "bad"}
	case v == Unknown && r.Interrupted:
		return look{"Interrupted", "?", "warn"}
	default:
		return banners[v]
	}
}

// notes say what the verdict does not.
func (r *Run) notes() string {
	var notes []string
	if r.Interrupted {
		notes = append(notes, "Interrupted: judged until "+seconds(r.Virtual)+".")
	}
	if r.Expected == Invalid {
		notes = append(notes, "This dispatcher is expected to fail the scenario.")
	}
	if len(r.Fitted) > 0 {
		notes = append(notes, "To fit the world: "+strings.Join(r.Fitted, "; ")+".")
	}
	if r.Made.Witness != "" {
		notes = append(notes, "The second witness: "+r.Made.Witness+".")
	}
	if len(r.Unmet) > 0 {
		notes = append(notes, "Not as expected: "+strings.Join(r.Unmet, "; ")+".")
	}
	return strings.Join(notes, " ")
}

// otherViolations counts what was violated besides the first.
func otherViolations(r checker.Report, first string) string {
	var others []string
	for _, i := range r.Invariants {
		n := i.Violated
		if i.Name == first {
			n--
		}
		if n > 0 {
			others = append(others, i.Name+" × "+strconv.Itoa(n))
		}
	}
	return strings.Join(others, ", ")
}
