package chain

import (
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// suppress takes out the findings that somebody answers for. A suppression that has expired suppresses nothing and is a finding,
// and so is one that nothing needs.
func (k *check) suppress(all []Finding, today time.Time) (kept, silent []Finding) {
	used := make([]bool, len(k.chain.parsed.file.Suppress))
	for _, f := range all {
		by := -1
		for i, s := range k.chain.parsed.file.Suppress {
			if !s.means(f) {
				continue
			}
			used[i] = true
			if by < 0 && !s.expired(today) {
				by = i
			}
		}
		if by < 0 {
			kept = append(kept, f)
			continue
		}
		s := k.chain.parsed.file.Suppress[by]
		f.Suppressed = &s
		silent = append(silent, f)
	}
	for i, s := range k.chain.parsed.file.Suppress {
		at := k.chain.parsed.placeOf(fmt.Sprintf("suppress[%d]", i))
		f := Finding{Relation: s.Relation, Severity: dispatcher.SeverityError, Place: at, Because: s.Reason,
			Fingerprint: fmt.Sprintf("suppress-%s-%s-%s", s.Relation, s.Link, s.Code)}
		switch {
		case !used[i]:
			f.Code, f.Message = CodeUnused, fmt.Sprintf("the suppression of %s suppresses nothing", s.Relation)
			f.Harm = "it would hide the next finding of that name from everybody"
			f.Fixes = []Fix{{"", s.Owner, "remove it"}}
		case s.expired(today):
			f.Code, f.Message = CodeExpired, fmt.Sprintf("the suppression of %s ended on %s", s.Relation, s.Until)
			f.Harm = "the finding that it was for counts again"
			f.Fixes = []Fix{{"", s.Owner, "put the finding right, or answer for it anew with another day"}}
		default:
			continue
		}
		kept = append(kept, f)
	}
	return kept, silent
}

// means tells whether the suppression is about the finding.
func (s Suppression) means(f Finding) bool {
	if s.Relation != f.Relation && !slices.Contains(f.also, s.Relation) || s.Code != "" && s.Code != f.Code {
		return false
	}
	if s.Link == "" {
		return true
	}
	concerns := func(side *Side) bool {
		return side != nil && slices.ContainsFunc(side.Parts, func(p Part) bool { return p.Link == s.Link })
	}
	return concerns(f.Left) || concerns(f.Right)
}

func (s Suppression) expired(today time.Time) bool { return today.Format(dateForm) > s.Until }
