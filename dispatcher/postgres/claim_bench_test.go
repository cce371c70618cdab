package postgres

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

// BenchmarkClaim claims from a backlog, fsync on. The wire lets claims pass for launched at once, or each would be taken over
// by the next one; what Launched costs is not in the figures. "bare" is the least that a claim can be, one statement that
// commits itself, without fence, deadlines, limit in flight or order of the answer: what the machine can do.
func BenchmarkClaim(b *testing.B) {
	if os.Getenv("DATABASE_URL") == "" {
		durable, err := throwaway.Start(b.Context(), throwaway.Options{Durable: true})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = durable.Stop() }()
		defer onServer(b, durable.URL("postgres"))()
	}
	for _, limit := range []int{1, 10, 100} {
		for _, clients := range []int{1, 8} {
			b.Run(fmt.Sprintf("limit=%d/clients=%d", limit, clients), func(b *testing.B) {
				store, term := newBacklog(b, b.N*limit+20_000, clients)
				claims(b, clients, func() (int, error) {
					tasks, err := store.Claim(b.Context(), term, limit)
					return len(tasks), err
				})
			})
			b.Run(fmt.Sprintf("bare/limit=%d/clients=%d", limit, clients), func(b *testing.B) {
				store, _ := newBacklog(b, b.N*limit+20_000, clients)
				claims(b, clients, func() (int, error) {
					rows, err := store.pool.Query(b.Context(), bareClaim, limit)
					if err != nil {
						return 0, err
					}
					defer rows.Close()
					tasks, err := scanRows(rows, nil)
					return len(tasks), err
				})
			})
		}
	}
}

const bareClaim = `
UPDATE tasks t SET version = version + 1, phase = 'running', activity = 'launched', workload = 'uid', token = 1, claimed_at = now()
WHERE id IN (SELECT id FROM tasks WHERE phase = 'pending' AND desired = 'run' AND cleanup_at IS NULL
	ORDER BY due_at, id LIMIT $1 FOR UPDATE SKIP LOCKED)` + returning

// newBacklog returns a store of that many pending tasks, and its leader.
func newBacklog(b *testing.B, tasks, clients int) (*Store, dispatcher.Term) {
	b.Helper()
	launched := wire{edit: strings.NewReplacer("activity = 'launching', not_before", "activity = 'launched', not_before",
		"workload = '',\n\t\tclaimed_at", "workload = 'uid',\n\t\tclaimed_at").Replace}
	s := dispatchertest.DiffSettings()
	s.MaxInFlight, s.StoreTimeout = 0, 0
	store := openAt(b, newTables(b), s, launched.install, func(c *pgxpool.Config) { c.MaxConns = int32(clients) })
	term, err := store.Lead(b.Context(), dispatcher.RoleDispatcher, "bench")
	if err != nil {
		b.Fatal(err)
	}
	store.run(b, backlog, tasks)
	store.run(b, "VACUUM ANALYZE tasks")
	return store, term
}

const backlog = `INSERT INTO tasks (id, start_deadline_ns, deadline_ns, max_failures, max_disruptions, work, submitted_at)
SELECT 'task-' || n, 0, 0, 0, 0, '{"Run": 60000000000}', now() - n * interval '1 second' FROM generate_series(1, $1::int) AS n`

// claims makes b.N claims and reports how many tasks they got.
func claims(b *testing.B, clients int, claim func() (int, error)) {
	var made, got atomic.Int64
	var wait sync.WaitGroup
	b.ResetTimer()
	for range clients {
		wait.Go(func() {
			for made.Add(1) <= int64(b.N) {
				n, err := claim()
				if err != nil {
					b.Error(err)
					return
				}
				got.Add(int64(n))
			}
		})
	}
	wait.Wait()
	b.ReportMetric(float64(got.Load())/b.Elapsed().Seconds(), "claims/s")
}

// onServer has tests use another server until the returned function is called.
func onServer(b *testing.B, url string) (restore func()) {
	b.Helper()
	pool, err := pgxpool.New(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	wasServer, wasAdmin := server, admin
	server, admin = url, pool
	return func() {
		pool.Close()
		server, admin = wasServer, wasAdmin
	}
}
