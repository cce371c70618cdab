package proxy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

// database is a Postgres server that all tests share, that of DATABASE_URL or one of our own; "" where there is none to be had.
var database string

func TestMain(m *testing.M) {
	status, err := withDatabase(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = max(status, 1)
	}
	os.Exit(status)
}

func withDatabase(run func() int) (int, error) {
	if database = os.Getenv("DATABASE_URL"); database != "" {
		return run(), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	own, err := throwaway.Start(ctx, throwaway.Options{})
	if errors.Is(err, throwaway.ErrNoBinaries) && os.Getenv("CI") == "" {
		fmt.Println("left out: the tests on Postgres:", err) // make test says so again at its end; continuous integration fails
		return run(), nil
	}
	if err != nil {
		return 1, fmt.Errorf("the tests need a Postgres server; set DATABASE_URL or let them start one: %w", err)
	}
	defer func() { _ = own.Stop() }()
	database = own.URL("postgres")
	return run(), nil
}
