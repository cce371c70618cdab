package chain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Check compares the values of a chain. Today is what suppressions are judged by.
func Check(c *Chain, today time.Time) (Report, error) {
	report := Report{Chain: c.Name, File: c.File, Links: len(c.Links), Files: c.Files}
	k := &check{chain: c, links: map[string]*Resolved{}}
	for i := range c.Links {
		l := &c.Links[i]
		k.links[l.Name] = l
		report.Values += len(l.Values)
	}
	builtIn, lacking := c.parsed.builtIn(k.heartbeats())
	report.Unchecked = lacking
	report.Rules = len(builtIn)
	for _, r := range append(slices.Clone(c.parsed.relations), builtIn...) {
		report.Relations++
		if !k.relation(r) {
			report.Relations--
			report.Rules--
			if !c.parsed.says(r) {
				report.Unchecked = append(report.Unchecked, Unchecked{r.name, r.unknown})
			}
		}
	}
	if err := c.parsed.err(); err != nil {
		return Report{}, err
	}
	report.Findings, report.Silent = k.suppress(merged(k.found), today)
	return report, nil
}

// says tells whether the chain file has a margin of its own between the two sides of a rule.
func (p *parsed) says(rule relation) bool {
	return slices.ContainsFunc(p.relations, func(r relation) bool { return r.margin != nil && r.sides() == rule.sides() })
}

type check struct {
	chain *Chain
	links map[string]*Resolved
	found []Finding
}

// heartbeats tells which discipline the chain's dispatcher follows.
func (k *check) heartbeats() bool {
	for _, l := range k.links {
		if l.Setting == heartbeatName && len(l.Values) > 0 {
			return l.Values[0].sign() > 0
		}
	}
	return false
}

// relation compares every value of the left with the right, where the links have several. It tells whether the relation could be
// judged: one whose margin is not known is only judged where no margin would do.
func (k *check) relation(r relation) bool {
	judged := true
	for _, pick := range k.picks(r) {
		ok := k.compare(r, pick)
		judged = judged && ok
	}
	return judged
}

// pick is the value that each link of a relation is taken with.
type pick map[string]Value

// picks are the values to compare: every one of a link that is a side by itself, else the worst one.
func (k *check) picks(r relation) []pick {
	worst := pick{}
	for _, f := range []struct {
		names []string
		sign  int
	}{{r.right.names(), -1}, {r.left.names(), 1}, {marginNames(r), 1}} {
		for _, name := range f.names {
			if _, ok := worst[name]; !ok {
				worst[name] = most(k.links[name].Values, f.sign)
			}
		}
	}
	all := []pick{worst}
	for _, side := range []Formula{r.left, r.right} {
		if !side.isLink() || len(k.links[side.root.name].Values) == 1 {
			continue
		}
		all = nil
		for _, v := range k.links[side.root.name].Values {
			one := pick{}
			for name, w := range worst { // order does not matter: one map into another
				one[name] = w
			}
			one[side.root.name] = v
			all = append(all, one)
		}
		return all // of the other side the worst
	}
	return all
}

func marginNames(r relation) []string {
	if r.margin == nil {
		return nil
	}
	return r.margin.names()
}

func (k *check) compare(r relation, p pick) bool {
	of := func(name string) (Quantity, error) { return p[name].Quantity, nil }
	left, leftErr := r.left.root.evaluate(of)
	right, rightErr := r.right.root.evaluate(of)
	need := Quantity{number(0).value, right.time}
	var marginErr error
	if r.margin != nil {
		need, marginErr = r.margin.root.evaluate(of)
	}
	path := r.path
	for _, err := range []error{leftErr, rightErr, marginErr} {
		if err != nil {
			k.chain.parsed.at(path, CodeFormula, "", "%s: %s", r.name, err)
			return true
		}
	}
	if need.sign() == 0 {
		need.time = right.time // 0 is 0s as well
	}
	if left.time != right.time || need.time != right.time {
		k.chain.parsed.at(path, CodeUnit, "", "%s compares %s (%s) with %s (%s), with a margin that is %s", r.name,
			r.left.text, left.dimension(), r.right.text, right.dimension(), need.dimension())
		return true
	}
	if need.sign() < 0 {
		k.chain.parsed.at(path+".margin", CodeUnit, "", "%s: the margin %s is negative", r.name, need)
		return true
	}
	have, _ := combine('-', right, left)
	if holds(r.comparison, have, need) {
		return len(r.unknown) == 0
	}
	k.found = append(k.found, k.finding(r, p, left, right, have, need))
	return true
}

func holds(c Comparison, have, need Quantity) bool {
	switch c {
	case Differs:
		return have.sign() != 0
	case AtMost:
		return have.cmp(need) >= 0
	}
	return have.sign() > 0 && have.cmp(need) >= 0
}

