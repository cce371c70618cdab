package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/scenarios"
)

// BaselineKind is what a baseline file calls itself.
const BaselineKind = "Baseline"

// Baseline is the failures that a suite is known to have. What it lists is told, and fails nobody; all else does.
type Baseline struct {
	APIVersion string         `yaml:"apiVersion"`
	Kind       string         `yaml:"kind"`
	Failures   []KnownFailure `yaml:"failures"`

	file string
}

// KnownFailure is one result of a suite that is not as expected. Only findings can be known: what nobody could decide, and a failure
// of the harness, may hide anything.
type KnownFailure struct {
	Part       string   `yaml:"part,omitempty"` // of the suite
	Scenario   string   `yaml:"scenario"`
	Dispatcher string   `yaml:"dispatcher"`
	World      string   `yaml:"world"`
	Verdict    Verdict  `yaml:"verdict"`            // valid, where invalid is expected; else invalid
	Violates   []string `yaml:"violates,omitempty"` // at most these invariants
	Because    string   `yaml:"because,omitempty"`  // a person's words, which are kept when the file is written anew
}

// sameTrial tells whether both are of one line of the suite.
func (k KnownFailure) sameTrial(o KnownFailure) bool {
	return k.Part == o.Part && k.Scenario == o.Scenario && k.Dispatcher == o.Dispatcher && k.World == o.World
}

// covers tells whether the failure seen is no worse than the known one.
func (k KnownFailure) covers(seen KnownFailure) bool {
	return k.sameTrial(seen) && k.Verdict == seen.Verdict && !slices.ContainsFunc(seen.Violates, func(name string) bool { return !slices.Contains(k.Violates, name) })
}

func (k KnownFailure) String() string {
	words := []string{k.Scenario, "against", k.Dispatcher, "in", k.World}
	if k.Part != "" {
		words = append(words, "("+k.Part+")")
	}
	text := strings.Join(words, " ") + ": " + string(k.Verdict)
	if len(k.Violates) > 0 {
		text += ", " + strings.Join(k.Violates, ", ")
	}
	return text
}

// failureOf is what a baseline would say of a result.
func failureOf(s Summary) KnownFailure {
	k := KnownFailure{Part: s.Group, Scenario: s.Scenario, Dispatcher: s.Dispatcher, World: s.World, Verdict: s.Verdict()}
	for _, name := range s.violated() {
		if !slices.Contains(s.Tolerated, name) {
			k.Violates = append(k.Violates, name)
		}
	}
	return k
}

// NoBaseline is one that knows nothing, for a file that is yet to be written.
func NoBaseline(file string) *Baseline { return &Baseline{file: file} }

// ParseBaseline reads a baseline. Errors have file, line and column.
func ParseBaseline(file string, text []byte) (*Baseline, error) {
	b := &Baseline{}
	tree, err := b.decode(text)
	b.file = file
	if err != nil {
		return nil, b.misread(err)
	}
	if err := b.judge(tree); err != nil {
		return nil, err
	}
	return b, nil
}

// mostBaseline is how large a baseline may be, in bytes.
const mostBaseline = 1 << 20

// decode reads the text; what the YAML reader panics at is an error like any other.
func (b *Baseline) decode(text []byte) (tree *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it is not YAML: %v", r)
		}
	}()
	if len(text) > mostBaseline {
		return nil, fmt.Errorf("it has %d bytes, and may have %d", len(text), mostBaseline)
	}
	if tree, err = parser.ParseBytes(text, 0); err != nil {
		return nil, err
	}
	if err = yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(b); err == io.EOF { // an empty file
		err = nil
	}
	return tree, err
}

