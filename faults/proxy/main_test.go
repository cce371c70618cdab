package proxy

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

// database is a Postgres server that all tests share; "" where there is none to be had.
var database string

func TestMain(m *testing.M) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	url, stop, err := throwaway.Shared(ctx, "the tests on Postgres")
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	database = url
	status := m.Run()
	stop()
	os.Exit(status)
}
