package reports

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Bounds of what the full timeline carries along.
const (
	mostExplored   = 200_000  // calls; beyond it routine ones are left out
	explorerPlain  = 48 << 10 // JSON up to this size is embedded as it is, larger compressed
	mostExplorerMB = 2        // of the compressed JSON; beyond it all routine calls are left out
)

// explorer is the timeline of everything, which script draws: an addition to the figures, for who wants to look around.
type explorer struct {
	Calls, Containers int
	Left              int // routine calls that found no room
	JSON              template.JS
	// View is where the story of the page happens, as the address of that view.
	View string
}

// exploredRun is the timeline's data, in columns: a row each would be four times as large. Times are microseconds, and the times of
// columns follow each other as differences.
type exploredRun struct {
	End       int64            `json:"end"`
	From      int64            `json:"from"` // the window of the page's story
	To        int64            `json:"to"`
	Task      string           `json:"task"` // that it is about; empty: none
	Processes []string         `json:"processes"`
	Nodes     []string         `json:"nodes"`
	Tasks     []string         `json:"tasks"`
	Verbs     []string         `json:"verbs"`
	Codes     []string         `json:"codes"`
	Exits     []string         `json:"exits"`
	Calls     exploredCalls    `json:"calls"`
	Lives     exploredLives    `json:"containers"`
	Faults    []exploredSpan   `json:"faults"`
	Broken    []exploredBroken `json:"violations"`
}

// exploredCalls are the calls; IDs are those of the tables, from 1.
type exploredCalls struct {
	At      []int64 `json:"at"`
	Took    []int64 `json:"took"` // -1: the caller never heard of it again
	Process []int   `json:"process"`
	Task    []int   `json:"task"`
	Verb    []int   `json:"verb"`
	Outcome []int   `json:"outcome"` // 0 ok, 1 refused, 2 unknown
	Code    []int   `json:"code"`
}

// exploredLives are the containers.
type exploredLives struct {
	At      []int64 `json:"at"`
	Took    []int64 `json:"took"` // -1: alive at the end of the record
	Node    []int   `json:"node"`
	Task    []int   `json:"task"`
	Worked  []int   `json:"worked"`  // 0: the store did not let it begin
	Counted []int   `json:"counted"` // results
	Exit    []int   `json:"exit"`
}

type exploredSpan struct {
	At   int64  `json:"at"`
	Took int64  `json:"took"`
	What string `json:"what"`
}

type exploredBroken struct {
	At        int64  `json:"at"`
	Invariant string `json:"invariant"`
	Task      string `json:"task"`
	Message   string `json:"message"`
}

// explore gathers what the full timeline shows.
func (s *scene) explore() (explorer, error) {
	x := explorer{Containers: len(s.containers)}
	calls, left := s.explored(len(s.h.Operations) > mostExplored)
	text, err := s.explorerJSON(calls)
	if err == nil && len(text) > mostExplorerMB<<20 && left == 0 {
		calls, left = s.explored(true)
		text, err = s.explorerJSON(calls)
	}
	if err != nil {
		return x, err
	}
	x.Calls, x.Left, x.JSON = len(calls), left, template.JS(text)
	x.View = fmt.Sprintf("#full?from=%d&to=%d", s.from.Microseconds(), s.to.Microseconds())
	if s.task != 0 {
		x.View += "&by=task&task=" + template.URLQueryEscaper(s.taskName())
	}
	return x, nil
}

// explored are the calls to show, in order, and how many of them are not.
func (s *scene) explored(telling bool) ([]history.Operation, int) {
	if !telling {
		return s.h.Operations, 0
	}
	var kept []history.Operation
	for _, o := range s.h.Operations {
		if !routine(o) && len(kept) < mostExplored {
			kept = append(kept, o)
		}
	}
	return kept, len(s.h.Operations) - len(kept)
}

// explorerJSON is safe to stand in a script element: encoding/json escapes <, > and &.
func (s *scene) explorerJSON(calls []history.Operation) ([]byte, error) {
	text, err := json.Marshal(s.exploredRun(calls))
	if err != nil {
		return nil, fmt.Errorf("encode the full timeline: %w", err)
	}
	if len(text) <= explorerPlain {
		return text, nil
	}
	packed, err := pack(text)
	if err != nil {
		return nil, err
	}
	return []byte(`"` + base64.StdEncoding.EncodeToString(packed) + `"`), nil
}

func (s *scene) exploredRun(calls []history.Operation) exploredRun {
	run := exploredRun{End: s.end.Microseconds(), From: s.from.Microseconds(), To: s.to.Microseconds(), Task: s.taskName(),
		Processes: notNil(s.h.Processes), Nodes: notNil(s.h.Nodes), Tasks: notNil(s.h.Tasks), Calls: s.exploredCalls(calls)}
	for v := history.Submit; v <= history.PutLease; v++ {
		run.Verbs = append(run.Verbs, v.String())
	}
	highest := slices.Max(append(slices.Clone(run.Calls.Code), 0))
	for c := range highest + 1 {
		run.Codes = append(run.Codes, history.Code(c).String())
	}
	run.Lives, run.Exits = s.exploredLives()
	run.Faults, run.Broken = []exploredSpan{}, []exploredBroken{}
	for _, f := range s.truth.faults {
		if f.Struck {
			run.Faults = append(run.Faults, exploredSpan{f.StruckAt.Microseconds(), (f.until(s.end) - f.StruckAt).Microseconds(), f.What})
		}
	}
	const most = 200
	for _, v := range s.run.Report.Violations[:min(most, len(s.run.Report.Violations))] {
		run.Broken = append(run.Broken, exploredBroken{v.At.Microseconds(), v.Invariant, v.Task, v.Message})
	}
	return run
}

func (s *scene) exploredCalls(calls []history.Operation) exploredCalls {
	n := len(calls)
	c := exploredCalls{make([]int64, n), make([]int64, n), make([]int, n), make([]int, n), make([]int, n), make([]int, n), make([]int, n)}
	var last time.Duration
	for i, o := range calls {
		c.At[i], c.Took[i] = o.CalledAt.Microseconds()-last.Microseconds(), -1
		last = o.CalledAt
		if o.Return != 0 || o.ReturnedAt != 0 {
			c.Took[i] = (o.ReturnedAt - o.CalledAt).Microseconds()
		}
		c.Process[i], c.Task[i], c.Verb[i], c.Code[i] = int(o.Process), int(s.taskOf(&o)), int(o.Verb), int(o.Code)
		switch o.Outcome {
		case history.Fail:
			c.Outcome[i] = 1
		case history.Unknown:
			c.Outcome[i] = 2
		}
	}
	return c
}

func (s *scene) exploredLives() (exploredLives, []string) {
	n := len(s.containers)
	c := exploredLives{make([]int64, n), make([]int64, n), make([]int, n), make([]int, n), make([]int, n), make([]int, n), make([]int, n)}
	exits := []string{""}
	var last time.Duration
	for i, own := range s.containers {
		c.At[i], c.Took[i] = own.From.Microseconds()-last.Microseconds(), -1
		last = own.From
		if own.Ended {
			c.Took[i] = (own.To - own.From).Microseconds()
		}
		c.Node[i], c.Task[i] = int(own.Node), int(own.Task)
		if own.Worked {
			c.Worked[i] = 1
		}
		for _, e := range own.Effects {
			if e.Counted {
				c.Counted[i]++
			}
		}
		at := slices.Index(exits, own.Exit)
		if at < 0 {
			at = len(exits)
			exits = append(exits, own.Exit)
		}
		c.Exit[i] = at
	}
	return c, exits
}
