package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// Problem is one thing that is wrong with an input file.
type Problem struct {
	Code      string // explained by Explain
	File      string
	Line, Col int // counted from 1
	Message   string
	Excerpt   string // the line, with a caret below
	Fix       string // what to write instead; may be empty

	width int // of the caret
}

// String is the problem as a compiler would print it.
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s %s", p.File, p.Line, p.Col, p.Code, p.Message)
	if p.Excerpt != "" {
		b.WriteString("\n" + p.Excerpt)
	}
	if p.Fix != "" {
		b.WriteString("\n  fix: " + p.Fix)
	}
	return b.String()
}

// InputError is everything that is wrong with one input. A program that gets it has nothing to run: it
// exits with 2.
type InputError struct {
	Problems []Problem // in order of line, at most MaxProblems
	More     int       // how many there are besides
}

// MaxProblems is how many problems are reported at once: more is a wall, and most follow from the first.
const MaxProblems = 10

// Error prints every problem.
func (e *InputError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(p.String())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.More)
	}
	if len(e.Problems) > 0 {
		fmt.Fprintf(&b, "\n`squall explain %s` says more", e.Problems[0].Code)
	}
	return b.String()
}

// spot is a place in a file.
type spot = strictyaml.Spot

// form is what scenarios, settings and calibrations are to people who write them.
var form = strictyaml.Form{Noun: "scenario", Empty: "begin with `apiVersion: " + APIVersion + "`", TooLarge: "split the scenario",
	TooMany: "use count instead of a list of tasks", Useless: "write the value out"}

// source is a parsed file: its text, and where each field stands.
type source struct {
	file   string
	lines  []string
	values strictyaml.Spots // where the value of a field stands, by path: faults[0].target.node
	broken map[string]bool  // fields whose value could not be read: what it means is not judged
	// calibrationFile is what the scenario names instead of holding it; measured are the runs that are to come from there.
	calibrationFile string
	measured        []string
	strict          bool            // see parse
	misread         map[string]bool // structures with a field that is not known: that nothing is set in them means nothing
	tasks           []string        // names of all tasks, once they are known
	problems        []Problem
	more            int // problems found besides
	sink            strictyaml.Sink
}

func newSource(file, text string) *source {
	s := &source{file: file, lines: strings.Split(text, "\n"), values: strictyaml.Spots{}, broken: map[string]bool{}, misread: map[string]bool{}}
	s.sink = strictyaml.Sink{Add: s.add, Full: s.full}
	return s
}

// parse turns the text into the root node. It returns nil when something was reported.
func (s *source) parse(text string) ast.Node { return form.Read(text, s.lines, s.sink) }

// enough is how many problems are looked at: of a file with thousands, the first few are shown.
const enough = 200

// full tells that looking for more problems is not worth the time.
func (s *source) full() bool { return len(s.problems) >= enough }

// add reports a problem at a place.
func (s *source) add(at spot, code, fix, format string, args ...any) {
	if s.full() {
		s.more++
		return
	}
	s.problems = append(s.problems, Problem{Code: code, File: s.file, Line: at.Line, Col: at.Col,
		Message: fmt.Sprintf(format, args...), Fix: fix, width: at.Width})
}

// err returns what was found, or nil.
func (s *source) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(s.problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	kept := slices.Clone(s.problems[:min(len(s.problems), MaxProblems)])
	for i := range kept {
		kept[i].Excerpt = s.excerpt(spot{Line: kept[i].Line, Col: kept[i].Col, Width: kept[i].width})
	}
	return &InputError{Problems: kept, More: s.more + len(s.problems) - len(kept)}
}

// place is where the field of that path stands; for one that is not in the file, where its parent does.
func (s *source) place(path string) spot { return s.values.Of(path) }

// has tells whether the file sets the field.
func (s *source) has(path string) bool {
	_, ok := s.values[path]
	return ok
}

func (s *source) excerpt(at spot) string { return strictyaml.Excerpt(s.lines, at) }
