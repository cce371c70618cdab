package memory_test

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

// clock is a database clock that tests move.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) advance(d time.Duration) { c.now = c.now.Add(d) }

func open(_ *testing.T, s dispatcher.Settings) (dispatcher.Store, dispatchertest.AdvanceClock) {
	c := newClock()
	return memory.New(s, func() time.Time { return c.now }), c.advance
}

func TestStore(t *testing.T) { dispatchertest.ExerciseStore(t, open) }
