// Package findings writes what a check of a chain found: for people, for programs, and in the forms that CI systems show beside the
// lines of a change.
package findings

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/chain"
)

// The formats.
const (
	Text     = "text"
	JSON     = "json"
	SARIF    = "sarif"
	JUnit    = "junit"
	GitHub   = "github"
	GitLab   = "gitlab"
	Markdown = "markdown"
)

// Formats lists all formats.
func Formats() []string { return []string{Text, JSON, SARIF, JUnit, GitHub, GitLab, Markdown} }

// Document is a report with what a format needs besides.
type Document struct {
	chain.Report
	Version string // of Squall
	// Title of a code, for formats that describe rules.
	Title func(code string) string
	// Relative makes a file's name one from the root of the repository, as CI systems know it.
	Relative func(file string) string
}

// Write writes the document in a format.
func Write(w io.Writer, format string, d Document) error {
	var err error
	switch format {
	case Text:
		_, err = io.WriteString(w, Plain(d.Report, Ink{}, false))
	case JSON:
		err = writeJSON(w, d)
	case SARIF:
		err = writeSARIF(w, d)
	case JUnit:
		err = writeJUnit(w, d)
	case GitHub:
		err = writeGitHub(w, d)
	case GitLab:
		err = writeGitLab(w, d)
	case Markdown:
		err = writeMarkdown(w, d)
	default:
		panic(fmt.Sprintf("format %q was let through", format))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", format, err)
	}
	return nil
}

// writeJSON writes the report as it is, with the schema's version first.
func writeJSON(w io.Writer, d Document) error {
	if d.Findings == nil {
		d.Findings = []chain.Finding{} // a list, whatever is in it
	}
	return indented(w, struct {
		Schema  string `json:"schema"`
		Squall  string `json:"squall"`
		Passed  bool   `json:"passed"`
		Errors  int    `json:"errors"`
		Warning int    `json:"warnings"`
		chain.Report
	}{"squall/lint/v1", d.Version, d.Errors() == 0, d.Errors(), len(d.Findings) - d.Errors(), d.Report})
}

func indented(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// sentence is the whole finding in a few sentences, for formats that take one text.
func sentence(f chain.Finding) string {
	parts := []string{f.Message + "."}
	if f.Harm != "" {
		parts = append(parts, "What will happen: "+f.Harm+".")
	}
	for _, p := range partsOf(f) {
		parts = append(parts, fmt.Sprintf("%s = %s at %s (%s).", p.Link, p.Value, p.Place, either(p.Owner, "derived")))
	}
	if fixes := fixWords(f); fixes != "" {
		parts = append(parts, "Fix: "+fixes+".")
	}
	return strings.Join(append(parts, proofWords(f)...), " ")
}

// partsOf are the links that a finding compares, each once.
func partsOf(f chain.Finding) []chain.Part {
	var parts []chain.Part
	for _, s := range []*chain.Side{f.Left, f.Right} {
		if s == nil {
			continue
		}
		for _, p := range s.Parts {
			if !slices.Contains(parts, p) {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

func fixWords(f chain.Finding) string {
	var ways []string
	for _, x := range f.Fixes {
		text := x.Text
		if x.Owner != "" {
			text = x.Owner + ": " + text
		}
		ways = append(ways, text)
	}
	return strings.Join(ways, "; or ")
}

func proofWords(f chain.Finding) []string {
	p := f.Proof
	if p == nil {
		return nil
	}
	switch p.Status {
	case "found":
		return []string{fmt.Sprintf("Simulated: scenario %s, seed %d violates %s. Replay: %s", p.Scenario, p.Seed, p.Violated, p.Replay)}
	case "none":
		return []string{fmt.Sprintf("Simulated: no counterexample in %d seeds of %s; %s.", p.Seeds, p.Scenario, p.Bound)}
	}
	return []string{"Not simulated: " + p.Reason + "."}
}

func either(first, otherwise string) string {
	if first != "" {
		return first
	}
	return otherwise
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
