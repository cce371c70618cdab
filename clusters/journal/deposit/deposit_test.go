package deposit_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/journal/deposit"
	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

var server *throwaway.Server

func TestMain(m *testing.M) { os.Exit(throwaway.Own(&server, m)) }

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newDatabase(t *testing.T, name string) (pool *pgxpool.Pool, url string) {
	t.Helper()
	admin, err := pgxpool.New(t.Context(), server.URL("postgres"))
	ok(t, err)
	defer admin.Close()
	_, err = admin.Exec(t.Context(), "CREATE DATABASE "+name)
	ok(t, err)
	pool, err = pgxpool.New(t.Context(), server.URL(name))
	ok(t, err)
	t.Cleanup(pool.Close)
	for range 2 { // the second time nothing is left to be done
		ok(t, deposit.Install(t.Context(), pool))
	}
	return pool, server.URL(name)
}

// TestJournalsAreStampedByTheServer: what a machine's clock says is no matter, and a session that dies loses no line and doubles none.
func TestJournalsAreStampedByTheServer(t *testing.T) {
	pool, url := newDatabase(t, "stamped")
	w, err := deposit.NewWriter(url, "worker-a/1")
	ok(t, err)
	r := journal.NewRecorder(w, "worker-a")
	long := time.Now().Add(-time.Hour)
	r.Event(journal.Event{Kind: history.ContainerStarted, At: long, Monotonic: 7, Object: "u", Task: "a"})
	_, err = pool.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", deposit.Application)
	ok(t, err)
	r.Event(journal.Event{Kind: history.WorkStarted, At: long, Monotonic: 8, Object: "u", Task: "a"})
	ok(t, r.Err())
	own := journal.NewRecorder(&deposit.Pages{Conn: pool, Writer: "client"}, "client")
	own.Event(journal.Event{Kind: history.Ended})
	ok(t, own.Err())

	kept, err := deposit.ReadAll(t.Context(), pool)
	ok(t, err)
	if len(kept) != 2 {
		t.Fatalf("%d journals are kept, want 2", len(kept))
	}
	_, events, err := journal.Read(bytes.NewReader(kept["worker-a/1"]))
	ok(t, err)
	if len(events) != 2 {
		t.Fatalf("%d events, want 2: %s", len(events), kept["worker-a/1"])
	}
	for _, e := range events {
		if age := time.Since(e.At); age < -time.Minute || age > time.Minute || e.Monotonic != 0 {
			t.Errorf("%s is stamped %s ago by the server, and %s by a machine", e.Kind, age, e.Monotonic)
		}
	}
	if !events[0].At.Before(events[1].At) {
		t.Errorf("stamped %s and then %s", events[0].At, events[1].At)
	}
}

func TestAGapIsTold(t *testing.T) {
	pool, url := newDatabase(t, "gap")
	w, err := deposit.NewWriter(url, "dispatcher-1/1")
	ok(t, err)
	r := journal.NewRecorder(w, "dispatcher-1")
	for range 3 {
		r.Event(journal.Event{Kind: history.ProcessStarted})
	}
	_, err = pool.Exec(t.Context(), "DELETE FROM squall_deposit.lines WHERE number = 3")
	ok(t, err)
	if _, err := deposit.ReadAll(t.Context(), pool); !errors.Is(err, deposit.ErrGap) || !strings.Contains(err.Error(), "dispatcher-1/1") {
		t.Errorf("a journal without its third line: %v", err)
	}
}

func TestRunTimes(t *testing.T) {
	pool, url := newDatabase(t, "runtimes")
	for _, want := range []time.Duration{0, 90 * time.Second, time.Second, 0} {
		if want > 0 {
			ok(t, deposit.SetRunTime(t.Context(), pool, "a", want))
		} else if err := deposit.SetRunTime(t.Context(), pool, "a", 0); err != nil {
			t.Fatal(err)
		}
		if got, err := deposit.RunTime(t.Context(), url, "a"); err != nil || got != want {
			t.Errorf("the run time is %s, %v; want %s", got, err, want)
		}
	}
	if got, err := deposit.RunTime(t.Context(), url, "b"); err != nil || got != 0 {
		t.Errorf("of a task that nobody spoke of: %s, %v", got, err)
	}
}

func TestTheClockOfTheServer(t *testing.T) {
	pool, _ := newDatabase(t, "clock")
	if ahead, err := deposit.Ahead(t.Context(), pool); err != nil || ahead < -time.Second || ahead > time.Second {
		t.Errorf("the server on this machine is ahead by %s, %v", ahead, err)
	}
}

func TestAPasswordIsNotShown(t *testing.T) {
	if _, err := deposit.NewWriter("postgres://squall:hunter2@[::bad/x", "a"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

func TestNobodyWhoAnswersIsAGap(t *testing.T) {
	w, err := deposit.NewWriter("postgres://squall:x@127.0.0.1:1/nowhere?connect_timeout=1", "a")
	ok(t, err)
	deposit.SetPatience(t, 300*time.Millisecond)
	if _, err := w.Write([]byte("{}\n")); err == nil {
		t.Error("a line was kept nowhere")
	}
}
