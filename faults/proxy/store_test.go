package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
	"github.com/squall-chaos/squall/dispatcher/postgres"
)

// rows is a stand with tables behind it, a store that goes around the proxy and one that goes through.
type rows struct {
	*stand
	url     string // around the proxy
	direct  *postgres.Store
	through *postgres.Store
	disp    dispatcher.Term
}

func newRows(t testing.TB) *rows {
	t.Helper()
	if database == "" {
		t.Fatal("needs a Postgres server; set DATABASE_URL or install Debian's package postgresql")
	}
	r := &rows{stand: newStand(t)}
	schema := "squall_proxy_" + strings.ToLower(rand.Text())
	r.exec(database, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { r.exec(database, "SET client_min_messages = warning; DROP SCHEMA "+schema+" CASCADE") })
	r.url = with(t, database, "search_path", schema)
	if err := postgres.Migrate(t.Context(), r.url); err != nil {
		t.Fatal(err)
	}
	r.direct, r.through = r.open(r.url), r.open(r.via("dispatcher-1"))
	term, err := r.direct.Lead(t.Context(), dispatcher.RoleDispatcher, "test")
	if err != nil {
		t.Fatal(err)
	}
	r.disp = term
	return r
}

// exec executes statements in the simple protocol.
func (s *stand) exec(where, sql string) {
	s.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, where)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		s.Fatal(err)
	}
}

func (r *rows) open(where string) *postgres.Store {
	r.Helper()
	s, err := postgres.Open(r.Context(), where, dispatchertest.DiffSettings())
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(s.Close)
	return s
}

// via is the URL that leads through the proxy. TLS is asked for, and declined.
func (r *rows) via(process string) string {
	u, _ := url.Parse(with(r.TB, r.url, "application_name", process))
	u.Host = r.StoreAddr().String()
	return with(r.TB, u.String(), "sslmode", "prefer")
}

