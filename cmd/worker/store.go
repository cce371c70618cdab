package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/postgres"
)

// connections are as many as the worker has calls under way: a heartbeat beside its result.
const connections = 2

// checkURL tells whether the text can be understood; the error may hold parts of it.
func checkURL(url string) error {
	_, err := pgxpool.ParseConfig(url)
	return err
}

// lateStore is a database that may not be there yet: it is opened by the first call that finds it. Those before it fail as
// calls do that nothing came of.
type lateStore struct {
	open func(context.Context) (dispatcher.Store, error)
	mu   sync.Mutex
	got  dispatcher.Store
}

// database opens the one at the URL on behalf of the process.
func database(url, process string, s dispatcher.Settings) func(context.Context) (dispatcher.Store, error) {
	return func(ctx context.Context) (dispatcher.Store, error) {
		store, err := postgres.Open(ctx, url, s, func(c *pgxpool.Config) {
			c.MaxConns = connections
			c.ConnConfig.RuntimeParams["application_name"] = process
		})
		if err != nil {
			return nil, err
		}
		return store, nil
	}
}

func (l *lateStore) store(ctx context.Context) (dispatcher.Store, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.got == nil {
		store, err := l.open(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", dispatcher.ErrUnavailable, err)
		}
		l.got = store
	}
	return l.got, nil
}

func (l *lateStore) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	s, err := l.store(ctx)
	if err != nil {
		return dispatcher.Task{}, err
	}
	return s.Start(ctx, k)
}

func (l *lateStore) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	s, err := l.store(ctx)
	if err != nil {
		return err
	}
	return s.Heartbeat(ctx, k)
}

func (l *lateStore) Finish(ctx context.Context, k dispatcher.Ticket, r dispatcher.Result) (dispatcher.Task, error) {
	s, err := l.store(ctx)
	if err != nil {
		return dispatcher.Task{}, err
	}
	return s.Finish(ctx, k, r)
}
