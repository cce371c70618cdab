// Package deposit keeps journals in a table of Postgres: for processes whose machines nobody can read files from. The table is in a
// schema of its own, and is written to over a connection of its own, which no fault of the run touches.
//
// A line is in the table before its process goes on. So the stamp that the server gives it lies before the call that it announces, and
// after the reply that it tells of: the stamps of all processes are of one clock, that of the rows too, and need none of those of the
// machines, which may differ. What this costs is the way to the server for each line.
package deposit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/squall-chaos/squall/clusters/journal"
)

// Application is the name of the sessions of all Writers: faults are aimed at sessions by their names, and this one is nobody's.
const Application = "squall-deposit"

//go:embed install.sql
var install string

// Conn is a connection or a pool.
type Conn interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Install creates the tables in a schema of their own. Done again it changes nothing.
func Install(ctx context.Context, conn Conn) error {
	if _, err := conn.Exec(ctx, install); err != nil {
		return fmt.Errorf("install the tables for journals: %w", err)
	}
	return nil
}

// patience bounds the way of one line, and of everything else here that has no context. A process that cannot be heard for that long
// goes on, and its record has a gap.
var patience = 15 * time.Second // only tests change it

// Writer is the journal of one life of a process. It is not safe for concurrent use; journal.Recorder takes turns.
type Writer struct {
	config *pgx.ConnConfig
	writer string
	number int64
	conn   *pgx.Conn
}

// NewWriter writes to the database at the URL under a name that no other life has. The URL may hold a password and is in no error.
func NewWriter(url, name string) (*Writer, error) {
	config, err := configOf(url)
	if err != nil {
		return nil, err
	}
	return &Writer{config: config, writer: name}, nil
}

func configOf(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the URL of the database for journals cannot be read, and is not shown because it may hold a password")
	}
	config.RuntimeParams["application_name"] = Application
	config.RuntimeParams["synchronous_commit"] = "off" // a server that crashes is no part of such a run, and each line would wait for the disk
	config.ConnectTimeout = patience
	return config, nil
}

// Write keeps one line. A line whose insert got no answer is sent again under its number, and is there once.
func (w *Writer) Write(line []byte) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.number++
	for {
		err := w.insert(ctx, line)
		if err == nil {
			return len(line), nil
		}
		var refusal *pgconn.PgError
		if ctx.Err() != nil || errors.As(err, &refusal) && !passing(refusal) {
			return 0, fmt.Errorf("keep a line of the journal in Postgres: %w", err)
		}
		w.hangUp()
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// passing tells of a refusal that another attempt may escape: the server is starting, or full.
func passing(refusal *pgconn.PgError) bool {
	return strings.HasPrefix(refusal.Code, "57P") || strings.HasPrefix(refusal.Code, "53") || strings.HasPrefix(refusal.Code, "08")
}

func (w *Writer) insert(ctx context.Context, line []byte) (err error) {
	if w.conn == nil {
		if w.conn, err = pgx.ConnectConfig(ctx, w.config); err != nil {
			w.conn = nil
			return err
		}
	}
	_, err = w.conn.Exec(ctx, `INSERT INTO squall_deposit.lines (writer, number, line) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		w.writer, w.number, strings.TrimSuffix(string(line), "\n"))
	return err
}

func (w *Writer) hangUp() {
	if w.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.conn.Close(ctx)
	w.conn = nil
}

// Pages keeps the journal of a process that reaches the database through another connection than a URL says, such as a pool of the
// harness's.
type Pages struct {
	Conn   Conn
	Writer string
	number int64
}

// Write keeps one line.
func (p *Pages) Write(line []byte) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p.number++
	_, err := p.Conn.Exec(ctx, `INSERT INTO squall_deposit.lines (writer, number, line) VALUES ($1, $2, $3)`,
		p.Writer, p.number, strings.TrimSuffix(string(line), "\n"))
	if err != nil {
		return 0, fmt.Errorf("keep a line of the journal in Postgres: %w", err)
	}
	return len(line), nil
}

// ErrGap tells of a journal that lacks a line.
var ErrGap = errors.New("a line is missing")

// ReadAll returns all journals, by writer, each line with the server's stamp instead of its own. Those that lack a line in between come with
// an error: that a process wrote on shows that it was alive to tell of what is missing.
func ReadAll(ctx context.Context, conn Conn) (map[string][]byte, error) {
	rows, err := conn.Query(ctx, `SELECT writer, number, at, line FROM squall_deposit.lines ORDER BY writer, number`)
	if err != nil {
		return nil, fmt.Errorf("read the journals in Postgres: %w", err)
	}
	all, last := map[string][]byte{}, map[string]int64{}
	var gaps []string
	var writer, line string
	var number int64
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&writer, &number, &at, &line}, func() error {
		stamped, err := journal.Restamp([]byte(line), at)
		if err != nil {
			return fmt.Errorf("line %d of %s: %w", number, writer, err)
		}
		if number != last[writer]+1 && !slices.Contains(gaps, writer) {
			gaps = append(gaps, writer)
		}
		last[writer] = number
		all[writer] = append(append(all[writer], stamped...), '\n')
		return nil
	})
	if err != nil {
		return all, fmt.Errorf("read the journals in Postgres: %w", err)
	}
	if len(gaps) > 0 {
		return all, fmt.Errorf("journals of %s: %w", strings.Join(gaps, ", "), ErrGap)
	}
	return all, nil
}

// Ahead is by how much the server's clock is ahead of ours, as far as the way there and back tells: the shortest of several, halved.
func Ahead(ctx context.Context, conn Conn) (time.Duration, error) {
	var ahead time.Duration
	shortest := time.Duration(-1)
	for range 5 {
		before := time.Now()
		rows, err := conn.Query(ctx, `SELECT clock_timestamp()`)
		if err != nil {
			return 0, fmt.Errorf("read the clock of Postgres: %w", err)
		}
		at, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[time.Time])
		if err != nil {
			return 0, fmt.Errorf("read the clock of Postgres: %w", err)
		}
		if took := time.Since(before); shortest < 0 || took < shortest {
			shortest, ahead = took, at.Round(0).Sub(before.Round(0).Add(took/2))
		}
	}
	return ahead, nil
}

// SetRunTime has the task's work take that long in attempts that begin from now on; 0: as its task says.
func SetRunTime(ctx context.Context, conn Conn, task string, run time.Duration) error {
	_, err := conn.Exec(ctx, `INSERT INTO squall_deposit.run_times (task, run) VALUES ($1, $2) ON CONFLICT (task) DO UPDATE SET run = $2`, task, int64(run))
	if err != nil {
		return fmt.Errorf("set the run time of task %s: %w", task, err)
	}
	return nil
}

// RunTime is what SetRunTime has set last; 0: nothing.
func RunTime(ctx context.Context, url, task string) (time.Duration, error) {
	config, err := configOf(url)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return 0, fmt.Errorf("read the run time of the task: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var run int64
	err = conn.QueryRow(ctx, `SELECT run FROM squall_deposit.run_times WHERE task = $1`, task).Scan(&run)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the run time of the task: %w", err)
	}
	return time.Duration(run), nil
}
