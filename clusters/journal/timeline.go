package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrClockStepped says that somebody set the real-time clock during the run: what the database stamped cannot be put in order with
// what the processes did.
var ErrClockStepped = errors.New("the machine's clock was set during the run; repeat it with time synchronisation stopped, or left to slew")

const (
	// stepped is how far the two clocks of the machine may move against each other.
	stepped = 5 * time.Millisecond
	// together is how many stamps are looked at together. A process can lose the processor between its readings of the two clocks,
	// which spoils one stamp and not the median of its neighbours.
	together = 8
)

// timeline is the one time of a run. Processes are ordered by the monotonic clock, which nobody can set; what only has a stamp of
// the real-time clock, as the database's rows have, is put between them by the difference of the two.
type timeline struct {
	start time.Time
	ahead time.Duration // of the real-time clock, counted from start, before the monotonic clock
	known bool
}

// stamps are both clocks at one moment.
type stamps struct{ monotonic, ahead time.Duration }

func newTimeline(start time.Time, calls []Call, events []Event) (timeline, error) {
	t := timeline{start: start.Round(0)} // without the reading of our own monotonic clock
	var all []stamps
	add := func(at time.Time, monotonic time.Duration) {
		if monotonic != 0 {
			all = append(all, stamps{monotonic, at.Sub(t.start) - monotonic})
		}
	}
	for i := range calls {
		add(calls[i].Called, calls[i].CalledMonotonic)
		add(calls[i].Returned, calls[i].ReturnedMonotonic)
	}
	for i := range events {
		add(events[i].At, events[i].Monotonic)
	}
	if len(all) == 0 {
		return t, nil
	}
	slices.SortFunc(all, func(a, b stamps) int { return cmp.Compare(a.monotonic, b.monotonic) })
	t.known = true
	return t, t.compare(all)
}

// compare finds how far the real-time clock is ahead, and whether that changed.
func (t *timeline) compare(all []stamps) error {
	var err error
	for i := 0; i == 0 || i+together <= len(all); i += together {
		group := all[i:min(i+together, len(all))]
		at := group[0].monotonic
		ahead := median(group)
		if i == 0 {
			t.ahead = ahead
		}
		if by := ahead - t.ahead; err == nil && (by > stepped || by < -stepped) {
			err = fmt.Errorf("%w: by %s, %s after the start", ErrClockStepped, by, at+t.ahead)
		}
	}
	return err
}

// median may reorder the group, whose order nobody needs any more.
func median(group []stamps) time.Duration {
	slices.SortFunc(group, func(a, b stamps) int { return cmp.Compare(a.ahead, b.ahead) })
	return group[len(group)/2].ahead
}

// of is a moment as an offset from the start.
func (t timeline) of(at time.Time, monotonic time.Duration) time.Duration {
	if t.known && monotonic != 0 {
		return monotonic + t.ahead
	}
	return at.Sub(t.start)
}
