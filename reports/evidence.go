package reports

import (
	"slices"

	"github.com/squall-chaos/squall/checker/history"
)

// evidence are the positions in the record that the violation rests on.
func (s *scene) evidence() []history.Seq {
	if s.broken == nil {
		return nil
	}
	return append(slices.Clone(s.broken.Evidence), s.broken.Seq)
}

// proves tells whether one of the positions is evidence of the violation.
func (s *scene) proves(positions ...history.Seq) bool {
	for _, seq := range positions {
		if seq != 0 && slices.Contains(s.evidence(), seq) {
			return true
		}
	}
	return false
}

// decides tells whether one of the positions is where it became a violation.
func (s *scene) decides(positions ...history.Seq) bool {
	return s.broken != nil && s.broken.Seq != 0 && slices.Contains(positions, s.broken.Seq)
}

// lasting are violations that go on for a while; all others happen at a moment.
var lasting = map[string]bool{"I1-overlap": true, "I2-stranded": true, "I7-progress": true, "I8-leak": true}
