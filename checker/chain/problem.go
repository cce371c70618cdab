package chain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// Place is where something stands.
type Place struct {
	File      string `json:"file"`
	Line      int    `json:"line"` // counted from 1
	Col       int    `json:"column"`
	Elsewhere bool   `json:"elsewhere,omitempty"` // in a git object, where no editor finds it
}

// String is in the form that editors can jump to.
func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Problem is one thing that is wrong with a chain file or with what it points to.
type Problem struct {
	Code string
	Place
	Message string
	Excerpt string // the line, with a caret below
	Fix     string
}

// String is the problem as a compiler would print it.
func (p Problem) String() string {
	text := fmt.Sprintf("%s: %s %s", p.Place, p.Code, p.Message)
	if p.Excerpt != "" {
		text += "\n" + p.Excerpt
	}
	if p.Fix != "" {
		text += "\n  fix: " + p.Fix
	}
	return text
}

// InputError is everything that is wrong with a chain. A program that gets it has nothing to check: it exits with 2.
type InputError struct {
	Problems []Problem // in order, at most MaxProblems
	More     int
}

// MaxProblems is how many problems are reported at once: more is a wall, and most follow from the first.
const MaxProblems = 10

// Error prints every problem.
func (e *InputError) Error() string {
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	if len(e.Problems) > 0 {
		lines = append(lines, fmt.Sprintf("`squall explain %s` says more", e.Problems[0].Code))
	}
	return strings.Join(lines, "\n")
}

// spot is a place in the chain file.
type spot = strictyaml.Spot

// notes are the chain file's text, where each field stands, and what is wrong.
type notes struct {
	file     string
	lines    []string
	spots    strictyaml.Spots
	problems []Problem
}

// enough is how many problems are looked at.
const enough = 200

func (n *notes) full() bool { return len(n.problems) >= enough }

// sink takes what package strictyaml finds.
func (n *notes) sink() strictyaml.Sink { return strictyaml.Sink{Add: n.add, Full: n.full} }

// add reports a problem at a place in the chain file.
func (n *notes) add(at spot, code, fix, format string, args ...any) {
	n.report(Problem{Code: code, Place: Place{File: n.file, Line: at.Line, Col: at.Col}, Excerpt: strictyaml.Excerpt(n.lines, at),
		Fix: fix, Message: fmt.Sprintf(format, args...)})
}

// at reports a problem with the field of that path.
func (n *notes) at(path, code, fix, format string, args ...any) {
	n.add(n.place(path), code, fix, format, args...)
}

func (n *notes) report(p Problem) {
	if !n.full() && !slices.Contains(n.problems, p) {
		n.problems = append(n.problems, p)
	}
}

// err returns what was found, or nil. Problems with the chain file come in order of line.
func (n *notes) err() error {
	if len(n.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(n.problems, func(a, b Problem) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	kept := slices.Clone(n.problems[:min(len(n.problems), MaxProblems)])
	return &InputError{Problems: kept, More: len(n.problems) - len(kept)}
}

// place is where the field of that path stands; for one that is not in the file, where its parent does.
func (n *notes) place(path string) spot { return n.spots.Of(path) }

// placeOf is place for a finding.
func (n *notes) placeOf(path string) Place {
	at := n.place(path)
	return Place{File: n.file, Line: at.Line, Col: at.Col}
}
