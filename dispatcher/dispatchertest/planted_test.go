package dispatchertest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

// recorder notes the first failure, where testing.T would end the test.
type recorder struct{ failure string }

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure runs a case and returns how it failed, empty when it passed.
func failure(run func(r reporter)) string {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(r)
	}()
	<-done
	return r.failure
}

func openMemory(s dispatcher.Settings) Side {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return Side{memory.New(s, func() time.Time { return now }), func(d time.Duration) { now = now.Add(d) }}
}

// wrong is a store with one defect; whatever it does not override is right.
type wrong struct{ dispatcher.Store }

type freeForAll struct{ wrong }        // a cancel does not reach the worker
type doubleCharge struct{ wrong }      // Requeue looks at the token only
type anyEpoch struct{ wrong }          // a fenced claim is answered as one that found nothing
type fencedLate struct{ wrong }        // a missing row comes before the fence
type forgetful struct{ wrong }         // Cleaned does not care how old its caller's knowledge is
type eager struct{ wrong }             // Claim does not respect the limit
type conditionalLaunch struct{ wrong } // Launched is conditional on the version
type secondFinish struct{ wrong }      // a repeated Finish is refused
type twoObjects struct{ wrong }        // Start ignores which object asks
type lazyScan struct{ wrong }          // a page never says that there is more
type mutableEnd struct{ wrong }        // Cancel claims to have cancelled a success
type lostConflict struct{ wrong }      // a conflict is reported as success
type stuckPostpone struct{ wrong }     // Postpone does nothing
type lateRequeue struct{ wrong }       // a repeated Requeue is taken for done
type noIdentity struct{ wrong }        // a second spec under an ID is taken for the first

func (w freeForAll) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	_ = w.Store.Heartbeat(ctx, k)
	return nil
}

func (w doubleCharge) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	if row, err := w.Read(ctx, r.ID); err == nil && row.Attempt.Token == r.Token {
		r.Version = row.Version
	}
	return w.Store.Requeue(ctx, t, r, why)
}

func (w anyEpoch) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	tasks, err := w.Store.Claim(ctx, t, limit)
	if err != nil {
		return nil, nil
	}
	return tasks, err
}

func (w fencedLate) Reject(ctx context.Context, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
	if _, err := w.Read(ctx, r.ID); err != nil {
		return dispatcher.Task{}, err
	}
	return w.Store.Reject(ctx, t, r)
}

func (w forgetful) Cleaned(ctx context.Context, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
	if row, err := w.Read(ctx, r.ID); err == nil {
		r = row.Ref()
	}
	return w.Store.Cleaned(ctx, t, r)
}

func (w eager) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	return w.Store.Claim(ctx, t, limit+1)
}

func (w conditionalLaunch) Launched(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, workload dispatcher.UID) (dispatcher.Task, error) {
	if row, err := w.Read(ctx, r.ID); err == nil && row.Version != r.Version {
		return dispatcher.Task{}, dispatcher.ErrConflict
	}
	return w.Store.Launched(ctx, t, r, workload)
}

func (w secondFinish) Finish(ctx context.Context, k dispatcher.Ticket, r dispatcher.Result) (dispatcher.Task, error) {
	if row, err := w.Read(ctx, k.ID); err == nil && row.Phase != dispatcher.Running {
		return dispatcher.Task{}, dispatcher.ErrRefused
	}
	return w.Store.Finish(ctx, k, r)
}

func (w twoObjects) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	if row, err := w.Read(ctx, k.ID); err == nil && row.Attempt.Workload != "" {
		k.Workload = row.Attempt.Workload
	}
	return w.Store.Start(ctx, k)
}

func (w lazyScan) Scan(ctx context.Context, s dispatcher.Scan) (dispatcher.Page, error) {
	page, err := w.Store.Scan(ctx, s)
	page.More = false
	return page, err
}

func (w mutableEnd) Cancel(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	t, err := w.Store.Cancel(ctx, id)
	if t.Phase == dispatcher.Succeeded {
		t.Phase = dispatcher.Cancelled
	}
	return t, err
}

func (w lostConflict) Conclude(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	task, err := w.Store.Conclude(ctx, t, r, why)
	if err != nil {
		return w.Read(ctx, r.ID)
	}
	return task, nil
}

func (w stuckPostpone) Postpone(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, _ time.Duration) (dispatcher.Task, error) {
	return w.Store.Postpone(ctx, t, r, 0)
}

func (w noIdentity) Submit(ctx context.Context, s dispatcher.Spec) (dispatcher.Task, error) {
	if row, err := w.Read(ctx, s.ID); err == nil {
		return row, nil
	}
	return w.Store.Submit(ctx, s)
}

func (w lateRequeue) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	if row, err := w.Read(ctx, r.ID); err == nil && row.Phase == dispatcher.Pending {
		return row, nil
	}
	return w.Store.Requeue(ctx, t, r, why)
}

