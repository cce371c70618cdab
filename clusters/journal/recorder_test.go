package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

// file keeps every Write apart.
type file struct {
	mu     sync.Mutex
	writes [][]byte
}

func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = append(f.writes, bytes.Clone(p))
	return len(p), nil
}

func (f *file) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(bytes.Join(f.writes, nil))
}

func newStore() dispatcher.Store {
	settings, _ := dispatcher.Profile("b0")
	var mu sync.Mutex
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return &locked{Store: memory.New(settings, func() time.Time { return now }), mu: &mu}
}

// locked makes the reference store, which is not for goroutines, take two calls one after the other.
type locked struct {
	dispatcher.Store
	mu *sync.Mutex
}

func (l *locked) Submit(ctx context.Context, s dispatcher.Spec) (dispatcher.Task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Store.Submit(ctx, s)
}

// TestManyCallsAtOnce has many goroutines share a recorder.
func TestManyCallsAtOnce(t *testing.T) {
	f := &file{}
	r := journal.NewRecorder(f, "client-1")
	s := r.Store(newStore())
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			for j := range 20 {
				if _, err := s.Submit(t.Context(), dispatcher.Spec{ID: dispatcher.TaskID(fmt.Sprint(i, "-", j)), MaxFailures: 3}); err != nil {
					t.Error(err)
				}
				r.Event(journal.Event{Kind: history.ProcessStarted})
			}
		})
	}
	wait.Wait()
	for _, w := range f.writes {
		if bytes.Count(w, []byte("\n")) != 1 || w[len(w)-1] != '\n' {
			t.Fatalf("one write is not one line: %s", w)
		}
	}
	calls, events := read(t, f.String())
	if len(calls) != 400 || len(events) != 400 {
		t.Fatalf("%d calls and %d events", len(calls), len(events))
	}
	for _, c := range calls {
		if c.Outcome != history.OK || c.Process != "client-1" || c.Rows[0].Phase != history.Pending || c.Spec.MaxFailures != 3 ||
			c.Rows[0].Version != 1 || c.Returned.Before(c.Called) || c.CalledMonotonic == 0 || c.ReturnedMonotonic < c.CalledMonotonic {
			t.Fatalf("call %+v", c)
		}
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

// spying looks at the journal while the call is under way.
type spying struct {
	dispatcher.Store
	look func()
}

func (s spying) Now(context.Context) (time.Time, error) {
	s.look()
	return time.Time{}, fmt.Errorf("read: %w: %w", dispatcher.ErrUnknown, io.ErrUnexpectedEOF)
}

// TestTheCallIsWrittenBeforeItLeaves so that whoever dies in it has said so.
func TestTheCallIsWrittenBeforeItLeaves(t *testing.T) {
	f := &file{}
	s := journal.NewRecorder(f, "client-1").Store(spying{newStore(), func() {
		calls, _ := read(t, f.String())
		if len(calls) != 1 || calls[0].Verb != history.Now || !calls[0].Returned.IsZero() || calls[0].Outcome != history.Unknown {
			t.Errorf("while the call is under way the journal has %+v", calls)
		}
	}})
	_, _ = s.Now(t.Context())
	calls, _ := read(t, f.String())
	if c := calls[0]; c.Returned.IsZero() || c.Outcome != history.Unknown || c.Code != history.Reset {
		t.Errorf("afterwards it has %+v", c)
	}
}

// TestEventsComeBackAsTheyWere has one with every field.
func TestEventsComeBackAsTheyWere(t *testing.T) {
	f := &file{}
	r := journal.NewRecorder(f, "harness")
	want := journal.Event{At: time.Unix(3, 4), Kind: history.Row, Process: "p", Task: "a", Node: "n", Object: "u", Detail: "why",
		Phase: history.Failed, Cancelling: true, Cleanup: true, Fault: 1, Failures: 2, Disruptions: 3, Token: 4, Epoch: 5,
		Due: time.Unix(6, 7), Delay: time.Second, Monotonic: time.Minute}
	r.Event(want)
	if _, events := read(t, f.String()); len(events) != 1 || events[0] != want {
		t.Errorf("%+v, expected %+v", events, want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAFullDiskChangesNoCall(t *testing.T) {
	r := journal.NewRecorder(full{}, "client-1")
	if _, err := r.Store(newStore()).Submit(t.Context(), dispatcher.Spec{ID: "a"}); err != nil {
		t.Error(err)
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "journal of client-1: no space left") {
		t.Error(err)
	}
}

func BenchmarkRecorder(b *testing.B) {
	k := dispatcher.Ticket{ID: "a", Token: 1, Workload: "u"}
	w := journal.NewRecorder(io.Discard, "worker-a").Workers(idle{})
	b.ReportAllocs()
	for b.Loop() {
		_ = w.Heartbeat(b.Context(), k)
	}
}

type idle struct{ dispatcher.Workers }

func (idle) Heartbeat(context.Context, dispatcher.Ticket) error { return nil }

// BenchmarkMerge merges 100,000 calls: of 200 workers that heartbeat, one in a hundred without an answer.
func BenchmarkMerge(b *testing.B) {
	const tasks, beats = 200, 500
	var calls []journal.Call
	var events []journal.Event
	for task := range tasks {
		name, process := fmt.Sprint("t", task), fmt.Sprint("worker-t", task)
		before := row(0, 1, process, nil)
		before.Task = name
		events = append(events, before)
		for beat := range beats {
			ms := float64(1 + beat*1000 + task)
			c := journal.Call{Process: process, Verb: history.Heartbeat, Called: at(ms), Returned: at(ms + 5), Outcome: history.OK,
				Rows: []journal.Row{{Task: name, Token: 1}}, Object: "u1"}
			if beat%100 == 7 {
				c.Outcome, c.Code = history.Unknown, history.Timeout
			}
			calls = append(calls, c)
			e := row(ms+2, uint64(beat+2), process, func(e *journal.Event) { e.Task, e.Write.HeartbeatAt = name, e.At })
			e.Write.Transaction = uint64(len(events))
			events = append(events, e)
		}
	}
	events = append(events, ended(1e6))
	b.ReportAllocs()
	for b.Loop() {
		h, err := journal.Merge(start, history.Meta{}, calls, events)
		if err != nil || len(h.Operations) != tasks*beats {
			b.Fatal(len(h.Operations), err)
		}
		for _, o := range h.Operations {
			if o.Effect == 0 {
				b.Fatalf("no effect: %+v", o)
			}
		}
	}
}
