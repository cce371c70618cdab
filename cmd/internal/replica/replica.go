// Package replica is what the programs dispatcher and reconciler have in common: everything around their loops. It reads
// the environment, connects the ports, serves metrics and health, keeps a record if asked to, and ends in order.
package replica

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/klog/v2"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/hostclock"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
	"github.com/squall-chaos/squall/dispatcher/metrics"
	"github.com/squall-chaos/squall/dispatcher/postgres"
)

// What a replica exits with.
const (
	exitDone  = 0
	exitBroke = 1
	exitUsage = 2
)

// Loop is what the replica is for.
type Loop func(context.Context, dispatcher.InstanceID, dispatcher.Settings, dispatcher.Ports, dispatcher.System) error

// Main runs the program: the loop until SIGTERM or SIGINT, or the subcommand migrate. It returns the exit status.
func Main(name string, loop Loop, args []string, lookup func(string) (string, bool), to io.Writer) int {
	log := slog.New(slog.NewJSONHandler(to, nil))
	klog.SetSlogLogger(log)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	migrate, alone, err := parse(name, args, to)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	case alone:
		return migrateOnly(ctx, log, lookup)
	}
	c, err := readConfig(lookup)
	if err != nil {
		return complain(log, err)
	}
	r := &replica{config: c, log: log.With("process", c.process, "instance", string(c.instance))}
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := r.run(ctx, loop, migrate); err != nil {
		r.log.Error("ends", "error", err)
		if errors.As(err, new(usageError)) {
			return exitUsage
		}
		return exitBroke
	}
	r.log.Info("ends")
	return exitDone
}

// parse reads the command line.
func parse(name string, args []string, to io.Writer) (migrate, alone bool, err error) {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(to)
	f.BoolVar(&migrate, "migrate", false, "bring the tables up to date before anything else")
	f.Usage = func() {
		fmt.Fprintf(to, "%s [--migrate]   run until SIGTERM\n%s migrate       bring the tables of DATABASE_URL up to date, and end\n\n"+
			"All else is told by the environment, see package dispatcher/kube/environment.\n\n", name, name)
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return false, false, err
	}
	alone = f.NArg() == 1 && f.Arg(0) == "migrate"
	if f.NArg() > 0 && !alone {
		f.Usage()
		return false, false, fmt.Errorf("unknown arguments: %s", strings.Join(f.Args(), " "))
	}
	return migrate, alone, nil
}

// complain lists what is wrong with the environment.
func complain(log *slog.Logger, err error) int {
	var all environment.Problems
	if errors.As(err, &all) {
		for _, p := range all {
			log.Error("the environment is not as it should be", "variable", p.Variable, "expected", p.Expected, "got", p.Got)
		}
	}
	return exitUsage
}

func migrateOnly(ctx context.Context, log *slog.Logger, lookup func(string) (string, bool)) int {
	r := environment.NewReader(lookup)
	url := r.Secret(environment.DatabaseURL, "a Postgres URL", checkURL)
	if err := r.Err(); err != nil {
		return complain(log, err)
	}
	if err := postgres.Migrate(ctx, url); err != nil {
		log.Error("the tables are not up to date", "error", err)
		return exitBroke
	}
	log.Info("the tables are up to date")
	return exitDone
}

// usageError is a fault of whoever set the replica up.
type usageError struct{ error }

type replica struct {
	config
	log      *slog.Logger
	clock    dispatcher.Clock
	probe    *metrics.Probe
	meter    *metrics.Meter
	recorder *journal.Recorder // nil: no record
}

func (r *replica) run(ctx context.Context, loop Loop, migrate bool) error {
	clock := hostclock.New()
	r.clock, r.probe, r.meter = clock, metrics.NewProbe(clock, r.settings), metrics.New(clock, r.settings)
	tellFindings(r.log, r.settings)
	if err := r.openRecord(); err != nil {
		return err
	}
	shut, err := r.serve()
	if err != nil {
		return err
	}
	defer shut()
	store, err := r.open(ctx, migrate)
	if err != nil || store == nil {
		return err
	}
	defer store.Close()
	ports, err := r.ports(store)
	if err != nil {
		return err
	}
	r.log.Info("runs", "system", r.system.Name, "settings", r.settings)
	defer r.hurry(ctx)()
	if err := loop(ctx, r.instance, r.settings, ports, r.system); ctx.Err() == nil {
		return fmt.Errorf("the loop returned: %w", err)
	}
	return nil
}

func (r *replica) openRecord() (err error) {
	if r.record.Nowhere() {
		return nil
	}
	r.recorder, err = r.record.Open(r.process, r.life(), func(err error) {
		r.log.Error("the record has a gap, and nothing of it can be judged", "error", err)
	})
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", environment.Record, err)}
	}
	r.recorder.Event(journal.Event{Kind: history.ProcessStarted, Detail: string(r.instance)})
	return nil
}

// serve answers for metrics and health from here on. The returned function ends that.
func (r *replica) serve() (func(), error) {
	listener, err := net.Listen("tcp", r.listen)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: expected a free address, got %s: %w", environment.Listen, r.listen, err)}
	}
	server := &http.Server{Handler: metrics.Handler(r.meter, r.probe), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.log.Error("serves no longer", "error", err)
		}
	}()
	r.log.Info("serves", "address", listener.Addr().String())
	return func() { _ = server.Close() }, nil
}

// hurry ends the process if the loop does not come to its end in time: a call under way may take its whole timeout, and then
// the lease is read and given back. The returned function calls that off.
func (r *replica) hurry(ctx context.Context) func() {
	limit := max(r.settings.CreateTimeout, r.settings.StoreTimeout) + 2*r.settings.StoreTimeout + time.Second
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		r.log.Info("stops: the call under way is the last")
		select {
		case <-done:
		case <-time.After(limit):
			r.log.Error("ends at once: the loop did not end", "within", limit.String())
			os.Exit(exitBroke)
		}
	}()
	return func() { close(done) }
}
