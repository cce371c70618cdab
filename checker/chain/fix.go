package chain

import (
	"fmt"
	"math/big"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// fix says how each side could be put right, where a side is but one link, and what the first of these ways makes of the values.
func (k *check) fix(f *Finding, r relation, p pick, left, right, need Quantity) {
	f.needed = need
	if r.comparison == Differs {
		if r.right.isLink() {
			f.Fixes = append(f.Fixes, Fix{r.right.root.name, k.links[r.right.root.name].Owner,
				fmt.Sprintf("change %s, so that it is no longer %s", r.right.root.name, right)})
		}
		return
	}
	strict := r.comparison == Below && need.sign() == 0
	atLeast, _ := combine('+', left, need)
	if name, l := k.changeable(r.right); l != nil {
		f.Fixes = append(f.Fixes, Fix{name, l.Owner, fmt.Sprintf("raise %s to %s", name, bound(l, p[name], atLeast, strict, true))})
		f.repair = map[string]Quantity{name: strictly(l, atLeast, strict, 1)}
	}
	atMost, _ := combine('-', right, need)
	if name, l := k.changeable(r.left); l != nil && atMost.sign() > 0 {
		f.Fixes = append(f.Fixes, Fix{name, l.Owner, fmt.Sprintf("lower %s to %s", name, bound(l, p[name], atMost, strict, false))})
		if f.repair == nil {
			f.repair = map[string]Quantity{name: strictly(l, atMost, strict, -1)}
		}
	}
	if len(f.Fixes) == 0 {
		f.Fixes = append(f.Fixes, Fix{"", "", fmt.Sprintf("change %s or %s until at least %s lie between them", r.left.text, r.right.text, f.Need)})
	}
}

// changeable is the link that a formula is, if somebody can change it by itself.
func (k *check) changeable(f Formula) (string, *Resolved) {
	if !f.isLink() {
		return "", nil
	}
	return f.root.name, k.links[f.root.name]
}

// bound writes the value that a link must reach, and as the file has to say it.
func bound(l *Resolved, now Value, q Quantity, strict, up bool) string {
	words := map[bool]map[bool]string{true: {true: "more than ", false: "at least "}, false: {true: "less than ", false: "at most "}}[up][strict]
	text := words + q.String()
	if written := l.unit.notation(q, up); written != "" && written != q.String() {
		text += fmt.Sprintf(" (where it says %s, write %s%s)", strictyaml.Brief(now.Text), map[bool]string{true: words}[strict], written)
	}
	return text
}

// strictly is the value itself, or where that would be equal one beyond it.
func strictly(l *Resolved, q Quantity, strict bool, sign int64) Quantity {
	if !strict {
		return q
	}
	return Quantity{new(big.Rat).Add(q.value, big.NewRat(sign, 1)), q.time}
}
