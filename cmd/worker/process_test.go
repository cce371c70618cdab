package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
	"github.com/squall-chaos/squall/dispatcher/postgres"
	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

// As a child of a test this program is the worker itself.
const asWorker = "SQUALL_TEST_WORKER"

// server is that of DATABASE_URL, whose user must be allowed to create schemas, or one of our own; empty: there is none.
var server string

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		main()
	}
	status, err := withServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = max(status, 1)
	}
	os.Exit(status)
}

func withServer(run func() int) (int, error) {
	url, stop, err := throwaway.Shared(context.Background(), "the worker on a real Postgres")
	if err != nil {
		return 1, err
	}
	defer stop()
	server = url
	return run(), nil
}

// site is a database with one claimed task, and a place for records.
type site struct {
	url    string
	store  *postgres.Store
	task   dispatcher.Task
	record string
}

// quick are settings of a life that lasts seconds, and that a busy machine can keep.
func quick() dispatcher.Settings {
	s, _ := dispatcher.Profile("b0")
	s.StoreTimeout, s.HeartbeatInterval, s.WorkerLease = 2*time.Second, 500*time.Millisecond, 6*time.Second
	return s
}

func newSite(t *testing.T, work dispatcher.Work) *site {
	t.Helper()
	if server == "" {
		t.Skip("there is no Postgres server; see above")
	}
	name := "squall_test_" + strings.ToLower(rand.Text())
	statement(t, server, "CREATE SCHEMA "+name)
	t.Cleanup(func() { statement(t, server, "SET client_min_messages = warning; DROP SCHEMA "+name+" CASCADE") })
	s := &site{url: inSchema(server, name), record: t.TempDir()}
	if err := postgres.Migrate(t.Context(), s.url); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.store, err = postgres.Open(t.Context(), s.url, quick()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.store.Close)
	if _, err := s.store.Submit(t.Context(), dispatcher.Spec{ID: "a", Work: work}); err != nil {
		t.Fatal(err)
	}
	term, err := s.store.Lead(t.Context(), dispatcher.RoleDispatcher, "dispatcher-1/1")
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := s.store.Claim(t.Context(), term, 1)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %d tasks: %v", len(claimed), err)
	}
	s.task = claimed[0]
	return s
}

func inSchema(where, schema string) string {
	u, err := url.Parse(where)
	if err != nil || u.Scheme == "" {
		return where + " search_path=" + schema
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String()
}

func statement(t *testing.T, where, sql string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		t.Error(err)
	}
}

// process is a running worker.
type process struct {
	*exec.Cmd
	site *site
	log  *strings.Builder
}

// start runs the worker of the claimed task; extra is more of its environment.
func (s *site) start(t *testing.T, extra ...string) *process {
	t.Helper()
	settings, err := environment.EncodeSettings(quick())
	if err != nil {
		t.Fatal(err)
	}
	work, err := environment.EncodeWork(s.task.Spec.Work)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(os.Args[0]), site: s, log: &strings.Builder{}}
	p.Env = append([]string{asWorker + "=1",
		environment.Task + "=a", environment.Attempt + "=1", environment.Token + "=" + strconv.FormatUint(uint64(s.task.Attempt.Token), 10),
		environment.Workload + "=uid-1", environment.Node + "=node-1", environment.Work + "=" + work,
		environment.DatabaseURL + "=" + s.url, environment.Settings + "=" + settings, environment.Record + "=" + s.record}, extra...)
	p.Stderr = p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// ends waits for the end, and returns the exit code; a signal's is that which a container runtime would show.
func (p *process) ends(t *testing.T) int {
	t.Helper()
	late := time.AfterFunc(30*time.Second, func() { _ = p.Process.Kill() })
	defer late.Stop()
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(p.log)
		}
	})
	if status := p.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.ProcessState.ExitCode()
}

// journal is what the worker wrote down.
func (s *site) journal(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Open(filepath.Join(s.record, "worker-a-uid-1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// row reads the task's row.
func (s *site) row(t *testing.T) dispatcher.Task {
	t.Helper()
	row, err := s.store.Read(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// await waits until the row is as wanted.
func (s *site) await(t *testing.T, wanted func(dispatcher.Task) bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !wanted(s.row(t)); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the row did not become as expected: %+v", s.row(t))
		}
	}
}

func executing(row dispatcher.Task) bool { return row.Activity == dispatcher.Executing }

// expect compares the end of a worker with what it should be.
func (p *process) expect(t *testing.T, code int, phase dispatcher.Phase, truth string) {
	t.Helper()
	if got := p.ends(t); got != code {
		t.Errorf("exit %d, want %d", got, code)
	}
	if got := p.site.row(t).Phase; got != phase {
		t.Errorf("the row is %s, want %s", got, phase)
	}
	if got := events(t, p.site.journal(t)); got != truth {
		t.Errorf("its truth is\n\t%s\nwant\n\t%s", got, truth)
	}
}

func TestProcessDoesItsWork(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Run: 1200 * time.Millisecond})
	s.start(t).expect(t, 0, dispatcher.Succeeded, began+"counted work- container-[exit 0]")
	calls, _, err := journal.Read(s.journal(t))
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[history.Verb]int{}
	for _, c := range calls {
		verbs[c.Verb]++
		if c.Process != "worker-a" || c.Outcome != history.OK || c.Returned.IsZero() {
			t.Errorf("a call that should have been answered: %+v", c)
		}
	}
	if verbs[history.Start] != 1 || verbs[history.Finish] != 1 || verbs[history.Heartbeat] == 0 {
		t.Errorf("calls: %v", verbs)
	}
}

// It is not parallel: the workers of all tests have the same name.
func TestProcessIsKnownToTheDatabaseByItsTask(t *testing.T) {
	s := newSite(t, dispatcher.Work{Hang: true})
	p := s.start(t)
	s.await(t, executing)
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var sessions int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker-a'").Scan(&sessions); err != nil || sessions == 0 {
		t.Errorf("%d sessions of worker-a: %v", sessions, err)
	}
	_ = p.Process.Signal(syscall.SIGTERM)
	p.expect(t, 143, dispatcher.Running, began+"work- container-[exit 143]")
}

