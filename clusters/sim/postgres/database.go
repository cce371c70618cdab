// Package postgres models how a Postgres primary with standbys behaves to its clients, around the
// reference store that has the rows.
//
// Every method is one transaction that is visible to all from its commit on; losing the connection, before the
// commit or after it, is what the call layer does to a call. What is modelled here is what a client meets when
// there is more than one server: reads from a standby that lags, and a failover that loses the commits which the standby
// had not received.
package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

// Config is what a database is made from.
type Config struct {
	Settings dispatcher.Settings
	Clock    func() time.Time
	Lag      clusters.Dist // age of what a standby shows
	Stream   *rand.Rand    // decides the lag
	// Rows is a store of an earlier run, for its memory. May be nil.
	Rows *memory.Store
	// Room makes pages of rows, in memory that lasts as long as the run. May be nil.
	Room func(rows int) []dispatcher.Task
	// OnCommit is told of every row that a transaction wrote, and must not keep it. May be nil.
	OnCommit func(t *dispatcher.Task)
}

// Database is the primary and its standbys.
type Database struct {
	*memory.Store
	config   Config
	lag      clusters.Dist
	shown    time.Time // up to where the standby has shown the log
	timeline int
}

// New returns an empty database.
func New(c Config) *Database {
	d := &Database{Store: c.Rows, config: c, lag: c.Lag, timeline: 1}
	if d.Store == nil {
		d.Store = memory.New(c.Settings, c.Clock)
	} else {
		d.Reset(c.Settings, c.Clock)
	}
	d.KeepUndo, d.OnCommit, d.Room = true, c.OnCommit, c.Room
	return d
}

// SetLag replaces the age of what standbys show; a zero Dist restores the configured one.
func (d *Database) SetLag(lag clusters.Dist) { d.lag = lag.Or(d.config.Lag) }

// Scan answers from a standby when the caller allows it. A standby replays the log in order, so what it shows
// may be old but never goes back.
func (d *Database) Scan(ctx context.Context, q dispatcher.Scan) (dispatcher.Page, error) {
	if !q.Stale {
		return d.Store.Scan(ctx, q)
	}
	if at := d.config.Clock().Add(-d.lag.Draw(d.config.Stream)); at.After(d.shown) {
		d.shown = at
	}
	return d.ScanAsOf(q, d.shown), nil
}

// Timeline counts failovers, as Postgres counts timelines. A connection belongs to one.
func (d *Database) Timeline() int { return d.timeline }

// Lost is what a failover took back of one row.
type Lost struct {
	Before dispatcher.Task
	After  dispatcher.Task // zero when Gone
	Gone   bool            // its Submit was among what was lost
}

// EffectLost tells whether a result that was counted no longer is.
func (l Lost) EffectLost() bool {
	return l.Before.Phase == dispatcher.Succeeded && (l.Gone || l.After.Phase != dispatcher.Succeeded)
}

// FailOver promotes a standby that had not received the commits of the last moments. It returns what
// became of the rows, in order of ID.
func (d *Database) FailOver(lost time.Duration) []Lost {
	d.timeline++
	rows := d.Rewind(d.config.Clock().Add(-min(lost, memory.UndoSpan)))
	all := make([]Lost, len(rows))
	for i, before := range rows {
		after, err := d.Read(context.Background(), before.Spec.ID)
		all[i] = Lost{Before: before, After: after, Gone: err != nil}
	}
	return all
}
