package metrics_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/hostclock"
	"github.com/squall-chaos/squall/dispatcher/metrics"
)

func settings() dispatcher.Settings {
	s, _ := dispatcher.Profile("b0")
	return s
}

var health = dispatcher.Health{Pending: 3, Running: 2, OldestRunning: 90 * time.Second, RepeatedFailures: 4, NeedsAttention: 5, CleanupOwed: 6}

const figures = `
# HELP squall_adoptions_total Workloads that this replica found where it meant to create them.
# TYPE squall_adoptions_total counter
squall_adoptions_total 1
# HELP squall_claims_total Attempts that this replica claimed or took over.
# TYPE squall_claims_total counter
squall_claims_total 12
# HELP squall_launches_total Workloads that this replica created.
# TYPE squall_launches_total counter
squall_launches_total 0
# HELP squall_oldest_running_task_seconds Age of the running attempt that was claimed longest ago; 0 when none runs.
# TYPE squall_oldest_running_task_seconds gauge
squall_oldest_running_task_seconds 90
# HELP squall_reconcile_lag_seconds How far the last sweep of the reconciler was behind its interval.
# TYPE squall_reconcile_lag_seconds gauge
squall_reconcile_lag_seconds 1.5
# HELP squall_refused_writes_total Writes of this replica that the store turned down, because somebody else was faster or newer.
# TYPE squall_refused_writes_total counter
squall_refused_writes_total 0
# HELP squall_requeues_total Attempts that this replica gave up for lost.
# TYPE squall_requeues_total counter
squall_requeues_total 0
# HELP squall_tasks Tasks that are not over, by state.
# TYPE squall_tasks gauge
squall_tasks{state="pending"} 3
squall_tasks{state="running"} 2
# HELP squall_tasks_cleanup_owed Tasks whose last workload should be gone by now and is not known to be.
# TYPE squall_tasks_cleanup_owed gauge
squall_tasks_cleanup_owed 6
# HELP squall_tasks_failing_repeatedly Tasks that have not stopped and failed more than once.
# TYPE squall_tasks_failing_repeatedly gauge
squall_tasks_failing_repeatedly 4
# HELP squall_tasks_needing_attention Tasks that stopped and wait for a person.
# TYPE squall_tasks_needing_attention gauge
squall_tasks_needing_attention 5
`

var names = []string{"squall_adoptions_total", "squall_claims_total", "squall_launches_total", "squall_oldest_running_task_seconds",
	"squall_reconcile_lag_seconds", "squall_refused_writes_total", "squall_requeues_total", "squall_tasks", "squall_tasks_cleanup_owed",
	"squall_tasks_failing_repeatedly", "squall_tasks_needing_attention"}

func TestFigures(t *testing.T) {
	m := metrics.New(hostclock.New(), settings())
	m.Watch(health, 1500*time.Millisecond)
	m.Count(dispatcher.CountClaims, 10)
	m.Count(dispatcher.CountClaims, 2)
	m.Count(dispatcher.CountAdopted, 1)
	if err := testutil.GatherAndCompare(m.Registry(), strings.NewReader(figures), names...); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(m.Registry())
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
}

// What a replica knew when it last led is nothing to show for ever.
func TestOldFiguresVanish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New(hostclock.New(), settings())
		shown := func() int {
			n, err := testutil.GatherAndCount(m.Registry(), "squall_oldest_running_task_seconds", "squall_tasks")
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := shown(); n != 0 {
			t.Errorf("%d figures before the first sweep", n)
		}
		m.Watch(health, 0)
		time.Sleep(3 * settings().RecoverInterval)
		if n := shown(); n != 3 {
			t.Errorf("%d figures while they are fresh", n)
		}
		time.Sleep(time.Second)
		if n := shown(); n != 0 {
			t.Errorf("%d figures when they are old", n)
		}
	})
}

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Code, string(text)
}

func TestMetricsAreServed(t *testing.T) {
	c := hostclock.New()
	code, text := get(t, metrics.Handler(metrics.New(c, settings()), metrics.NewProbe(c, settings())), "/metrics")
	for _, name := range []string{"squall_claims_total 0", "go_goroutines", "process_start_time_seconds"} {
		if code != http.StatusOK || !strings.Contains(text, name) {
			t.Errorf("%d, and no %s", code, name)
		}
	}
}

// failing is a store, and failingLeases are leases, that answer with err.
type failing struct {
	dispatcher.Store
	err error
}

func (f failing) Now(context.Context) (time.Time, error) { return time.Time{}, f.err }

type failingLeases struct{ err error }

func (f failingLeases) GetLease(context.Context, string) (dispatcher.Lease, error) {
	return dispatcher.Lease{}, f.err
}

func (f failingLeases) PutLease(context.Context, dispatcher.Lease) (dispatcher.Lease, error) {
	return dispatcher.Lease{}, f.err
}

func TestProbe(t *testing.T) {
	unavailable := errors.Join(errors.New("no route"), dispatcher.ErrUnavailable)
	for _, c := range []struct {
		name         string
		store, lease error
		moves        bool
		after        time.Duration
		alive, ready int
		says         string
	}{
		{"all is well", nil, nil, true, time.Minute, 200, 200, "ok"},
		{"a refusal is an answer", dispatcher.ErrFenced, dispatcher.ErrNotFound, true, time.Minute, 200, 200, "ok"},
		{"no store", unavailable, nil, true, time.Minute, 200, 503, "the store never answered: no route"},
		{"no lease", nil, dispatcher.ErrUnknown, true, time.Minute, 200, 503, "the lease never answered"},
		{"a loop that stands still", nil, nil, false, 10*time.Second + 5*2*time.Second, 200, 200, "ok"},
		{"a loop that stands still for too long", nil, nil, false, 21 * time.Second, 503, 503, "the store has not been asked for 21s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := hostclock.New()
				probe := metrics.NewProbe(clock, settings())
				handler := metrics.Handler(metrics.New(clock, settings()), probe)
				if code, text := get(t, handler, "/readyz"); code != 503 || !strings.Contains(text, "was not asked yet") {
					t.Errorf("before it began: %d %s", code, text)
				}
				p := probe.Ports(dispatcher.Ports{Clock: clock, Store: failing{err: c.store}, Leases: failingLeases{c.lease}})
				look := func() {
					_, _ = p.Store.Now(t.Context())
					_, _ = p.Leases.GetLease(t.Context(), "dispatcher")
				}
				look()
				for began := clock.Elapsed(); c.moves && clock.Elapsed()-began < c.after; look() {
					_ = p.Clock.Sleep(t.Context(), settings().RetryPeriod)
				}
				if !c.moves {
					time.Sleep(c.after)
				}
				alive, _ := get(t, handler, "/healthz")
				ready, text := get(t, handler, "/readyz")
				if alive != c.alive || ready != c.ready || !strings.Contains(text, c.says) {
					t.Errorf("alive %d, ready %d: %s", alive, ready, text)
				}
			})
		})
	}
}
