package reports

import (
	"strconv"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// series is a call that a process made again and again with the same outcome: it is told once.
type series struct {
	Times int
	Last  time.Duration // when the last of them was called
}

// sameCall is what came of every call of a series.
type sameCall struct {
	outcome, applied history.Outcome
	code             history.Code
}

// findSeries maps the first call of each series to it, and every later one to a series of 0 times.
func findSeries(calls []history.Operation) map[history.Seq]*series {
	type key struct {
		process history.ID
		verb    history.Verb
		token   uint64
	}
	found := map[history.Seq]*series{}
	open := map[key]*series{}
	last := map[key]sameCall{}
	for _, o := range calls {
		k := key{o.Process, o.Verb, o.Token}
		same := sameCall{o.Outcome, o.Applied, o.Code}
		if s := open[k]; s != nil && last[k] == same {
			s.Times++
			s.Last = o.CalledAt
			found[o.Call] = &series{}
			continue
		}
		open[k], last[k] = &series{Times: 1, Last: o.CalledAt}, same
		found[o.Call] = open[k]
	}
	return found
}

// again tells whether the call is a later one of a series.
func (s *scene) again(o history.Operation) bool {
	found := s.series[o.Call]
	return found != nil && found.Times == 0
}

// timesWord is " × 12" for the first call of a series of 12, else nothing.
func (s *scene) timesWord(o history.Operation) string {
	if found := s.series[o.Call]; found != nil && found.Times > 1 {
		return " × " + strconv.Itoa(found.Times)
	}
	return ""
}
