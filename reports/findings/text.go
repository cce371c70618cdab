package findings

import (
	"fmt"
	"strings"

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/dispatcher"
)

// Ink colours words, or leaves them as they are where a field is nil.
type Ink struct {
	Bold, Faint, Bad, Warn, Good func(string) string
}

func inked(paint func(string) string, text string) string {
	if paint == nil {
		return text
	}
	return paint(text)
}

// Plain is the report for people. With detail, what was not checked and what is suppressed is listed as well.
func Plain(r chain.Report, ink Ink, detail bool) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(One(f, ink) + "\n")
	}
	if detail {
		for _, f := range r.Silent {
			fmt.Fprintf(&b, "%s: suppressed %s %s: %s\n  %s answers for it until %s: %s\n\n", f.Place, f.Code, f.Relation, f.Message,
				f.Suppressed.Owner, f.Suppressed.Until, f.Suppressed.Reason)
		}
		for _, u := range r.Unchecked {
			fmt.Fprintf(&b, "not checked: rule %s, for want of a link with the setting %s\n", u.Rule, strings.Join(u.Needs, ", "))
		}
	}
	b.WriteString(lastLine(r, ink) + "\n")
	return b.String()
}

// One is a finding as a compiler would print it, with both places.
func One(f chain.Finding, ink Ink) string {
	var b strings.Builder
	severity := inked(ink.Bad, "error")
	if f.Severity == dispatcher.SeverityWarning {
		severity = inked(ink.Warn, "warning")
	}
	fmt.Fprintf(&b, "%s: %s %s %s: %s\n", f.Place, severity, f.Code, inked(ink.Bold, f.Relation), f.Message)
	parts := partsOf(f)
	name, value, place := 0, 0, 0
	for _, p := range parts {
		name, value, place = max(name, len(p.Link)), max(value, len(p.Value)), max(place, len(where(p)))
	}
	for _, p := range parts {
		fmt.Fprintf(&b, "  %-*s  %*s  %-*s  %s\n", name, p.Link, value, p.Value, place, where(p), either(p.Owner, "made of other links"))
	}
	if f.Margin != "" {
		need := f.Need
		if f.Formula != "" {
			need += " = " + f.Formula
		}
		fmt.Fprintf(&b, "  margin: %s, needed: %s\n", f.Margin, need)
	}
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %s: %s\n", label, text)
		}
	}
	line("what will happen", f.Harm)
	line("because", f.Because)
	if f.Declared != nil {
		line("declared", f.Declared.String())
	}
	for i, x := range f.Fixes {
		text := x.Text
		if x.Owner != "" {
			text = x.Owner + ": " + text
		}
		line([]string{"fix", "or"}[min(i, 1)], text)
	}
	writeProof(&b, f.Proof)
	return b.String()
}

// where is a part's place, with the object that it is part of.
func where(p chain.Part) string {
	if p.In == "" {
		return p.Place.String()
	}
	return p.Place.String() + " (" + p.In + ")"
}

func writeProof(b *strings.Builder, p *chain.Proof) {
	if p == nil {
		return
	}
	switch p.Status {
	case "found":
		fmt.Fprintf(b, "  proved: seed %d of scenario %s violates %s\n", p.Seed, p.Scenario, p.Violated)
		if p.Story != "" {
			fmt.Fprintf(b, "    %s\n", p.Story)
		}
		if p.Control != "" {
			fmt.Fprintf(b, "    control: %s\n", p.Control)
		}
		fmt.Fprintf(b, "    replay: %s\n", p.Replay)
	case "none":
		fmt.Fprintf(b, "  not proved: no counterexample in %d seeds of %s; %s\n", p.Seeds, p.Scenario, p.Bound)
	default:
		fmt.Fprintf(b, "  not simulated: %s\n", p.Reason)
	}
}

// lastLine sums up, with what was compared: a check that compared nothing is not a pass that means something.
func lastLine(r chain.Report, ink Ink) string {
	did := fmt.Sprintf("chain %s: %s with %s in %s, %s compared", r.Chain, count(r.Links, "link", "links"), count(r.Values, "value", "values"),
		count(r.Files, "file", "files"), count(r.Relations, "relation", "relations"))
	if r.Rules > 0 {
		did += fmt.Sprintf(" (%s)", count(r.Rules, "built-in rule", "built-in rules"))
	}
	var more []string
	if n := len(r.Silent); n > 0 {
		more = append(more, fmt.Sprintf("%d suppressed", n))
	}
	if r.Known > 0 {
		more = append(more, fmt.Sprintf("%d known before", r.Known))
	}
	if n := len(r.Unchecked); n > 0 {
		more = append(more, count(n, "rule not checked", "rules not checked")+" (-v lists what they lack)")
	}
	verdict := inked(ink.Good, "✓ no findings")
	if warnings := len(r.Findings) - r.Errors(); len(r.Findings) > 0 {
		verdict = inked(ink.Bad, "✗ "+count(len(r.Findings), "finding", "findings"))
		if r.Errors() == 0 {
			verdict = inked(ink.Warn, "! "+count(warnings, "warning", "warnings"))
		} else if warnings > 0 {
			verdict += fmt.Sprintf(", of which %s", count(warnings, "warning", "warnings"))
		}
	}
	return strings.Join(append([]string{verdict + "; " + did}, more...), "; ")
}
