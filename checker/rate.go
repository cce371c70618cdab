package checker

import (
	"errors"
	"slices"
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
	// perTask is how often a process may call one verb about each task that it calls about, however many that are: in two sweeps a minute
	// the reconciler looks at a task up to six times each. With a hundred tasks it is Limits.CallsPerMinute.
	perTask = 12
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
	spare       int // by how many calls it is surely below what its tasks allow; negative: not known
}

func (f *finding) rateOf(s series) {
	calls := f.verbs[s.verb]
	if len(calls) < 2 {
		return
	}
	streams, next := f.series(s.keys, len(calls))
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
		q.spare--
		for f.Operations[calls[q.first]].CalledAt <= o.CalledAt-rateWindow {
			q.first = next[q.first]
			q.count--
			q.spare -= perTask - 1 // its task may have had no other
		}
		if int(q.count) > s.most && !s.perTask && f.spread(q, s.verb, next) {
			q.over = false
			continue
		}
		f.pace(q, s, &f.Operations[calls[q.first]], o)
	}
}

// spread tells whether the calls of a stream are about so many tasks that none has more than its share: that is much to do, not a loop.
func (f *finding) spread(q *stream, verb history.Verb, next []int32) bool {
	if q.spare >= 0 {
		return true
	}
	tasks := map[history.ID]bool{}
	for i := q.first; ; i = next[i] {
		if t := f.Operations[f.verbs[verb][i]].Task; t != 0 {
			tasks[t] = true
		}
		if i == q.last {
			break
		}
	}
	q.spare = len(tasks)*perTask - int(q.count)
	return q.spare >= 0
}

// series has room for as many streams and calls.
func (r *run) series(keys, calls int) ([]stream, []int32) {
	r.streams = slices.Grow(r.streams[:0], keys)[:keys]
	r.next = slices.Grow(r.next[:0], calls)[:calls]
	clear(r.streams)
	return r.streams, r.next
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
