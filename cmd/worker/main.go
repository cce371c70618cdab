// Command worker is what runs in a workload of the reference dispatcher, as Squall sees it: it does what its task says that work does,
// asks the store before it starts, shows signs of life, and hands in its result under its token.
//
// It is also the ground truth of a recorded run. With SQUALL_RECORD it writes down its own start, executions, effects and end,
// and the calls that it makes, each in one write to a file, so that a killed worker loses nothing that it did.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal/deposit"
	"github.com/squall-chaos/squall/cmd/internal/record"
	"github.com/squall-chaos/squall/cmd/internal/system"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/hostclock"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

func main() {
	end := live(os.LookupEnv)
	// The kernel spares process 1 of a container when it kills itself (pid_namespaces(7)); its exit code says the same.
	if end.kill && os.Getpid() != 1 && syscall.Kill(os.Getpid(), syscall.SIGKILL) == nil {
		select {}
	}
	os.Exit(end.code)
}

// config is what the worker is told.
type config struct {
	order    environment.Order
	settings dispatcher.Settings
	system   dispatcher.System
	database string
	record   record.Place
	startup  environment.Span
	asked    time.Time // when the Pod was asked for; zero: not known
}

func readConfig(lookup func(string) (string, bool)) (config, error) {
	r := environment.NewReader(lookup)
	c := config{
		order:    environment.ReadOrder(r),
		settings: environment.Parse(r, environment.Settings, "", environment.ExpectedSettings(), environment.DecodeSettings),
		database: r.Secret(environment.DatabaseURL, "a Postgres URL", checkURL),
		record:   record.Read(r),
		startup:  environment.Parse(r, environment.Startup, "0s", environment.ExpectedSpan, environment.DecodeSpan),
		asked:    environment.Parse(r, environment.Asked, time.Time{}.Format(time.RFC3339Nano), "a moment as RFC 3339", readMoment),
		system:   system.Read(r),
	}
	c.settings = system.Settings(c.system, c.settings)
	return c, r.Err()
}

func readMoment(text string) (time.Time, error) { return time.Parse(time.RFC3339Nano, text) }

// idle is how long the worker does nothing yet: what its Pod took to get here is part of the time that it is to take.
func (c config) idle() time.Duration {
	took := time.Duration(0)
	if !c.asked.IsZero() {
		took = max(0, time.Since(c.asked))
	}
	return max(0, c.startup.Draw()-took)
}

// live is the whole process but its end.
func live(lookup func(string) (string, bool)) ending {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT) // first of all: process 1 gets no signal that it did not ask for
	c, err := readConfig(lookup)
	if err != nil {
		log.Error("the environment is not as it should be", "problems", strings.Split(err.Error(), "\n"))
		return ending{code: exitUsage}
	}
	log = log.With("process", c.order.Process(), "attempt", c.order.Attempt, "token", uint64(c.order.Ticket.Token))
	w := &worker{order: c.order, settings: c.settings, clock: hostclock.New(), truth: truth{order: c.order},
		runTime: c.runTime, startup: c.idle(), log: log}
	if !c.record.Nowhere() {
		w.truth.recorder, err = c.record.Open(c.order.Process(), string(c.order.Ticket.Workload), func(err error) {
			log.Error("the record has a gap, and nothing of it can be judged", "error", err)
		})
		if err != nil {
			log.Error("no record", "error", err)
			return ending{code: exitRecord}
		}
	}
	w.truth.event(history.ContainerStarted, "")
	w.store = c.workers(w.truth)
	return w.run(context.Background(), signals)
}

// workers are the store as the worker sees it. What is recorded is what is really asked of the database.
func (c config) workers(t truth) dispatcher.Workers {
	open := database(c.database, c.order.Process(), c.settings)
	var w dispatcher.Workers = &lateStore{open: func(ctx context.Context) (dispatcher.Store, error) {
		s, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return system.Store(c.system, c.database, s), nil
	}}
	if t.recorder != nil {
		w = t.recorder.Workers(w)
	}
	return system.Workers(c.system, w)
}

// runTime is how long the work takes: as its task says, unless there is something beside the journal that says otherwise.
func (c config) runTime() (time.Duration, error) {
	switch {
	case c.record.URL != "":
		run, err := deposit.RunTime(context.Background(), c.record.URL, string(c.order.Ticket.ID))
		return cmp.Or(run, c.order.Work.Run), err
	case c.record.Nowhere():
		return c.order.Work.Run, nil
	}
	file := filepath.Join(c.record.Directory, environment.RunTimes, string(c.order.Ticket.ID))
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c.order.Work.Run, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the run time of the task: %w", err)
	}
	run, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil || run < 0 {
		return 0, fmt.Errorf("run time of the task in %s: expected a duration like 90s, got %q", file, text)
	}
	return run, nil
}