// judge says what is wrong with a baseline that could be read.
func (b *Baseline) judge(tree *ast.File) error {
	bad := func(path, message, fix string) error {
		at := b.at(tree, path)
		return fmt.Errorf("%s: %s %s\n  fix: %s", at, CodeBaseline, message, fix)
	}
	switch {
	case b.APIVersion != scenarios.APIVersion:
		return bad("$.apiVersion", fmt.Sprintf("apiVersion is %q, expected %q", b.APIVersion, scenarios.APIVersion), "squall chaos --write-baseline "+shellWord(b.file)+" writes a baseline")
	case b.Kind != BaselineKind:
		return bad("$.kind", fmt.Sprintf("kind is %q, expected %q", b.Kind, BaselineKind), "name a file that squall chaos --write-baseline wrote")
	}
	for i, k := range b.Failures {
		path := fmt.Sprintf("$.failures[%d]", i)
		switch {
		case k.Scenario == "" || k.Dispatcher == "" || k.World == "":
			return bad(path, "a known failure needs scenario, dispatcher and world", "say which result of the suite is meant, as its table does")
		case k.Verdict != Valid && k.Verdict != Invalid:
			return bad(path+".verdict", fmt.Sprintf("verdict is %q, expected invalid, or valid where invalid should come out", k.Verdict), "only a verdict can be known; unknown is none")
		case k.Verdict == Invalid && len(k.Violates) == 0:
			return bad(path, "an invalid result violates something", "list the invariants under violates: squall explain shows their names")
		}
		for j, name := range k.Violates {
			if !slices.Contains(checker.Names(), name) {
				return bad(fmt.Sprintf("%s.violates[%d]", path, j), fmt.Sprintf("no invariant is called %q", name), nearestName(name))
			}
		}
	}
	return nil
}

func nearestName(name string) string {
	if near := history.Nearest(name, checker.Names()); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "one of " + strings.Join(checker.Names(), ", ")
}

// misread is what the YAML reader says, with the place in front.
func (b *Baseline) misread(err error) error {
	var located yaml.Error
	if errors.As(err, &located) && located.GetToken() != nil {
		p := located.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s %s\n  fix: squall chaos --write-baseline %s writes a baseline", b.file, p.Line, p.Column, CodeBaseline, located.GetMessage(), shellWord(b.file))
	}
	return fmt.Errorf("%s:1:1: %s not a baseline: %w\n  fix: name a file that squall chaos --write-baseline wrote", b.file, CodeBaseline, err)
}

// at is where the node of a path stands; the start of the file, when there is none.
func (b *Baseline) at(tree *ast.File, path string) string {
	line, column := 1, 1
	if p, err := yaml.PathString(path); err == nil && tree != nil && len(tree.Docs) > 0 {
		if node, err := p.FilterFile(tree); err == nil && node != nil && node.GetToken() != nil {
			line, column = node.GetToken().Position.Line, node.GetToken().Position.Column
		}
	}
	return fmt.Sprintf("%s:%d:%d", b.file, line, column)
}

// Changes is a suite's results against a baseline.
type Changes struct {
	File string
	// New are failures that the baseline has not, or not as bad; Known those that it has; Fixed those of the baseline that now came out
	// as expected; Unseen those of the baseline whose trial was not run, or not decided.
	New, Known, Fixed, Unseen []KnownFailure
}

// Compare sorts the results by the baseline, and marks those that are known.
func (b *Baseline) Compare(all []Summary) *Changes {
	c := &Changes{File: b.file}
	met := make([]bool, len(b.Failures))
	for i := range all {
		s := &all[i]
		seen := failureOf(*s)
		at := slices.IndexFunc(b.Failures, seen.sameTrial)
		decided := !s.Interrupted && (seen.Verdict == Valid || seen.Verdict == Invalid)
		if at >= 0 && decided {
			met[at] = true
		}
		switch {
		case s.AsExpected() && at >= 0 && decided:
			c.Fixed = append(c.Fixed, b.Failures[at])
		case s.AsExpected():
		case at >= 0 && decided && b.Failures[at].covers(seen):
			s.Known = true
			c.Known = append(c.Known, b.Failures[at])
		default:
			c.New = append(c.New, seen)
		}
	}
	for i, k := range b.Failures {
		if !met[i] {
			c.Unseen = append(c.Unseen, k)
		}
	}
	return c
}

