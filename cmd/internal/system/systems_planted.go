//go:build planted

package system

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
)

var reference = planted.Reference()

func lookup(name string) (dispatcher.System, bool) {
	if planted.SimOnly(name) != "" {
		return dispatcher.System{}, false
	}
	return planted.Lookup(name)
}

func expected() string {
	names := slices.DeleteFunc(planted.Names(), func(name string) bool { return planted.SimOnly(name) != "" })
	return "one of " + strings.Join(names, ", ")
}

// AnyName tells whether the system draws the names of its workloads, so that only labels tell whose they are.
func AnyName(s dispatcher.System) bool { return slices.Contains(ownNames, s.Name) }

var ownNames = []string{"random-names", "naive", "start-timeout-leaves-pod"}

// withoutEpoch are the systems whose statements have no condition on the epoch.
var withoutEpoch = []string{"no-epoch", "naive", "leadership-in-a-boolean", "release-on-cancel", "host-clock-leases", "renew-without-timeout"}

// unconditional is a store whose leader writes pass for those of the newest term, for the systems whose statements have no
// condition on the epoch. In the simulation the hook sees the terms of all replicas and needs no help; a process sees but its own.
func unconditional(s dispatcher.System, url string, store dispatcher.Store) dispatcher.Store {
	if !slices.Contains(withoutEpoch, s.Name) {
		return store
	}
	return &newest{Store: store, url: url}
}

type newest struct {
	dispatcher.Store
	url  string
	mu   sync.Mutex
	conn *pgx.Conn
}

// term is the newest one of the role. When that cannot be told, the write goes out as it is.
func (n *newest) term(ctx context.Context, t dispatcher.Term) dispatcher.Term {
	n.mu.Lock()
	defer n.mu.Unlock()
	epoch, err := n.epoch(ctx, t.Role)
	if err != nil {
		if n.conn != nil {
			_ = n.conn.Close(ctx)
		}
		n.conn = nil
		return t
	}
	t.Epoch = epoch
	return t
}

func (n *newest) epoch(ctx context.Context, r dispatcher.Role) (dispatcher.Epoch, error) {
	if n.conn == nil {
		config, err := pgx.ParseConfig(n.url)
		if err != nil {
			return 0, fmt.Errorf("read the newest term: %w", err)
		}
		config.RuntimeParams["application_name"] = "squall-planted" // not the process: no fault is meant for it
		if n.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
			return 0, fmt.Errorf("read the newest term: %w", err)
		}
	}
	var epoch int64
	err := n.conn.QueryRow(ctx, `SELECT epoch FROM leadership WHERE role = $1`, string(r)).Scan(&epoch)
	return dispatcher.Epoch(epoch), err
}

func (n *newest) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	return n.Store.Claim(ctx, n.term(ctx, t), limit)
}

func (n *newest) Launched(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, w dispatcher.UID) (dispatcher.Task, error) {
	return n.Store.Launched(ctx, n.term(ctx, t), r, w)
}

func (n *newest) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	return n.Store.Requeue(ctx, n.term(ctx, t), r, why)
}

func (n *newest) Conclude(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	return n.Store.Conclude(ctx, n.term(ctx, t), r, why)
}
