package dispatchertest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/squall-chaos/squall/dispatcher"
)

// ExerciseConcurrentClaims has the dispatcher's term claim from several goroutines at once, as a replica does whose
// lost call is still under way when it asks again. No attempt may be granted twice, no task skipped, and the limit
// on tasks in flight holds for all together. Only for stores that may be called concurrently.
func ExerciseConcurrentClaims(t *testing.T, open func(t *testing.T, s dispatcher.Settings) (dispatcher.Store, AdvanceClock)) {
	const tasks, inFlight, callers = 60, 45, 8
	s := suiteSettings()
	s.MaxInFlight = inFlight
	store, advance := open(t, s)
	f := newFixture(t, store, advance)
	for i := range tasks {
		f.submit(dispatcher.TaskID(fmt.Sprintf("t%02d", i)))
	}
	granted := make([][]dispatcher.Task, callers)
	errs := make([]error, callers)
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			for range tasks {
				claimed, err := f.claimAndLaunch(4)
				if err != nil {
					errs[i] = err
					return
				}
				granted[i] = append(granted[i], claimed...)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		f.ok(err)
	}
	owner := map[dispatcher.Token]dispatcher.TaskID{}
	for _, claimed := range granted {
		for _, c := range claimed { // a row still launching may be granted again, with the same token
			if other, ok := owner[c.Attempt.Token]; ok && other != c.Spec.ID {
				t.Fatalf("token %d for %s and for %s", c.Attempt.Token, other, c.Spec.ID)
			}
			owner[c.Attempt.Token] = c.Spec.ID
			f.equal("attempt of "+string(c.Spec.ID), c.Attempt.Number, 1)
		}
	}
	f.equal("attempts granted", len(owner), inFlight)
}

// claimAndLaunch is a dispatcher's tick. Two that took over the same row record the same object.
func (f *fixture) claimAndLaunch(limit int) ([]dispatcher.Task, error) {
	claimed, err := f.store.Claim(f.ctx, f.disp, limit)
	for _, t := range claimed {
		if err == nil {
			_, err = f.store.Launched(f.ctx, f.disp, t.Ref(), ticket(t).Workload)
		}
	}
	return claimed, err
}
