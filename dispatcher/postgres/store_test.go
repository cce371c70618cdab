package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

func TestStore(t *testing.T) {
	t.Parallel()
	dispatchertest.ExerciseStore(t, opener(t))
}

func TestConcurrentClaims(t *testing.T) {
	t.Parallel()
	dispatchertest.ExerciseConcurrentClaims(t, opener(t, serializable))
}

// TestReplicaAnswersStaleScansAlone has a store whose replica shows another past altogether.
func TestReplicaAnswersStaleScansAlone(t *testing.T) {
	t.Parallel()
	primary, replica := newLossy(t), newLossy(t)
	primary.bring(dispatcher.Launched)
	old := replica.bring(dispatcher.Executing)
	primary.store.Replica = replica.other.pool
	for _, stale := range []bool{false, true} {
		page, err := primary.store.Scan(t.Context(), dispatcher.Scan{Stale: stale})
		primary.ok(err)
		primary.equal("rows", len(page.Tasks), 1)
		primary.equal("from the replica", page.Tasks[0] == old, stale)
	}
}

// TestSameAsMemory makes the same random calls on the specification and on the server.
func TestSameAsMemory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
			specification := memory.New(dispatchertest.DiffSettings(), func() time.Time { return now })
			store, advance := opener(t)(t, dispatchertest.DiffSettings())
			dispatchertest.DiffStores(t,
				dispatchertest.Side{Store: specification, Advance: func(d time.Duration) { now = now.Add(d) }},
				dispatchertest.Side{Store: store, Advance: advance}, seed, 700)
		})
	}
}