// planted are the defects, each with the case that must catch it.
var planted = []struct {
	caught string
	with   func(dispatcher.Settings) (dispatcher.Settings, func(dispatcher.Store) dispatcher.Store)
}{
	{"cancel/is not overtaken by a success", store(func(w wrong) dispatcher.Store { return freeForAll{w} })},
	{"requeue/repeated is a conflict, not a second charge", store(func(w wrong) dispatcher.Store { return lateRequeue{w} })},
	{"fence/every leader write", store(func(w wrong) dispatcher.Store { return doubleCharge{w} })},
	{"fence/a claim", store(func(w wrong) dispatcher.Store { return anyEpoch{w} })},
	{"fence/every leader write", store(func(w wrong) dispatcher.Store { return fencedLate{w} })},
	{"fence/every leader write", store(func(w wrong) dispatcher.Store { return forgetful{w} })},
	{"claim/limit 0 grants nothing", store(func(w wrong) dispatcher.Store { return eager{w} })},
	{"launched/is not refused because the worker was faster", store(func(w wrong) dispatcher.Store { return conditionalLaunch{w} })},
	{"finish/a success is final", store(func(w wrong) dispatcher.Store { return secondFinish{w} })},
	{"start/one object per attempt", store(func(w wrong) dispatcher.Store { return twoObjects{w} })},
	{"scan/finds what runs and what is to be removed, in pages", store(func(w wrong) dispatcher.Store { return lazyScan{w} })},
	{"in every state/Cancel", store(func(w wrong) dispatcher.Store { return mutableEnd{w} })},
	{"in every state/Conclude, deadline", store(func(w wrong) dispatcher.Store { return lostConflict{w} })},
	{"postpone/hides the row until the cleanup is due", store(func(w wrong) dispatcher.Store { return stuckPostpone{w} })},
	{"submit/another spec under the same ID conflicts", store(func(w wrong) dispatcher.Store { return noIdentity{w} })},
	{"in flight/no more than the limit run at once", settings(func(s *dispatcher.Settings) { s.MaxInFlight = 0 })},
	{"backoff/doubles up to its limit", settings(func(s *dispatcher.Settings) { s.MaxBackoff *= 2 })},
	{"claim/waits for the backoff and for the cleanup", settings(func(s *dispatcher.Settings) { s.Backoff = time.Second })},
	{"budget/the last failure stops the task", settings(func(s *dispatcher.Settings) { s.MaxFailures++ })},
	{"budget/one disruption too many stops the task", settings(func(s *dispatcher.Settings) { s.MaxDisruptions++ })},
}

// store plants a defect in the code, settings one in what the store believes its settings to be.
func store(plant func(wrong) dispatcher.Store) func(dispatcher.Settings) (dispatcher.Settings, func(dispatcher.Store) dispatcher.Store) {
	return func(s dispatcher.Settings) (dispatcher.Settings, func(dispatcher.Store) dispatcher.Store) {
		return s, func(right dispatcher.Store) dispatcher.Store { return plant(wrong{right}) }
	}
}

func settings(change func(*dispatcher.Settings)) func(dispatcher.Settings) (dispatcher.Settings, func(dispatcher.Store) dispatcher.Store) {
	return func(s dispatcher.Settings) (dispatcher.Settings, func(dispatcher.Store) dispatcher.Store) {
		change(&s)
		return s, func(right dispatcher.Store) dispatcher.Store { return right }
	}
}

func TestEachPlantedDefectIsCaught(t *testing.T) {
	for _, p := range planted {
		t.Run(p.caught, func(t *testing.T) {
			for _, c := range storeCases() {
				if c.name != p.caught {
					continue
				}
				s, plant := p.with(c.settings())
				side := openMemory(s)
				got := failure(func(r reporter) { c.run(newFixture(r, plant(side.Store), side.Advance)) })
				if got == "" {
					t.Fatal("the case passed")
				}
				return
			}
			t.Fatal("no such case")
		})
	}
}

func TestDiffOfEqualStores(t *testing.T) {
	for seed := range uint64(5) {
		DiffStores(t, openMemory(DiffSettings()), openMemory(DiffSettings()), seed, 2000)
	}
}

func TestDiffSeesEachPlantedDefect(t *testing.T) {
	for _, p := range planted {
		t.Run(p.caught, func(t *testing.T) {
			s, plant := p.with(DiffSettings())
			right, side := openMemory(DiffSettings()), openMemory(s)
			got := failure(func(r reporter) {
				diffStores(r, right, Side{plant(side.Store), side.Advance}, 1, 10000)
			})
			if !strings.Contains(got, "the stores differ") {
				t.Fatalf("no difference was found: %q", got)
			}
		})
	}
}

// TestDiffDemandsEveryOperation takes one operation away: the comparison must not come to a good end.
func TestDiffDemandsEveryOperation(t *testing.T) {
	s := openMemory(DiffSettings())
	other := openMemory(DiffSettings())
	got := failure(func(r reporter) {
		diffStores(r, Side{deaf{s.Store}, s.Advance}, Side{deaf{other.Store}, other.Advance}, 1, 100)
	})
	if !strings.Contains(got, "still not seen: Heartbeat accepted") {
		t.Fatalf("got %q", got)
	}
}

// deaf refuses every heartbeat.
type deaf struct{ dispatcher.Store }

func (deaf) Heartbeat(context.Context, dispatcher.Ticket) error { return dispatcher.ErrRefused }
