// Command faultproxy stands in front of an API server and a Postgres server and breaks the calls that its rules select. See
// package proxy for what it does, and for how a dispatcher in any language is led through it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/squall-chaos/squall/faults/proxy"
)

// Exit codes, as of the other commands.
const (
	exitUsage  = 2
	exitFailed = 4
)

// grace is what calls under way get when the proxy is told to stop.
const grace = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.LookupEnv, os.Stderr))
}

func run(ctx context.Context, args []string, lookup func(string) (string, bool), log io.Writer) int {
	c, err := configure(args, lookup, log)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(log, err)
		return exitUsage
	}
	logger := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: c.level}))
	c.options.Log = logger
	p, err := proxy.Start(ctx, c.options)
	if err != nil {
		logger.Error("not started", "error", err)
		return exitFailed
	}
	logger.Info("started", "api", p.APIAddr(), "store", p.StoreAddr(), "control", p.ControlAddr())
	failed := 0
	select {
	case <-ctx.Done():
	case err := <-p.Failed():
		logger.Error("a listener broke", "error", err)
		failed = exitFailed
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := p.Close(stopping); err != nil {
		logger.Warn("calls under way were cut", "error", err)
	}
	logger.Info("stopped")
	return failed
}