func with(t testing.TB, where, parameter, value string) string {
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(parameter, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// storeCases say what the reference adapter learns of an action on a write.
var storeCases = []apiCase{
	{name: "refuse", rule: Rule{Action: clusters.Refuse}, want: dispatcher.ErrUnavailable},
	{name: "drop", rule: Rule{Action: clusters.Drop}, want: dispatcher.ErrUnknown, silent: true},
	{name: "lose-reply", rule: Rule{Action: clusters.LoseReply}, want: dispatcher.ErrUnknown, applied: true, silent: true},
	{name: "cut-reply", rule: Rule{Action: clusters.CutReply}, want: dispatcher.ErrUnknown, applied: true},
	{name: "cut-call", rule: Rule{Action: clusters.CutCall}, want: dispatcher.ErrUnknown},
	{name: "late", rule: Rule{Action: clusters.Late, Delay: fixed(700 * time.Millisecond)}, want: dispatcher.ErrUnknown, applied: true, silent: true},
	{name: "slow", rule: Rule{Action: clusters.Slow, Delay: fixed(50 * time.Millisecond)}, applied: true},
	{name: "slower than the caller waits", rule: Rule{Action: clusters.Slow, Delay: fixed(700 * time.Millisecond)}, want: dispatcher.ErrUnknown, applied: true, silent: true},
	{name: "unavailable", rule: answer("unavailable"), want: dispatcher.ErrUnavailable},
	{name: "rejected", rule: answer("rejected"), want: dispatcher.ErrRejected},
	{name: "timeout", rule: answer("timeout"), want: dispatcher.ErrUnknown},
	{name: "internal", rule: answer("internal"), want: dispatcher.ErrUnknown},
	{name: "connection-lost", rule: answer("connection-lost"), want: dispatcher.ErrUnknown},
	{name: "throttled", rule: answer("throttled"), want: dispatcher.ErrUnavailable, unlike: "Postgres throttles nobody in a way that the adapter tells apart"},
	{name: "conflict", rule: answer("conflict"), want: dispatcher.ErrUnavailable, unlike: "a serialization failure is to be tried again"},
	{name: "exists", rule: answer("exists"), want: dispatcher.ErrRejected, unlike: "rows that exist are found, not refused"},
}

// storeCalls are writes of each form: what makes one possible, the call, and whether it shows.
var storeCalls = []struct {
	verb   string
	task   bool
	bring  func(r *rows, id dispatcher.TaskID) dispatcher.Task
	make   func(ctx context.Context, r *rows, t dispatcher.Task) error
	showed func(dispatcher.Task) bool
}{
	{"claim", false, (*rows).pending, func(ctx context.Context, r *rows, _ dispatcher.Task) error {
		_, err := r.through.Claim(ctx, r.disp, 10)
		return err
	}, func(t dispatcher.Task) bool { return t.Activity == dispatcher.Launching }},
	{"cancel", true, (*rows).pending, func(ctx context.Context, r *rows, t dispatcher.Task) error {
		_, err := r.through.Cancel(ctx, t.Spec.ID)
		return err
	}, func(t dispatcher.Task) bool { return t.Desired == dispatcher.DesiredCancel }},
	{"launched", true, (*rows).launching, func(ctx context.Context, r *rows, t dispatcher.Task) error {
		_, err := r.through.Launched(ctx, r.disp, t.Ref(), "uid")
		return err
	}, func(t dispatcher.Task) bool { return t.Activity == dispatcher.Launched }},
	{"start", true, (*rows).launching, func(ctx context.Context, r *rows, t dispatcher.Task) error {
		_, err := r.through.Start(ctx, dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: "uid"})
		return err
	}, func(t dispatcher.Task) bool { return t.Activity == dispatcher.Executing }},
}

func (r *rows) pending(id dispatcher.TaskID) dispatcher.Task {
	r.Helper()
	t, err := r.direct.Submit(r.Context(), dispatcher.Spec{ID: id})
	if err != nil {
		r.Fatal(err)
	}
	return t
}

func (r *rows) launching(id dispatcher.TaskID) dispatcher.Task {
	r.Helper()
	r.pending(id)
	if _, err := r.direct.Claim(r.Context(), r.disp, 100); err != nil {
		r.Fatal(err)
	}
	return r.read(id)
}

func (r *rows) read(id dispatcher.TaskID) dispatcher.Task {
	r.Helper()
	t, err := r.direct.Read(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return t
}

// TestStoreActions is the table of actions over writes, with the reference adapter as the client.
func TestStoreActions(t *testing.T) {
	r := newRows(t)
	for _, call := range storeCalls {
		for _, c := range storeCases {
			t.Run(call.verb+"/"+c.name, func(t *testing.T) {
				in := *r
				in.stand = r.stand.in(t)
				in.exec(r.url, "DELETE FROM tasks")
				row := call.bring(&in, dispatcher.TaskID(strings.ToLower(rand.Text())))
				rule := c.rule
				rule.Port, rule.Process, rule.Verb, rule.Nth = clusters.Store, "dispatcher-1", call.verb, 1
				if call.task {
					rule.Task = string(row.Spec.ID)
				}
				id := in.arm(rule)
				if _, err := in.through.Now(t.Context()); err != nil { // the connection is there
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), c.patience())
				defer cancel()
				err := call.make(ctx, &in, row)
				if !errors.Is(err, c.want) {
					t.Errorf("got error %v, want %v", err, c.want)
				}
				if silent := errors.Is(err, context.DeadlineExceeded); silent != c.silent {
					t.Errorf("it is %t that the caller waited in vain: %v", silent, err)
				}
				showed := func() bool { return call.showed(in.read(row.Spec.ID)) }
				if c.applied {
					in.await("applied", showed)
				} else if in.exec(r.url, "BEGIN; LOCK TABLE leadership, tasks; COMMIT"); showed() {
					t.Error("it was applied")
				}
				if h := in.hitsOf(id); len(h) != 1 || h[0].Verb != call.verb || h[0].Process != "dispatcher-1" || h[0].Task != rule.Task {
					t.Errorf("the hits are %+v", h)
				}
				if err := call.make(t.Context(), &in, in.read(row.Spec.ID)); errors.Is(err, dispatcher.ErrUnavailable) || dispatcher.Unknown(err) {
					t.Errorf("the call after it: %v", err)
				}
			})
		}
	}
}

func (s *stand) hitsOf(id string) (hits []Hit) {
	all, _, _ := s.rules.after(0)
	for _, h := range all {
		if h.Rule == id {
			hits = append(hits, h)
		}
	}
	return hits
}

// What only reads has no COMMIT to be uncertain about: the adapter says Unavailable of whatever goes wrong.
func TestStoreActionsOnReads(t *testing.T) {
	r := newRows(t)
	r.pending("a")
	for verb, read := range map[string]func(context.Context) error{
		"now":     func(ctx context.Context) error { _, err := r.through.Now(ctx); return err },
		"confirm": func(ctx context.Context) error { _, err := r.through.Confirm(ctx, r.disp); return err },
		"read":    func(ctx context.Context) error { _, err := r.through.Read(ctx, "a"); return err },
		"scan":    func(ctx context.Context) error { _, err := r.through.Scan(ctx, dispatcher.Scan{}); return err },
		"health":  func(ctx context.Context) error { _, err := r.through.Health(ctx); return err },
	} {
		for _, action := range []clusters.Action{clusters.Refuse, clusters.Drop, clusters.LoseReply, clusters.CutReply, clusters.CutCall} {
			t.Run(verb+"/"+string(action), func(t *testing.T) {
				in := r.stand.in(t)
				id := in.arm(Rule{Port: clusters.Store, Verb: verb, Nth: 2, Action: action})
				if err := read(t.Context()); err != nil {
					t.Fatalf("the first call was struck too: %v", err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				if err := read(ctx); !errors.Is(err, dispatcher.ErrUnavailable) {
					t.Errorf("got error %v", err)
				}
				if n := len(in.hitsOf(id)); n != 1 {
					t.Errorf("%d hits", n)
				}
			})
		}
	}
}

func TestCrashCallerAtCommit(t *testing.T) {
	r := newRows(t)
	row := r.pending("a")
	id := r.arm(Rule{Port: clusters.Store, Verb: "cancel", Nth: 1, Action: clusters.CrashCaller})
	done := make(chan error, 1)
	go func() {
		_, err := r.through.Cancel(context.Background(), row.Spec.ID)
		done <- err
	}()
	if hits, _, err := r.client.Hits(t.Context(), 0); err != nil || len(hits) != 1 || hits[0].Task != "a" {
		t.Fatalf("got hits %+v, error %v", hits, err)
	}
	if r.read("a").Desired != dispatcher.DesiredCancel {
		t.Error("the hit came before the commit")
	}
	select {
	case err := <-done:
		t.Fatalf("the caller has its reply: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := r.client.Disarm(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("after disarming the reply is %v", err)
	}
	if _, err := r.through.Read(t.Context(), "a"); err != nil {
		t.Errorf("the connection afterwards: %v", err)
	}
}

// An outage cuts connections that are there and refuses new ones; one for a single process leaves the others alone.
func TestOutageOfTheStore(t *testing.T) {
	r := newRows(t)
	other := r.open(r.via("dispatcher-2"))
	for _, c := range []struct {
		rule Rule
		down bool // for everybody
	}{
		{Rule{Port: clusters.Store, Action: clusters.Refuse}, true},
		{Rule{Port: clusters.Store, Process: "dispatcher-1", Action: clusters.Refuse}, false},
	} {
		id := r.arm(c.rule)
		if _, err := r.through.Now(t.Context()); !errors.Is(err, dispatcher.ErrUnavailable) {
			t.Errorf("%+v: got error %v", c.rule, err)
		}
		if _, err := other.Now(t.Context()); (err != nil) != c.down {
			t.Errorf("%+v: the other process got %v", c.rule, err)
		}
		if listens(r.StoreAddr()) == c.down {
			t.Errorf("%+v: listening is %t", c.rule, !c.down)
		}
		if err := r.client.Disarm(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		r.await("connected again", func() bool { _, err := r.through.Now(t.Context()); return err == nil })
	}
}

// TestSimpleProtocol is for a dispatcher in any language: no tags, no prepared statements, a transaction over several round trips.
func TestSimpleProtocol(t *testing.T) {
	r := newRows(t)
	r.exec(r.url, "CREATE TABLE jobs (id text PRIMARY KEY)")
	for _, c := range []struct {
		name    string
		rule    Rule
		sql     []string
		state   string // SQLSTATE that the client sees; "" with broken: none
		broken  bool
		applied bool
	}{
		{"the reply to COMMIT is cut", Rule{Verb: Commit, Nth: 1, Action: clusters.CutReply}, []string{"BEGIN", "INSERT INTO jobs VALUES ('a')", "COMMIT"}, "", true, true},
		{"COMMIT is cut", Rule{Verb: Commit, Nth: 1, Action: clusters.CutCall}, []string{"BEGIN", "INSERT INTO jobs VALUES ('a')", "COMMIT"}, "", true, false},
		{"one text", Rule{Verb: Commit, Action: clusters.CutCall}, []string{"BEGIN; INSERT INTO jobs VALUES ('a'); COMMIT"}, "", true, false},
		{"autocommit", Rule{Verb: Commit, Action: clusters.CutReply}, []string{"SELECT 1", "INSERT INTO jobs VALUES ('a')"}, "", true, true},
		{"a tag with the task in it", Rule{Verb: "submit", Task: "a", Action: clusters.CutCall}, []string{"/* squall:submit task=a */ INSERT INTO jobs VALUES ('a')"}, "", true, false},
		{"the rest of a call never comes", Rule{Verb: "submit", Action: clusters.CutCall}, []string{"/* squall:scan more */ SELECT 1", "/* squall:submit */ INSERT INTO jobs VALUES ('a')"}, "", true, false},
		{"both parts are one call", Rule{Verb: "scan", Nth: 2, Action: clusters.CutCall}, []string{"/* squall:scan more */ SELECT 1", "/* squall:scan */ SELECT 1", "INSERT INTO jobs VALUES ('a')"}, "", false, true},
		{"another task", Rule{Verb: "submit", Task: "b", Action: clusters.CutCall}, []string{"/* squall:submit task=a */ INSERT INTO jobs VALUES ('a')"}, "", false, true},
		{"an error inside a transaction", Rule{Action: clusters.Answer, Code: "conflict"}, []string{"BEGIN", "INSERT INTO jobs VALUES ('a')"}, "40001", false, false},
		{"an error at COMMIT", Rule{Action: clusters.Answer, Code: "timeout"}, []string{"BEGIN", "INSERT INTO jobs VALUES ('a')", "COMMIT"}, "40003", false, false},
		{"rolled back by the client", Rule{Verb: Commit, Action: clusters.CutReply}, []string{"BEGIN", "INSERT INTO jobs VALUES ('a')", "ROLLBACK"}, "", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := r.stand.in(t)
			in.exec(r.url, "DELETE FROM jobs")
			conn, err := pgx.Connect(t.Context(), r.via("ruby-1"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close(context.Background()) }()
			c.rule.Port, c.rule.Process = clusters.Store, "ruby-*"
			in.arm(c.rule)
			for _, sql := range c.sql {
				if _, err = conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
					break
				}
			}
			var refusal *pgconn.PgError
			if errors.As(err, &refusal) != (c.state != "") || refusal != nil && refusal.Code != c.state || (err != nil) != (c.broken || c.state != "") {
				t.Errorf("got error %v", err)
			}
			if c.state == "40001" {
				if _, err := conn.PgConn().Exec(t.Context(), "SELECT 1").ReadAll(); !errors.As(err, &refusal) || refusal.Code != "25P02" {
					t.Errorf("the failed transaction goes on with %v", err)
				}
				if _, err := conn.PgConn().Exec(t.Context(), "ROLLBACK").ReadAll(); err != nil {
					t.Error(err)
				}
			}
			r.exec(r.url, "BEGIN; LOCK TABLE jobs; COMMIT")
			var applied bool
			if err := r.row("SELECT EXISTS (SELECT FROM jobs)", &applied); err != nil || applied != c.applied {
				t.Errorf("applied is %t, error %v", applied, err)
			}
		})
	}
}

func (r *rows) row(sql string, into any) error {
	conn, err := pgx.Connect(r.Context(), r.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	return conn.QueryRow(r.Context(), sql).Scan(into)
}

// COPY, cancelled statements, large answers and notifications go through as they are.
func TestPassThrough(t *testing.T) {
	r := newRows(t)
	r.exec(r.url, "CREATE TABLE jobs (id text PRIMARY KEY)")
	conn, err := pgx.Connect(t.Context(), r.via("ruby-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	many := make([][]any, 20_000)
	for i := range many {
		many[i] = []any{rand.Text()}
	}
	if n, err := conn.CopyFrom(t.Context(), pgx.Identifier{"jobs"}, []string{"id"}, pgx.CopyFromRows(many)); err != nil || n != int64(len(many)) {
		t.Fatalf("copied %d, error %v", n, err)
	}
	var text string
	if err := conn.QueryRow(t.Context(), "SELECT repeat('x', 3000000)").Scan(&text); err != nil || len(text) != 3_000_000 {
		t.Errorf("got %d bytes, error %v", len(text), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := conn.Exec(ctx, "SELECT pg_sleep(60)"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v", err)
	}
	r.await("the statement is cancelled", func() bool {
		var n int
		return r.row("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ruby-1' AND query LIKE '%pg_sleep%'", &n) == nil && n == 0
	})
}
