package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/dispatcher"
)

// Store keeps the tasks in a Postgres database. It is safe for concurrent use. Use Open.
type Store struct {
	// Replica, when set, answers stale scans. Its commits may lag behind.
	Replica *pgxpool.Pool

	pool     *pgxpool.Pool
	settings dispatcher.Settings
}

var _ dispatcher.Store = (*Store)(nil)

// Open connects to a database that Migrate has prepared. The URL, or the keyword string, is what libpq takes; parameters
// of the session that it sets itself win over those of Open. adjust sees the configuration before it is used.
func Open(ctx context.Context, url string, s dispatcher.Settings, adjust ...func(*pgxpool.Config)) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w: %w", dispatcher.ErrRejected, err)
	}
	for name, value := range session(s) {
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	for _, change := range adjust {
		change(config)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", beforeCommit(err))
	}
	if err := checkSchema(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	return &Store{pool: pool, settings: s}, nil
}

// Close ends all connections and waits for calls under way.
func (s *Store) Close() { s.pool.Close() }

// session are the parameters of a session. A call that its caller gave up is of no use to anybody, so the server
// gives it up too, and with it the locks of a client that was frozen or cut off.
func session(s dispatcher.Settings) map[string]string {
	params := map[string]string{"application_name": "squall", "timezone": "UTC"}
	if s.StoreTimeout > 0 {
		patience := strconv.FormatInt(max(1, s.StoreTimeout.Milliseconds()), 10)
		params["statement_timeout"] = patience
		params["idle_in_transaction_session_timeout"] = patience
	}
	return params
}

// refused explains a refusal; err is one of dispatcher's errors.
func refused(verb string, id dispatcher.TaskID, err error) error {
	return fmt.Errorf("%s task %s: %w", verb, id, err)
}

// micros is a wait as the database counts it: in microseconds, rounded up, since earlier than asked is wrong.
func micros(d time.Duration) int64 {
	n := d.Microseconds()
	if time.Duration(n)*time.Microsecond < d {
		n++
	}
	return n
}
