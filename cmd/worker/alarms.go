package main

import (
	"math"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// alarms ring in the order of their times, also when several are overdue because the process was frozen: a lease that ran out
// before the work was done ends it.
type alarms struct {
	clock dispatcher.Clock
	all   [alarmCount]alarm
	timer *time.Timer
}

type alarm struct {
	at   time.Duration // on the own monotonic clock; never: off
	ring func()
}

const never = time.Duration(math.MaxInt64)

func newAlarms(c dispatcher.Clock) alarms {
	a := alarms{clock: c, timer: time.NewTimer(never)}
	for i := range a.all {
		a.stop(i)
	}
	return a
}

func (a *alarms) set(which int, at time.Duration, ring func()) { a.all[which] = alarm{at, ring} }

func (a *alarms) stop(which int) { a.all[which] = alarm{at: never} }

func (a *alarms) earliest() int {
	first := 0
	for i := range a.all {
		if a.all[i].at < a.all[first].at {
			first = i
		}
	}
	return first
}

// due takes the earliest alarm off if its time has come, and returns what it rings; or nil.
func (a *alarms) due() func() {
	first := a.earliest()
	if a.all[first].at > a.clock.Elapsed() {
		return nil
	}
	ring := a.all[first].ring
	a.stop(first)
	return ring
}

// wait returns what tells when the next alarm is due.
func (a *alarms) wait() <-chan time.Time {
	left := never
	if at := a.all[a.earliest()].at; at < never {
		left = at - a.clock.Elapsed()
	}
	a.timer.Reset(left)
	return a.timer.C
}
