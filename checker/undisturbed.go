package checker

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Liveness is judged in undisturbed time: what is left of an interval without the windows of the faults, each from when it
// struck until it healed and for as long after that as it may still delay the system (the fault's own Until).
//
// Why that is sound, that is, accuses nobody wrongly. Inside a window nothing is asked of the system. Outside, each step of a
// recovery is either durable once done (a stamp, a commit, a deletion), so that later windows cannot undo it, or a wait that a
// process keeps in memory: a sweep's or a tick's period, one call. A window may make such a wait begin anew. So the
// bound grows by one of each wait for every window that ends inside the interval. Besides, a single undisturbed stretch
// that is longer than the bound needs no such allowance: it would do even from scratch. An interval is a
// violation only when it is too long by one of the two counts.
//
// It is not complete: windows that follow each other closely leave little to judge. That is what the settle phase is for.

// window is one stretch of time in which faults may delay the system.
type window struct{ from, to time.Duration }

// windows are disjoint and in order, with sums.
type windows struct {
	list   []window
	before []time.Duration // by window: how much all earlier ones cover
}

const forever = time.Duration(1<<63 - 1)

// disturbances are the windows of a run's faults. A fault that never healed lasts until all faults healed, or for ever.
func disturbances(r *run) windows {
	var list []window
	type open struct {
		from  time.Duration
		until time.Duration
	}
	struck := map[int32]open{} // faults are few
	var order []int32
	for _, i := range r.faults {
		e := &r.Events[i]
		switch e.Kind {
		case history.FaultStruck:
			if _, again := struck[e.Fault]; !again {
				struck[e.Fault] = open{e.At, e.Due}
				order = append(order, e.Fault)
			}
		case history.FaultHealed:
			if o, ok := struck[e.Fault]; ok {
				list = append(list, window{o.from, e.At + max(e.Due, o.until)})
				delete(struck, e.Fault)
			}
		}
	}
	for _, fault := range order {
		o, ok := struck[fault]
		if !ok {
			continue
		}
		to := forever
		if r.healed != nil {
			to = r.healed.At + o.until
		}
		list = append(list, window{o.from, to})
		delete(struck, fault)
	}
	return newWindows(list)
}

// newWindows joins what overlaps.
func newWindows(list []window) windows {
	slices.SortFunc(list, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	var w windows
	for _, next := range list {
		if n := len(w.list); n > 0 && next.from <= w.list[n-1].to {
			w.list[n-1].to = max(w.list[n-1].to, next.to)
			continue
		}
		w.list = append(w.list, next)
	}
	sum := time.Duration(0)
	for _, one := range w.list {
		w.before = append(w.before, sum)
		sum += one.to - one.from
	}
	return w
}

// first is the index of the first window that ends after the moment.
func (w windows) first(after time.Duration) int {
	return sort.Search(len(w.list), func(i int) bool { return w.list[i].to > after })
}

// covered is how much of the time up to the moment the windows cover.
func (w windows) covered(to time.Duration) time.Duration {
	i := w.first(to)
	if i == len(w.list) {
		if i == 0 {
			return 0
		}
		last := w.list[i-1]
		return w.before[i-1] + last.to - last.from
	}
	return w.before[i] + max(0, to-w.list[i].from)
}

// undisturbed is how much of the interval no window covers.
func (w windows) undisturbed(from, to time.Duration) time.Duration {
	if to <= from {
		return 0
	}
	return to - from - (w.covered(to) - w.covered(from))
}

// restarts is how many windows end inside the interval.
func (w windows) restarts(from, to time.Duration) int { return w.first(to) - w.first(from) }

// stretch is the longest undisturbed stretch inside the interval.
func (w windows) stretch(from, to time.Duration) time.Duration {
	longest := time.Duration(0)
	for i := w.first(from); i < len(w.list) && w.list[i].from < to; i++ {
		longest = max(longest, w.list[i].from-from)
		from = w.list[i].to
	}
	return max(longest, to-from)
}

// allowance is how long something may take: a bound, and what each restart adds to it.
type allowance struct{ bound, restart time.Duration }

// excess is how much longer than allowed an interval was, by the count that accuses; negative: what was left.
func (w windows) excess(from, to time.Duration, a allowance) time.Duration {
	if to <= from {
		return -a.bound
	}
	total := w.undisturbed(from, to)
	over := total - a.bound - time.Duration(w.restarts(from, to))*a.restart
	if over > 0 || total <= a.bound {
		return over
	}
	return max(over, w.stretch(from, to)-a.bound)
}

// reached is the moment at which an interval that began at from was longer than allowed, and until is past it.
func (w windows) reached(from, until time.Duration, a allowance) time.Duration {
	low, high := from, until
	for high-low > time.Millisecond {
		if middle := low + (high-low)/2; w.excess(from, middle, a) > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// bound is B, how long a lost task may stay running, or a claimable one unclaimed, in undisturbed time. What a fault itself
// imposes ("detect") is in its window. It is dispatcher.Settings.Bound, from the history's own limits.
func (r *run) bound(lost int) time.Duration {
	l := r.limits
	rounds := 1
	if l.RecoverBatch > 0 {
		rounds = (max(lost, 1) + l.RecoverBatch - 1) / l.RecoverBatch
	}
	return l.RecoveryGrace + time.Duration(rounds)*l.RecoverInterval + l.Tick + l.CreateTimeout
}

// restart is what a process keeps in memory and may have to wait for anew.
func (r *run) restart() time.Duration {
	return r.limits.RecoverInterval + r.limits.Tick + r.limits.CreateTimeout
}

// timed tells whether the history says what it may be judged by.
func (f *finding) timed() bool {
	if f.bound(1) > 0 {
		return true
	}
	f.note = "the history has no limits to judge by"
	return false
}
