package checker

import (
	"container/heap"
	"errors"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrProgress is I7-progress.
var ErrProgress = errors.New("while a task is claimable and a dispatcher is up, something is claimed within the bound B")

// dispatcherPrefix is how the names of dispatcher replicas begin (see clusters.Config).
const dispatcherPrefix = "dispatcher"

// progress measures how long nothing is claimed although something could be: a task is pending, due, wanted and owes no
// cleanup; fewer tasks run than may; a dispatcher is up.
func progress(f *finding) {
	if !f.timed() {
		return
	}
	p := &claims{finding: f, tasks: make([]waiting, len(f.Tasks)), up: make([]bool, len(f.Processes))}
	p.always = !p.knowsStarts()
	rows, replicas := f.rows, f.replicas
	for len(rows) > 0 || len(replicas) > 0 {
		if len(replicas) == 0 || (len(rows) > 0 && rows[0] < replicas[0]) {
			e := &f.Events[rows[0]]
			p.advance(e.At)
			p.row(e)
			rows = rows[1:]
		} else {
			e := &f.Events[replicas[0]]
			p.advance(e.At)
			p.replica(e)
			replicas = replicas[1:]
		}
	}
	p.advance(f.last)
	p.stop(f.last, 0)
}

// claims is the state of the pass.
type claims struct {
	*finding
	tasks     []waiting
	later     dueHeap // pending tasks that are not due yet
	claimable int
	running   int
	up        []bool // by process: a dispatcher that runs
	ups       int
	always    bool // no replica's start was recorded: one is up all the time

	idle  bool // something could be claimed, and nothing was, since
	since time.Duration
	task  history.ID // one that could be claimed then
}

// waiting is one task.
type waiting struct {
	phase     history.Phase
	token     uint64
	claimable bool
	version   int32 // of the row: what the heap knows of an older one is void
}

type due struct {
	at      time.Duration
	task    history.ID
	version int32
}

type dueHeap []due

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)        { *h = append(*h, x.(due)) }
func (h *dueHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (p *claims) knowsStarts() bool {
	for _, i := range p.replicas {
		if e := &p.Events[i]; e.Kind == history.ProcessStarted && p.dispatches(e) {
			return true
		}
	}
	return false
}

func (p *claims) dispatches(e *history.Event) bool {
	return strings.HasPrefix(p.process(e.Process), dispatcherPrefix)
}

// advance lets tasks become due.
func (p *claims) advance(to time.Duration) {
	for len(p.later) > 0 && p.later[0].at <= to {
		d := heap.Pop(&p.later).(due)
		if t := &p.tasks[d.task-1]; t.version == d.version {
			t.claimable = true
			p.claimable++
			p.watch(d.at, d.task)
		}
	}
}

func (p *claims) row(e *history.Event) {
	t := &p.tasks[e.Task-1]
	claimed := e.Phase == history.Running && (t.phase != history.Running || e.Token != t.token)
	if claimed {
		p.stop(e.At, e.Seq)
	}
	p.running += count(e.Phase == history.Running) - count(t.phase == history.Running)
	p.claimable -= count(t.claimable)
	t.phase, t.token, t.claimable = e.Phase, e.Token, false
	t.version++
	if e.Phase == history.Pending && !e.Cancelling && !e.Cleanup {
		if e.Due <= e.At {
			t.claimable = true
			p.claimable++
		} else {
			heap.Push(&p.later, due{e.Due, e.Task, t.version})
		}
	}
	p.watch(e.At, e.Task)
}

func (p *claims) replica(e *history.Event) {
	if !p.dispatches(e) {
		return
	}
	up := e.Kind == history.ProcessStarted || e.Kind == history.ProcessResumed
	p.ups += count(up) - count(p.up[e.Process-1])
	p.up[e.Process-1] = up
	p.watch(e.At, 0)
}

// watch begins or ends a time in which something could be claimed.
func (p *claims) watch(at time.Duration, task history.ID) {
	room := p.limits.MaxInFlight == 0 || p.running < p.limits.MaxInFlight
	possible := p.claimable > 0 && room && (p.always || p.ups > 0)
	switch {
	case possible && !p.idle:
		p.idle, p.since, p.task = true, at, task
		p.exercised++
	case !possible:
		p.stop(at, 0)
	}
}

// stop judges the time since which nothing was claimed.
func (p *claims) stop(at time.Duration, claim history.Seq) {
	if !p.idle {
		return
	}
	p.idle = false
	if p.harmless(p.bound(1) - (at - p.since)) {
		return
	}
	allowed := allowance{p.bound(1), p.restart()}
	excess := p.disturbed.excess(p.since, at, allowed)
	p.margin(-excess, "between the longest time that nothing was claimed and B")
	if excess <= 0 {
		return
	}
	moment := p.disturbed.reached(p.since, at, allowed)
	b := breach{task: p.task, at: moment, seq: p.seqAt(moment), evidence: []history.Seq{p.seqAt(p.since)}}
	how := "to the end of that chance"
	if claim != 0 {
		b.evidence = append(b.evidence, claim)
		how = "to the next claim"
	}
	p.violate(b, "nothing was claimed for %s, from %s %s at %s, although %s claimable, room was left and a dispatcher was up: %s were undisturbed, and B is %s",
		clock(at-p.since), clock(p.since), how, clock(at), p.waiters(), clock(p.disturbed.undisturbed(p.since, at)), clock(allowed.bound))
}

// waiters says what could have been claimed.
func (p *claims) waiters() string {
	if p.task == 0 || p.claimable > 1 {
		return plural(max(p.claimable, 1), "task") + " stood"
	}
	return p.finding.task(p.task) + " was"
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