func TestProcessOfASupersededAttemptIsNotLetIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Run: time.Second})
	p := s.start(t, environment.Token+"=999999")
	if code := p.ends(t); code != 75 || s.row(t).Activity == dispatcher.Executing {
		t.Errorf("exit %d, the row is %s", code, s.row(t).Activity)
	}
	if got := events(t, s.journal(t)); got != "container+ container-[exit 75]" {
		t.Error(got)
	}
}

func TestProcessWithoutHeartbeatsEndsItself(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Hang: true})
	p := s.start(t)
	s.await(t, executing)
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), "BEGIN; SELECT FROM tasks WHERE id = 'a' FOR UPDATE"); err != nil { // heartbeats wait, and are given up
		t.Fatal(err)
	}
	p.expect(t, 75, dispatcher.Running, began+"work-[lease over] container-[exit 75]")
}

func TestProcessStopsWhenItsTaskIsCancelled(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Hang: true})
	p := s.start(t)
	s.await(t, executing)
	if _, err := s.store.Cancel(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	p.expect(t, 75, dispatcher.Running, began+"work- container-[exit 75]")
}

func TestProcessIgnoresTermIfItsWorkDoes(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Run: time.Second, IgnoreTerm: true})
	p := s.start(t)
	s.await(t, executing)
	_ = p.Process.Signal(syscall.SIGTERM)
	p.expect(t, 0, dispatcher.Succeeded, began+"counted work- container-[exit 0]")
}

func TestProcessWithoutAResult(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Run: 100 * time.Millisecond, NoResult: true})
	s.start(t).expect(t, 0, dispatcher.Running, began+"work- container-[exit 0]")
}

func TestProcessCrashes(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Run: time.Minute, CrashAt: 100 * time.Millisecond})
	s.start(t).expect(t, 137, dispatcher.Running, began+"work- container-[exit 137]")
}

// Killed from outside it has no last words, and what it did before is there.
func TestProcessThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Hang: true})
	p := s.start(t)
	s.await(t, executing)
	s.await(t, func(dispatcher.Task) bool { return events(t, s.journal(t)) == strings.TrimSpace(began) }) // it has had the answer to its start
	_ = p.Process.Kill()
	p.expect(t, 137, dispatcher.Running, strings.TrimSpace(began))
}

func TestProcessWorksAsLongAsTheOverrideSays(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Run: time.Hour, IgnoreTimeouts: true})
	override(t, s, "50ms\n")
	s.start(t).expect(t, 0, dispatcher.Succeeded, began+"counted work- container-[exit 0]")
}

func TestProcessDoesNotGuessAtADamagedOverride(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Run: time.Millisecond})
	override(t, s, "soon")
	p := s.start(t)
	p.expect(t, exitRecord, dispatcher.Running, began+"work- container-[exit 74]")
	if !strings.Contains(p.log.String(), `got \"soon\"`) {
		t.Error("the message does not say what is wrong")
	}
}

func override(t *testing.T, s *site, text string) {
	t.Helper()
	folder := filepath.Join(s.record, environment.RunTimes)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestProcessWaitsForADatabaseThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{})
	p := s.start(t, environment.DatabaseURL+"=postgres://nobody:topsecret@127.0.0.1:1/none")
	p.expect(t, 75, dispatcher.Running, "container+ container-[exit 75]")
	if strings.Contains(p.log.String(), "topsecret") {
		t.Error("the log holds the password")
	}
}

func TestProcessWithoutARecordDoesNotStart(t *testing.T) {
	t.Parallel()
	s := newSite(t, dispatcher.Work{Run: time.Millisecond})
	p := s.start(t, environment.Record+"="+filepath.Join(s.record, "absent"))
	if code := p.ends(t); code != exitRecord || executing(s.row(t)) {
		t.Errorf("exit %d, the row is %s", code, s.row(t).Activity)
	}
}

func TestProcessListsAllThatIsWrongWithItsEnvironment(t *testing.T) {
	t.Parallel()
	p := &process{Cmd: exec.Command(os.Args[0]), log: &strings.Builder{}}
	p.Env, p.Stderr = []string{asWorker + "=1", environment.Settings + "=b1", environment.Startup + "=9s-3s", environment.System + "=naive",
		environment.DatabaseURL + "=postgres://u:topsecret@:x"}, p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if code := p.ends(t); code != exitUsage {
		t.Errorf("exit %d", code)
	}
	for _, name := range []string{environment.Task, environment.Attempt, environment.Token, environment.Workload, environment.Node, environment.Work,
		environment.Settings, environment.Startup, environment.System, environment.DatabaseURL} {
		if !strings.Contains(p.log.String(), name) {
			t.Errorf("%s is not named", name)
		}
	}
	if strings.Contains(p.log.String(), "topsecret") {
		t.Error("the log holds the password")
	}
}
