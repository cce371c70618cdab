package memory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// TestIndexesFollowTheRows makes random calls, failovers among them, and compares every index with what a walk
// over all rows finds.
func TestIndexesFollowTheRows(t *testing.T) {
	settings, _ := dispatcher.Profile("tick-300s")
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	s := New(settings, func() time.Time { return now })
	s.KeepUndo = true
	r := rand.New(rand.NewPCG(1, 2))
	for step := range 20_000 {
		now = now.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
		randomCall(s, r)
		if r.IntN(100) == 0 {
			s.Rewind(now.Add(-time.Duration(r.IntN(30)) * time.Second))
		}
		if step%10 == 0 {
			checkIndexes(t, s)
		}
	}
}

func randomCall(s *Store, r *rand.Rand) {
	ctx := context.Background()
	id := dispatcher.TaskID(fmt.Sprintf("t%03d", r.IntN(150)))
	task, _ := s.Read(ctx, id)
	disp := dispatcher.Term{Role: dispatcher.RoleDispatcher, Epoch: s.Current(dispatcher.RoleDispatcher)}
	rec := dispatcher.Term{Role: dispatcher.RoleReconciler, Epoch: s.Current(dispatcher.RoleReconciler)}
	k := dispatcher.Ticket{ID: id, Token: task.Attempt.Token, Workload: "uid"}
	switch r.IntN(16) {
	case 0, 1:
		_, _ = s.Submit(ctx, dispatcher.Spec{ID: id, StartDeadline: time.Duration(r.IntN(2)) * time.Minute})
	case 2:
		_, _ = s.Cancel(ctx, id)
	case 3:
		_, _ = s.Lead(ctx, [2]dispatcher.Role{disp.Role, rec.Role}[r.IntN(2)], "test")
	case 4, 5:
		_, _ = s.Claim(ctx, disp, r.IntN(5))
	case 6:
		_, _ = s.Launched(ctx, disp, task.Ref(), "uid")
	case 7:
		_, _ = s.Unclaim(ctx, disp, task.Ref(), time.Duration(r.IntN(60))*time.Second)
	case 8, 9:
		_, _ = s.Start(ctx, k)
	case 10:
		_, _ = s.Finish(ctx, k, dispatcher.ResultFailed)
	case 11:
		_, _ = s.Requeue(ctx, rec, task.Ref(), dispatcher.ReasonLost)
	case 12:
		_, _ = s.Cleaned(ctx, rec, task.Ref())
	case 13:
		_, _ = s.Postpone(ctx, rec, task.Ref(), time.Duration(r.IntN(60))*time.Second)
	case 14:
		_, _ = s.Resume(ctx, id)
	case 15:
		_, _ = s.Scan(ctx, dispatcher.Scan{Limit: r.IntN(9)})
	}
}

func checkIndexes(t *testing.T, s *Store) {
	t.Helper()
	for i := range s.indexes {
		var want []entry
		for _, r := range s.rows {
			if p := s.placesOf(r); p[i] != absent {
				want = append(want, entry{p[i], r})
			}
		}
		slices.SortFunc(want, compare)
		if got := s.indexes[i].entries(); !slices.Equal(got, want) {
			t.Fatalf("index %d has %d entries, want %d, or they are in another order", i, len(got), len(want))
		}
	}
}

// BenchmarkLife is one task from Submit to Cleaned, with some others about: eleven calls.
func BenchmarkLife(b *testing.B) {
	for _, undo := range []bool{false, true} {
		b.Run(fmt.Sprintf("undo=%v", undo), func(b *testing.B) { benchmarkLife(b, undo) })
	}
}

func benchmarkLife(b *testing.B, undo bool) {
	settings, _ := dispatcher.Profile("tick-300s")
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	s, ctx := New(settings, func() time.Time { return now }), context.Background()
	s.KeepUndo = undo
	disp, _ := s.Lead(ctx, dispatcher.RoleDispatcher, "bench")
	rec, _ := s.Lead(ctx, dispatcher.RoleReconciler, "bench")
	for i := range 500 {
		_, _ = s.Submit(ctx, dispatcher.Spec{ID: dispatcher.TaskID(fmt.Sprintf("t%d", i))})
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i == 500 {
			i = 0
		}
		now = now.Add(100 * time.Millisecond)
		tasks, err := s.Claim(ctx, disp, 1)
		if err != nil || len(tasks) != 1 {
			b.Fatal("nothing to claim")
		}
		t := tasks[0]
		k := dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: "uid"}
		_, _ = s.Launched(ctx, disp, t.Ref(), "uid")
		_, _ = s.Start(ctx, k)
		for range 5 {
			_ = s.Heartbeat(ctx, k)
		}
		t, _ = s.Read(ctx, t.Spec.ID)
		t, _ = s.Requeue(ctx, rec, t.Ref(), dispatcher.ReasonLost)
		if t, err = s.Cleaned(ctx, rec, t.Ref()); err != nil {
			b.Fatal(err)
		}
		if t.Phase == dispatcher.NeedsAttention {
			_, _ = s.Resume(ctx, t.Spec.ID)
		}
	}
}
