package chain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/chain/extract"
	"github.com/squall-chaos/squall/checker/chain/origin"
	"github.com/squall-chaos/squall/checker/strictyaml"
)

// tree opens the input of a link; nil when that was reported.
func (r *resolver) tree(name, at string) origin.Tree {
	if name == "" {
		return r.own
	}
	if t, ok := r.trees[name]; ok {
		return t
	}
	from, override := r.open.inputs[name]
	base := ""
	if !override {
		from, base = r.input(name).From, r.open.base
	}
	var t origin.Tree
	var err error
	if r.open.at != "" && !override {
		t, err = origin.OpenAt(r.ctx, base, from, r.open.at)
	} else {
		t, err = origin.Open(r.ctx, base, from)
	}
	if err != nil {
		code := CodeInput
		if strings.Contains(from, "#") {
			code = CodeReference
		}
		at += ".input"
		if !override { // all links of the input have the same mistake
			at = fmt.Sprintf("inputs[%d].from", slices.IndexFunc(r.file.Inputs, func(in Input) bool { return in.Name == name }))
		}
		r.at(at, code, "give another place with --input "+name+"=PATH", "input %s: %s", name, err)
		return nil
	}
	r.trees[name] = t
	return t
}

// format reports that a file is not what the link takes it for.
func (r *resolver) format(err error, at func(line, col int) Place, data []byte) {
	var bad *extract.Error
	if !errors.As(err, &bad) {
		r.report(Problem{Code: CodeFormat, Place: at(1, 1), Message: err.Error()})
		return
	}
	r.report(Problem{Code: CodeFormat, Place: at(bad.Line, bad.Col), Message: bad.Message, Fix: bad.Fix, Excerpt: excerptOf(data, bad.Line, bad.Col, 1)})
}

// excerptOf is the line of an input with a caret below.
func excerptOf(data []byte, line, col, width int) string {
	return strictyaml.Excerpt(strings.Split(string(data), "\n"), spot{Line: line, Col: col, Width: width})
}

// derive computes the values that are formulas, each after those that it is made of. There are no cycles: parse refused them.
func (r *resolver) derive() {
	index := map[string]int{}
	for i, l := range r.file.Links {
		index[l.Name] = i
	}
	var value func(name string) (Quantity, error)
	value = func(name string) (Quantity, error) {
		i := index[name]
		if l := &r.chain.Links[i]; len(l.Values) == 0 {
			r.formulaValue(i, l, value)
		}
		l := r.chain.Links[i]
		if len(l.Values) == 0 {
			return Quantity{}, fmt.Errorf("%s has no value", name)
		}
		return most(l.Values, 1).Quantity, nil
	}
	for i := range r.chain.Links {
		_, _ = value(r.file.Links[i].Name) // what is wrong was reported
	}
}

// formulaValue computes the value of a link that is a formula, or whose default is one.
func (r *resolver) formulaValue(i int, l *Resolved, value func(string) (Quantity, error)) {
	f, path := r.finder[i].formula, fmt.Sprintf("links[%d].value", i)
	if f == nil {
		f, path = r.finder[i].missing, fmt.Sprintf("links[%d].default", i)
	}
	if f == nil {
		return
	}
	q, err := f.root.evaluate(value)
	count, setting := settingKinds[l.Setting]
	switch {
	case err != nil:
		r.at(path, CodeFormula, "", "link %s: %s", l.Name, err)
	case q.sign() < 0:
		r.at(path, CodeUnit, "", "link %s: the value %s is negative", l.Name, q)
	case setting && count != (q.time == 0), l.unit != "" && l.unit.isCount() != (q.time == 0):
		r.at(path, CodeUnit, "durations have a unit: 30s", "link %s: %s is %s, and %s is not", l.Name, q, q.dimension(), either(l.Setting, "its unit"))
	default:
		l.Values = []Value{{Quantity: q, Text: f.text, Place: r.placeOf(path)}}
	}
}

func either(first, otherwise string) string {
	if first != "" {
		return first
	}
	return otherwise
}

// most is the largest of some values, or with -1 the smallest.
func most(values []Value, sign int) Value {
	best := values[0]
	for _, v := range values[1:] {
		if v.cmp(best.Quantity)*sign > 0 {
			best = v
		}
	}
	return best
}
