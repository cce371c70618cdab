package chain

import (
	"fmt"

	"github.com/squall-chaos/squall/dispatcher"
)

// Finding is something that whoever owns the values has to do something about.
type Finding struct {
	Code     string              `json:"code"`
	Severity dispatcher.Severity `json:"severity"`
	Relation string              `json:"relation"` // its name; of a suppression: of what it suppresses
	Rule     bool                `json:"rule"`     // a built-in one
	Message  string              `json:"message"`  // in one sentence, with both values and margins
	Left     *Side               `json:"left,omitempty"`
	Right    *Side               `json:"right,omitempty"`
	Margin   string              `json:"margin,omitempty"` // what lies between the two
	Need     string              `json:"need,omitempty"`   // what must lie between them
	Formula  string              `json:"formula,omitempty"`
	Harm     string              `json:"consequence,omitempty"`
	Because  string              `json:"because,omitempty"`
	Fixes    []Fix               `json:"fixes,omitempty"`
	Place    Place               `json:"place"`              // the one to look at first
	Declared *Place              `json:"declared,omitempty"` // where the chain file says what must hold
	// Fingerprint stays the same while the finding does, whatever moves in the files.
	Fingerprint string `json:"fingerprint"`
	// Suppressed is who answers for it, when somebody does.
	Suppressed *Suppression `json:"suppressed,omitempty"`
	// Proof is what a simulation of it came to; nil: none was asked for.
	Proof *Proof `json:"proof,omitempty"`

	also   []string // relations that say the same of the same values
	margin Quantity
	needed Quantity
	values map[string]Quantity // of the links compared
	repair map[string]Quantity // what the first fix makes of the values
}

// Side is one side of a comparison: a link, or a formula over several.
type Side struct {
	Formula string `json:"formula"`
	Value   string `json:"value"`
	Parts   []Part `json:"links"`
}

// Part is a link that a side is made of.
type Part struct {
	Link  string `json:"link"`
	Value string `json:"value"`
	Text  string `json:"text"` // as it stands in the file
	Owner string `json:"owner"`
	Place Place  `json:"place"`
	In    string `json:"object,omitempty"`
}

// Fix is one way to put it right.
type Fix struct {
	Link  string `json:"link"`
	Owner string `json:"owner"`
	Text  string `json:"text"` // in one sentence
}

// Proof is what the simulation of a finding came to.
type Proof struct {
	Status   string `json:"status"` // found, none, or not simulated
	Scenario string `json:"scenario,omitempty"`
	Seed     uint64 `json:"seed,omitempty"`
	Violated string `json:"violated,omitempty"`
	Story    string `json:"story,omitempty"`
	Bundle   string `json:"bundle,omitempty"`
	Replay   string `json:"replay,omitempty"`
	Control  string `json:"control,omitempty"` // what passes under the same seed
	Seeds    int    `json:"seeds,omitempty"`   // that were run
	Bound    string `json:"bound,omitempty"`   // of the share of seeds that can fail, when none did
	Reason   string `json:"reason,omitempty"`  // why it was not simulated
}

// Compared are the values that a finding compares, by the settings that their links are. Links that are no setting are left out.
func (c *Chain) Compared(f Finding) map[string]Quantity {
	compared := map[string]Quantity{}
	for _, l := range c.Links {
		if v, ok := f.values[l.Name]; ok && l.Setting != "" {
			compared[l.Setting] = v
		}
	}
	return compared
}

// Repaired are the values of all links that are settings, with every finding put right in the first way that it names. Where several
// findings change one value the one that goes furthest counts.
func (c *Chain) Repaired(all []Finding) map[string]Quantity {
	repaired := map[string]Quantity{}
	for _, l := range c.Links {
		if l.Setting == "" || len(l.Values) == 0 {
			continue
		}
		now := most(l.Values, 1).Quantity
		best := now
		for _, f := range all {
			v, ok := f.repair[l.Name]
			if ok && (best.cmp(now) == 0 || v.cmp(now) == best.cmp(now) && v.cmp(best) == best.cmp(now)) {
				best = v
			}
		}
		repaired[l.Setting] = best
	}
	return repaired
}

// Unchecked is a built-in rule that could not be applied, and the settings that no link is.
type Unchecked struct {
	Rule  string   `json:"rule"`
	Needs []string `json:"needs"`
}

// Report is what a check came to.
type Report struct {
	Chain     string      `json:"chain"`
	File      string      `json:"file"`
	Links     int         `json:"links"`
	Values    int         `json:"values"`
	Files     int         `json:"files"`
	Relations int         `json:"relations"` // that were compared
	Rules     int         `json:"rules"`     // of them built in
	Findings  []Finding   `json:"findings"`
	Silent    []Finding   `json:"suppressed,omitempty"`
	Known     int         `json:"known,omitempty"` // findings that were there before, with --new-from
	Unchecked []Unchecked `json:"unchecked,omitempty"`
}

// Errors counts the findings that are not mere warnings.
func (r Report) Errors() int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == dispatcher.SeverityError {
			n++
		}
	}
	return n
}

// headline says what is wrong between two values.
func headline(r relation, left, right string, have, need Quantity, strict bool) (code, message string) {
	switch {
	case r.comparison == Differs:
		return CodeEqual, fmt.Sprintf("%s and %s are both %s, and must differ", r.left.text, r.right.text, left)
	case have.sign() == 0 && r.comparison == Below:
		message = fmt.Sprintf("%s and %s are both %s", r.left.text, r.right.text, left)
		if need.sign() > 0 {
			return CodeEqual, fmt.Sprintf("%s; %s must lie between them", message, need)
		}
		return CodeEqual, message + "; the one must lie below the other"
	case have.sign() < 0:
		code = CodeOrder
		if have.time == 0 {
			code = CodeLimit
		}
		message = fmt.Sprintf("%s %s is above %s %s", r.left.text, left, r.right.text, right)
		switch {
		case need.sign() > 0:
			return code, fmt.Sprintf("%s, and must lie below it by %s", message, need)
		case strict:
			return code, message + ", and must lie below it"
		}
		return code, message + ", and must not exceed it"
	}
	return CodeMargin, fmt.Sprintf("%s %s lies only %s below %s %s; %s are needed", r.left.text, left, have, r.right.text, right, need)
}
