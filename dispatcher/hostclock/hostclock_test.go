package hostclock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/squall-chaos/squall/dispatcher/hostclock"
)

func TestSleepTakesAsLongAsItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hostclock.New()
		for _, d := range []time.Duration{-time.Second, 0, time.Millisecond, time.Hour} {
			before := c.Elapsed()
			if err := c.Sleep(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if slept := c.Elapsed() - before; slept != max(0, d) {
				t.Errorf("a sleep of %s took %s", d, slept)
			}
		}
	})
}

func TestSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hostclock.New()
		ctx, cancel := c.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || c.Elapsed() != time.Second {
			t.Errorf("after %s: %v", c.Elapsed(), err)
		}
		if err := c.Sleep(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no sleep at all under a context that is over: %v", err)
		}
	})
}

func TestNowIsTheWallClockAlone(t *testing.T) {
	now := hostclock.New().Now()
	if now != now.Round(0) { // compares the readings too
		t.Error("the wall clock carries a monotonic reading")
	}
	if off := time.Since(now); off < 0 || off > time.Minute {
		t.Errorf("the wall clock is off by %s", off)
	}
}