func (k *check) finding(r relation, p pick, left, right, have, need Quantity) Finding {
	f := Finding{Relation: r.name, Rule: r.rule != nil, Severity: r.severity, Because: r.because, Harm: r.harm, margin: have,
		Margin: have.String(), Need: need.String(), values: map[string]Quantity{}}
	if f.Severity == "" {
		f.Severity = dispatcher.SeverityError
	}
	f.Code, f.Message = headline(r, left.String(), right.String(), have, need, r.comparison == Below)
	if r.code != "" {
		f.Code = r.code
	}
	if f.Code == CodeEqual && r.equal != "" {
		f.Harm = r.equal
	}
	if f.Harm == "" {
		f.Harm = k.plainHarm(r, have)
	}
	switch {
	case r.comparison == Differs:
		f.Need = "anything but " + need.String()
	case r.comparison == Below && need.sign() == 0:
		f.Need = "more than " + need.String()
	}
	switch {
	case len(r.unknown) > 0:
		f.Need += fmt.Sprintf(" (how much more the chain does not tell: it has no %s)", strings.Join(r.unknown, ", "))
	case r.margin != nil && !slices.Contains([]string{f.Need, "0"}, r.margin.text):
		f.Formula = r.margin.text
	}
	f.Left, f.Right = k.side(r.left, left, p), k.side(r.right, right, p)
	for name, v := range p { // order does not matter: one map into another
		f.values[name] = v.Quantity
	}
	k.fix(&f, r, p, left, right, need)
	f.Place = firstPlace(f.Left, f.Right)
	if r.path != "" {
		at := k.chain.parsed.placeOf(r.path)
		f.Declared = &at
	}
	f.Fingerprint = f.fingerprint()
	return f
}

// plainHarm is what can be said of any two values of which nobody said more.
func (k *check) plainHarm(r relation, have Quantity) string {
	switch {
	case have.time != 1:
		return fmt.Sprintf("%s can exceed what %s allows for", r.left.text, r.right.text)
	case have.sign() == 0:
		return fmt.Sprintf("%s and %s are over at the same instant, and which comes first is chance", r.left.text, r.right.text)
	case have.sign() < 0:
		return fmt.Sprintf("%s is over while %s still runs", r.right.text, r.left.text)
	}
	return fmt.Sprintf("what has to happen between %s and %s may take longer than there is time", r.left.text, r.right.text)
}

func (k *check) side(f Formula, value Quantity, p pick) *Side {
	s := &Side{Formula: f.text, Value: value.String()}
	for _, name := range f.names() {
		v := p[name]
		s.Parts = append(s.Parts, Part{Link: name, Value: v.Quantity.String(), Text: v.Text, Owner: k.links[name].Owner, Place: v.Place, In: v.In})
	}
	return s
}

// firstPlace is the place to look at first: one that an editor finds, if there is one.
func firstPlace(sides ...*Side) Place {
	var first *Place
	for _, s := range sides {
		for i := range s.Parts {
			if at := &s.Parts[i].Place; first == nil || first.Elsewhere && !at.Elsewhere {
				first = at
			}
		}
	}
	return *first
}

// fingerprint is made of what stays when lines move and values change.
func (f Finding) fingerprint() string {
	words := []string{f.Relation}
	for _, s := range []*Side{f.Left, f.Right} {
		if s == nil {
			continue
		}
		for _, p := range s.Parts {
			// Of a file at a reference only its name within the tree: another reference is the same file.
			name := p.Place.File[strings.LastIndexAny(p.Place.File, "/:")+1:]
			words = append(words, p.Link, name, p.In)
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// merged leaves one finding of several about the same two sides, as when a link says what a built-in rule says too: the one that
// asks for more.
func merged(all []Finding) []Finding {
	var kept []Finding
	for _, f := range all {
		i := slices.IndexFunc(kept, func(o Finding) bool {
			return f.Left.Formula == o.Left.Formula && f.Right.Formula == o.Right.Formula && slices.Equal(f.Left.Parts, o.Left.Parts) && slices.Equal(f.Right.Parts, o.Right.Parts)
		})
		switch {
		case i < 0:
			kept = append(kept, f)
		case f.asks() > kept[i].asks():
			f.Declared, f.also = kept[i].Declared, append(kept[i].also, kept[i].Relation)
			kept[i] = f
		default:
			kept[i].also = append(kept[i].also, f.Relation)
		}
	}
	same := map[string]int{}
	for i := range kept {
		f := &kept[i]
		if same[f.Fingerprint]++; same[f.Fingerprint] > 1 { // several values of one object
			f.Fingerprint += fmt.Sprintf("-%d", same[f.Fingerprint])
		}
	}
	slices.SortStableFunc(kept, func(a, b Finding) int {
		return severityOrder(a.Severity) - severityOrder(b.Severity)
	})
	return kept
}

// asks is how much a finding asks for, to compare those about the same values.
func (f Finding) asks() float64 {
	need, _ := f.needed.value.Float64()
	if strings.HasPrefix(f.Need, "anything") {
		return -1
	}
	return need
}

func severityOrder(s dispatcher.Severity) int {
	if s == dispatcher.SeverityError {
		return 0
	}
	return 1
}
