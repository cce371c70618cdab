package dispatchertest

import (
	"context"
	"sync"
	"testing"

	"github.com/squall-chaos/squall/dispatcher"
)

// locked is a store that may be called concurrently, as far as claims go.
type locked struct {
	dispatcher.Store
	mu *sync.Mutex
}

func (l locked) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Store.Claim(ctx, t, limit)
}

func TestConcurrentClaims(t *testing.T) {
	ExerciseConcurrentClaims(t, func(_ *testing.T, s dispatcher.Settings) (dispatcher.Store, AdvanceClock) {
		side := openMemory(s)
		return locked{side.Store, &sync.Mutex{}}, side.Advance
	})
}

func (l locked) Launched(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, workload dispatcher.UID) (dispatcher.Task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Store.Launched(ctx, t, r, workload)
}
