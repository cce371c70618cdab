package chain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/dispatcher"
)

// relation is what must hold between two formulas over links, whoever said so: a link, the chain file, or a built-in rule.
type relation struct {
	name        string
	path        string // of what declares it in the chain file; "" for a built-in rule
	left, right Formula
	comparison  Comparison
	margin      *Formula // nil: any margin
	because     string
	harm, equal string
	code        string
	severity    dispatcher.Severity
	rule        *Rule
	// unknown are settings that the rule's margin asks for and no link is.
	unknown []string
}

// sides tells relations between the same formulas.
func (r relation) sides() string { return r.left.text + "\x00" + r.right.text }

// builtIn are the rules that apply to the links, in the words of the links, and those that do not with what they lack. A rule none
// of whose settings is among the links is of no concern.
func (p *parsed) builtIn(heartbeats bool) (apply []relation, lacking []Unchecked) {
	links := map[string]string{} // by setting
	for _, l := range p.file.Links {
		if l.Setting != "" {
			links[l.Setting] = l.Name
		}
	}
	for i := range rules {
		r := &rules[i]
		if r.Silence == ByDeadline && heartbeats || r.Silence == ByHeartbeats && !heartbeats {
			continue
		}
		left, right := mustFormula(r.Left), mustFormula(r.Right)
		settings := append(left.names(), right.names()...)
		missing := lackingOf(settings, links)
		if len(missing) > 0 {
			if someOf(left, links) && someOf(right, links) {
				lacking = append(lacking, Unchecked{r.Name, missing})
			}
			continue
		}
		made := relation{name: r.Name, left: left.renamed(links), right: right.renamed(links), comparison: r.Relation, because: r.Because,
			harm: r.Harm, equal: r.Equal, code: r.Code, severity: r.Severity, rule: r}
		if r.Margin != "" {
			margin := mustFormula(r.Margin)
			if made.unknown = lackingOf(margin.names(), links); len(made.unknown) == 0 {
				margin = margin.renamed(links)
			} else {
				margin = margin.without(made.unknown, links)
			}
			made.margin = &margin
		}
		apply = append(apply, made)
	}
	return apply, lacking
}

func lackingOf(settings []string, links map[string]string) []string {
	var missing []string
	for _, s := range settings {
		if links[s] == "" && !slices.Contains(missing, s) {
			missing = append(missing, s)
		}
	}
	return missing
}

func someOf(f Formula, links map[string]string) bool {
	return slices.ContainsFunc(f.names(), func(s string) bool { return links[s] != "" })
}

// mustFormula reads a formula of a built-in rule.
func mustFormula(text string) Formula {
	f, err := parseFormula(text)
	if err != nil {
		panic(fmt.Sprintf("chain: built-in formula %q: %v", text, err))
	}
	return f
}

// renamed is the formula with links in the place of settings.
func (f Formula) renamed(links map[string]string) Formula {
	renamed := Formula{root: f.root.copied(func(t *term) {
		if links[t.name] != "" {
			t.name = links[t.name]
		}
	})}
	renamed.text = renamed.root.text()
	return renamed
}

// without is a sum without the settings that nobody knows.
func (f Formula) without(unknown []string, links map[string]string) Formula {
	known := Formula{root: f.root.copied(func(t *term) {
		if slices.Contains(unknown, t.name) {
			nothing := lasting(0) // the others, if any, are a lower bound
			t.name, t.literal = "", &nothing
		} else if links[t.name] != "" {
			t.name = links[t.name]
		}
	})}
	known.text = known.root.text()
	return known
}

func (t *term) copied(change func(*term)) *term {
	if t == nil {
		return nil
	}
	c := *t
	c.args = nil
	for _, a := range t.args {
		c.args = append(c.args, a.copied(change))
	}
	change(&c)
	return &c
}

// text writes a term again.
func (t *term) text() string {
	switch {
	case t.literal != nil:
		return t.literal.String()
	case t.name != "":
		return t.name
	case t.op == 'n':
		if t.args[0].binary() {
			return "-(" + t.args[0].text() + ")"
		}
		return "-" + t.args[0].text()
	case t.op == 'm' || t.op == 'M':
		var args []string
		for _, a := range t.args {
			args = append(args, a.text())
		}
		return map[byte]string{'m': "min", 'M': "max"}[t.op] + "(" + strings.Join(args, ", ") + ")"
	}
	return t.operand(0) + " " + string(t.op) + " " + t.operand(1)
}

// binary tells of an operation between two terms.
func (t *term) binary() bool { return strings.ContainsRune("+-*/", rune(t.op)) }

// operand writes an argument, in brackets where it binds less than the operator.
func (t *term) operand(i int) string {
	a := t.args[i]
	weaker := strings.ContainsRune("*/", rune(t.op)) && (a.op == '+' || a.op == '-')
	second := i == 1 && (t.op == '-' || t.op == '/') && a.binary()
	if weaker || second {
		return "(" + a.text() + ")"
	}
	return a.text()
}
