package chain

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Formula is an arithmetic expression over links: "pod_grace + recover_interval + 5s", "3 * heartbeat", "max(a, b)".
type Formula struct {
	text string
	root *term
}

// term is a node of a formula: a literal, the name of a link, or an operation on other terms.
type term struct {
	literal *Quantity
	name    string
	op      byte // + - * /, n for a negation, m for min and M for max
	args    []*term
	at      int // character, counted from 0
}

// formulaError is what is wrong with a formula, and at which character, counted from 0.
type formulaError struct {
	at      int
	message string
}

func (e *formulaError) Error() string { return e.message }

// Limits of a formula.
const (
	maxFormula = 500
	maxNesting = 40
)

// parseFormula reads a formula. The error is a *formulaError.
func parseFormula(text string) (Formula, error) {
	p := &formulaParser{text: text}
	if len(text) > maxFormula {
		return Formula{}, &formulaError{0, fmt.Sprintf("the formula has %d characters; the limit is %d", len(text), maxFormula)}
	}
	root, err := p.sum(0)
	if err == nil {
		if p.space(); p.pos < len(text) {
			err = p.fail("expected an operator, found %q", p.next())
		}
	}
	if err != nil {
		return Formula{}, err
	}
	return Formula{text: strings.TrimSpace(text), root: root}, nil
}

// names lists the links of a formula, each once, in order.
func (f Formula) names() []string {
	var names []string
	f.root.each(func(t *term) {
		if t.name != "" && !slices.Contains(names, t.name) {
			names = append(names, t.name)
		}
	})
	return names
}

func (t *term) each(see func(*term)) {
	if t == nil {
		return
	}
	see(t)
	for _, a := range t.args {
		a.each(see)
	}
}

// isLink tells whether the formula is but the name of a link.
func (f Formula) isLink() bool { return f.root != nil && f.root.name != "" }

type formulaParser struct {
	text string
	pos  int
}

func (p *formulaParser) fail(format string, args ...any) error {
	return &formulaError{utf8.RuneCountInString(p.text[:p.pos]), fmt.Sprintf(format, args...)}
}

func (p *formulaParser) space() {
	for p.pos < len(p.text) && strings.ContainsRune(" \t\n", rune(p.text[p.pos])) {
		p.pos++
	}
}

func (p *formulaParser) next() string {
	_, size := utf8.DecodeRuneInString(p.text[p.pos:])
	return p.text[p.pos : p.pos+size]
}

// operator takes one of the operators, if it comes next.
func (p *formulaParser) operator(of string) (byte, int, bool) {
	p.space()
	if p.pos < len(p.text) && strings.IndexByte(of, p.text[p.pos]) >= 0 {
		p.pos++
		return p.text[p.pos-1], p.pos - 1, true
	}
	return 0, 0, false
}

func (p *formulaParser) sum(depth int) (*term, error) {
	return p.chainOf("+-", func() (*term, error) { return p.product(depth) })
}

func (p *formulaParser) product(depth int) (*term, error) {
	return p.chainOf("*/", func() (*term, error) { return p.factor(depth) })
}

func (p *formulaParser) chainOf(operators string, operand func() (*term, error)) (*term, error) {
	left, err := operand()
	for err == nil {
		op, at, ok := p.operator(operators)
		if !ok {
			return left, nil
		}
		var right *term
		if right, err = operand(); err == nil {
			left = &term{op: op, args: []*term{left, right}, at: at}
		}
	}
	return nil, err
}

func (p *formulaParser) factor(depth int) (*term, error) {
	if depth > maxNesting {
		return nil, p.fail("nested deeper than %d levels", maxNesting)
	}
	if _, at, ok := p.operator("-"); ok {
		t, err := p.factor(depth + 1)
		return &term{op: 'n', args: []*term{t}, at: at}, err
	}
	if _, _, ok := p.operator("("); ok {
		t, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		if _, _, ok := p.operator(")"); !ok {
			return nil, p.fail("expected )")
		}
		return t, nil
	}
	p.space()
	start := p.pos
	word := p.word()
	switch {
	case word == "" && p.pos == len(p.text):
		return nil, p.fail("the formula ends where a value is expected")
	case word == "":
		return nil, p.fail("expected a duration, a number or the name of a link, found %q", p.next())
	case word[0] >= '0' && word[0] <= '9' || word[0] == '.':
		q, err := literal(word)
		if err != nil {
			p.pos = start
			return nil, p.fail("%s", err)
		}
		return &term{literal: &q, at: start}, nil
	case word == "min" || word == "max":
		return p.call(word, start, depth)
	}
	return &term{name: word, at: start}, nil
}

func (p *formulaParser) call(name string, start, depth int) (*term, error) {
	if _, _, ok := p.operator("("); !ok {
		return nil, p.fail("expected ( after %s", name)
	}
	t := &term{op: map[string]byte{"min": 'm', "max": 'M'}[name], at: start}
	for {
		arg, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		t.args = append(t.args, arg)
		if _, _, ok := p.operator(","); ok {
			continue
		}
		if _, _, ok := p.operator(")"); ok {
			return t, nil
		}
		return nil, p.fail("expected , or )")
	}
}

// word takes letters, digits, dots and underscores.
func (p *formulaParser) word() string {
	start := p.pos
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		if c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		p.pos++
	}
	return p.text[start:p.pos]
}

// literal reads a number or a duration.
func literal(word string) (Quantity, error) {
	plain := strings.ReplaceAll(word, "_", "")
	if len(plain) <= 18 && strings.Trim(plain, "0123456789.") == "" && strings.Count(plain, ".") <= 1 && plain != "." {
		r, ok := new(big.Rat).SetString(plain)
		if ok {
			return Quantity{r, 0}, nil
		}
	}
	d, err := time.ParseDuration(word)
	if err != nil || d > maxDuration {
		return Quantity{}, fmt.Errorf("expected a number or a duration such as 90s or 2m30s, found %q", word)
	}
	return lasting(d), nil
}

// evaluate computes a term with the values of links. The error is a *formulaError.
func (t *term) evaluate(of func(name string) (Quantity, error)) (Quantity, error) {
	if t.literal != nil {
		return *t.literal, nil
	}
	if t.name != "" {
		q, err := of(t.name)
		if err != nil {
			return q, &formulaError{t.at, err.Error()}
		}
		return q, nil
	}
	var values []Quantity
	for _, a := range t.args {
		q, err := a.evaluate(of)
		if err != nil {
			return q, err
		}
		values = append(values, q)
	}
	result, err := t.apply(values)
	if err != nil {
		return result, &formulaError{t.at, err.Error()}
	}
	return result, nil
}

func (t *term) apply(values []Quantity) (Quantity, error) {
	switch t.op {
	case 'n':
		return Quantity{new(big.Rat).Neg(values[0].value), values[0].time}, nil
	case 'm', 'M':
		best := values[0]
		for _, v := range values[1:] {
			if v.time != best.time {
				return best, fmt.Errorf("%s and %s cannot be compared", best.dimension(), v.dimension())
			}
			if c := v.cmp(best); c < 0 && t.op == 'm' || c > 0 && t.op == 'M' {
				best = v
			}
		}
		return best, nil
	}
	return combine(t.op, values[0], values[1])
}