// After is the baseline that knows the results: of what was run its failures, with the reasons that were given for them, and of the
// rest what was known before. The error says which result no baseline can take.
func (b *Baseline) After(all []Summary) (*Baseline, error) {
	next := &Baseline{APIVersion: scenarios.APIVersion, Kind: BaselineKind, Failures: []KnownFailure{}, file: b.file}
	run := make([]bool, len(b.Failures))
	for _, s := range all {
		seen := failureOf(s)
		if at := slices.IndexFunc(b.Failures, seen.sameTrial); at >= 0 {
			run[at], seen.Because = true, b.Failures[at].Because
		}
		switch {
		case s.Interrupted || seen.Verdict != Valid && seen.Verdict != Invalid:
			return nil, fmt.Errorf("%s is %s: only what was decided can be known", seen.Scenario+" against "+seen.Dispatcher, verdictWords(s))
		case !s.AsExpected():
			next.Failures = append(next.Failures, seen)
		}
	}
	for i, k := range b.Failures {
		if !run[i] {
			next.Failures = append(next.Failures, k)
		}
	}
	return next, nil
}

// Write writes the baseline's file.
func (b *Baseline) Write(w io.Writer) error {
	head := "# Failures that the suite is known to have: squall chaos --baseline tells of them, and only new ones fail it.\n" +
		"# Say why under because; squall chaos --write-baseline keeps that, and takes out what was fixed.\n"
	if _, err := io.WriteString(w, head); err != nil {
		return fmt.Errorf("write the baseline: %w", err)
	}
	if err := yaml.NewEncoder(w, yaml.IndentSequence(true)).Encode(b); err != nil {
		return fmt.Errorf("write the baseline: %w", err)
	}
	return nil
}

// headline counts.
func (c *Changes) headline() string {
	text := fmt.Sprintf("%d new, %d known, %d fixed", len(c.New), len(c.Known), len(c.Fixed))
	if len(c.Unseen) > 0 {
		text += fmt.Sprintf(", %d not seen", len(c.Unseen))
	}
	return text
}

// changeRow is one line of the comparison, with a word and a sign beside its colour.
type changeRow struct {
	Look    look
	Failure KnownFailure
}

func (c *Changes) rows() []changeRow {
	var rows []changeRow
	for _, g := range []struct {
		look look
		all  []KnownFailure
	}{{look{"new", "✗", "bad"}, c.New}, {look{"known", "≈", "warn"}, c.Known}, {look{"fixed", "✓", "good"}, c.Fixed}, {look{"not seen", "–", "warn"}, c.Unseen}} {
		for _, k := range g.all {
			rows = append(rows, changeRow{g.look, k})
		}
	}
	return rows
}

// text is the comparison for a terminal or a log.
func (c *Changes) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nagainst the baseline %s: %s\n", c.File, c.headline())
	for _, row := range c.rows() {
		fmt.Fprintf(&b, "  %s %-8s  %s\n", row.Look.Sign, row.Look.Word, row.Failure)
		if row.Failure.Because != "" {
			fmt.Fprintf(&b, "    because %s\n", row.Failure.Because)
		}
	}
	if len(c.Fixed) > 0 {
		fmt.Fprintf(&b, "take out what is fixed: squall chaos --write-baseline %s\n", shellWord(c.File))
	}
	return b.String()
}

// markdown is the comparison for a CI's step summary.
func (c *Changes) markdown() []string {
	lines := []string{"", "### Against the baseline " + code(c.File) + ": " + c.headline(), ""}
	for i, row := range c.rows() {
		if i == mostMarkdownRows {
			return append(lines, fmt.Sprintf("- and %d more: see the report.", len(c.rows())-i))
		}
		lines = append(lines, fmt.Sprintf("- %s %s: %s", row.Look.Sign, row.Look.Word, cell(row.Failure.String())))
	}
	return lines
}
