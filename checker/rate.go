package checker

import (
	"errors"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrRate is I5-rate.
var ErrRate = errors.New("calls that do not succeed are repeated with backoff, never in a loop")

const (
	// rateWindow is the time that calls are counted over.
	rateWindow = time.Minute
	// createsPerMinute is how often one task's object may be created in a minute: every two seconds is what a dispatcher
	// does that tries again whenever it looks at its lease. More is a loop without backoff.
	createsPerMinute = 30
)

// paced are the verbs that Limits.CallsPerMinute is about: those with which dispatchers and reconcilers do
// their work. Leases and terms have a period of their own, clients and workers call at their own pace.
var paced = [...]history.Verb{
	history.Claim, history.Launched, history.Unclaim, history.Reject, history.Scan, history.Observe, history.Requeue, history.Conclude,
	history.Cleaned, history.Postpone, history.Create, history.Get, history.List, history.Delete, history.Release, history.NodeExists,
}

// rate counts calls: for each task its creates, and, where the history has a limit, for each process and verb all calls.
func rate(f *finding) {
	f.rateOf(series{verb: history.Create, most: createsPerMinute, keys: len(f.Tasks), perTask: true})
	if f.limits.CallsPerMinute == 0 {
		return
	}
	for _, verb := range paced {
		f.rateOf(series{verb: verb, most: f.limits.CallsPerMinute, keys: len(f.Processes)})
	}
}

// series is the calls of one verb, by task or by process.
type series struct {
	verb    history.Verb
	most    int
	keys    int
	perTask bool
}

func (s series) key(o *history.Operation) history.ID {
	if s.perTask {
		return o.Task
	}
	return o.Process
}

// stream is the calls of one key within the window: a list that grows at its end and shrinks at its start.
type stream struct {
	first, last int32 // positions among the verb's operations
	count       int32
	seen        bool // more than one at a time
	over        bool
}

func (f *finding) rateOf(s series) {
	calls := f.verbs[s.verb]
	if len(calls) < 2 {
		return
	}
	streams := make([]stream, s.keys)
	next := make([]int32, len(calls))
	for i := range calls {
		o := &f.Operations[calls[i]]
		if i > 0 && f.Operations[calls[i-1]].Call == o.Call {
			continue // the same call, about another task
		}
		key := s.key(o)
		if key == 0 {
			continue
		}
		q := &streams[key-1]
		if q.count > 0 {
			next[q.last] = int32(i)
		} else {
			q.first = int32(i)
		}
		q.last = int32(i)
		q.count++
		for f.Operations[calls[q.first]].CalledAt <= o.CalledAt-rateWindow {
			q.first = next[q.first]
			q.count--
		}
		f.pace(q, s, &f.Operations[calls[q.first]], o)
	}
}

// pace judges one more call of a stream; a stream is accused once until it is slow enough again.
func (f *finding) pace(q *stream, s series, first, last *history.Operation) {
	if q.count > 1 && !q.seen {
		q.seen = true
		f.exercised++
	}
	if int(q.count) <= s.most {
		q.over = false
		return
	}
	if q.over {
		return
	}
	q.over = true
	who := f.process(last.Process)
	if s.perTask {
		who += " for " + f.task(last.Task)
	}
	f.violate(breach{last.Task, last.CalledAt, last.Call, []history.Seq{first.Call, last.Call}},
		"%s called %s %d times in a minute, from %s to %s, where %d are allowed", who, s.verb, q.count,
		clock(first.CalledAt), clock(last.CalledAt), s.most)
}
