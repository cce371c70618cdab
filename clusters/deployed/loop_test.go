package deployed

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheLoopKeepsTimeAndOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, got := newLoop(), []string{}
		l.start = time.Now()
		note := func(s string) func() { return func() { got = append(got, s) } }
		l.at(2*time.Second, note("b"))
		l.at(time.Second, func() {
			note("a")()
			l.at(1500*time.Millisecond, note("between"))
		})
		l.at(2*time.Second, note("c"))
		go func() {
			time.Sleep(1700 * time.Millisecond)
			l.Post(note("posted"))
		}()
		if err := l.run(t.Context(), 3*time.Second, nil); err != nil {
			t.Fatal(err)
		}
		if want := []string{"a", "between", "posted", "b", "c"}; !slices.Equal(got, want) {
			t.Errorf("executed %v, want %v", got, want)
		}
		if l.now() != 3*time.Second {
			t.Errorf("it ran until %s, want 3s", l.now())
		}
	})
}

func TestWhatIsDueAtOnceIsDoneBeforeTheClockRuns(t *testing.T) {
	l, got := newLoop(), []string{}
	note := func(s string) func() { return func() { got = append(got, s) } }
	l.at(time.Second, note("later"))
	l.at(0, func() {
		note("first")()
		l.at(0, note("added"))
	})
	l.at(0, note("second"))
	if err := l.early(); err != nil || !slices.Equal(got, []string{"first", "second", "added"}) {
		t.Errorf("executed %v, %v", got, err)
	}
	broken := errors.New("broken")
	l.at(0, func() { l.Fail(broken) })
	if err := l.early(); !errors.Is(err, broken) {
		t.Errorf("a failure is told as %v", err)
	}
}

func TestTheLoopEnds(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		do   func(l *loop, cancel func()) (done func() bool)
		at   time.Duration
		err  error
	}{
		{"when it is done", func(l *loop, _ func()) func() bool {
			return func() bool { return l.now() > 1200*time.Millisecond }
		}, 1500 * time.Millisecond, nil},
		{"when its context ends", func(l *loop, cancel func()) func() bool {
			time.AfterFunc(700*time.Millisecond, cancel)
			return nil
		}, 700 * time.Millisecond, context.Canceled},
		{"when something failed", func(l *loop, _ func()) func() bool {
			time.AfterFunc(900*time.Millisecond, func() { l.Fail(broken); l.Fail(errors.New("later")) })
			return nil
		}, 900 * time.Millisecond, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLoop()
				l.start = time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				err := l.run(ctx, time.Hour, c.do(l, cancel))
				if !errors.Is(err, c.err) || l.now() != c.at {
					t.Errorf("it ended after %s with %v, want %s and %v", l.now(), err, c.at, c.err)
				}
			})
		})
	}
}

// TestAHistoryCountsFromTheStartOrFromNow: a run that failed before it began has a record, too.
func TestAHistoryCountsFromTheStartOrFromNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop()
		if !l.origin().Equal(time.Now()) {
			t.Errorf("not begun, it counts from %s", l.origin())
		}
		l.start = time.Now()
		time.Sleep(time.Second)
		if got := time.Since(l.origin()); got != time.Second {
			t.Errorf("begun a second ago, it counts from %s ago", got)
		}
	})
}
