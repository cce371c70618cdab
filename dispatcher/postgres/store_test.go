package postgres

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

func TestStore(t *testing.T) {
	t.Parallel()
	dispatchertest.ExerciseStore(t, opener(t))
}

func TestConcurrentClaims(t *testing.T) {
	t.Parallel()
	dispatchertest.ExerciseConcurrentClaims(t, opener(t))
}

// TestSameAsMemory makes the same random calls on the specification and on the server.
func TestSameAsMemory(t *testing.T) {
	t.Parallel()
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	specification := memory.New(dispatchertest.DiffSettings(), func() time.Time { return now })
	store, advance := opener(t)(t, dispatchertest.DiffSettings())
	dispatchertest.DiffStores(t,
		dispatchertest.Side{Store: specification, Advance: func(d time.Duration) { now = now.Add(d) }},
		dispatchertest.Side{Store: store, Advance: advance}, 1, 1000)
}
