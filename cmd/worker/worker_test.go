package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/hostclock"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

var ticket = dispatcher.Ticket{ID: "a", Token: 7, Workload: "uid-1"}

// beating are settings with heartbeats, silent those without.
var (
	beating = dispatcher.Settings{StoreTimeout: 2 * time.Second, HTTPTimeout: 50 * time.Second, StepTimeout: 55 * time.Second,
		StartTimeout: 100 * time.Second, HeartbeatInterval: 5 * time.Second, WorkerLease: 15 * time.Second}
	silent = dispatcher.Settings{StoreTimeout: 2 * time.Second, HTTPTimeout: 50 * time.Second, StepTimeout: 55 * time.Second,
		StartTimeout: 100 * time.Second}
)

// scripted answers each call after a moment, with what its script says at that time.
type scripted struct {
	since  time.Time
	script []answer
}

// answer is what one method says from a moment on.
type answer struct {
	from   time.Duration
	method string
	err    error
}

// mute has a call wait for its timeout.
var mute = dispatcher.ErrUnknown

func (s *scripted) say(ctx context.Context, method string) error {
	var err error
	for _, a := range s.script {
		if a.method == method && time.Since(s.since) >= a.from {
			err = a.err
		}
	}
	if err == mute {
		<-ctx.Done()
		return fmt.Errorf("%w: %w", mute, ctx.Err())
	}
	time.Sleep(10 * time.Millisecond)
	return err
}

func (s *scripted) Start(ctx context.Context, _ dispatcher.Ticket) (dispatcher.Task, error) {
	return dispatcher.Task{}, s.say(ctx, "start")
}

func (s *scripted) Heartbeat(ctx context.Context, _ dispatcher.Ticket) error {
	return s.say(ctx, "beat")
}

func (s *scripted) Finish(ctx context.Context, _ dispatcher.Ticket, _ dispatcher.Result) (dispatcher.Task, error) {
	return dispatcher.Task{}, s.say(ctx, "finish")
}

// life is one case: what the worker is told and meets, and how that ends.
type life struct {
	name     string
	settings dispatcher.Settings
	attempt  int
	work     dispatcher.Work
	startup  time.Duration
	script   []answer
	term     time.Duration // when SIGTERM comes; 0: never
	code     int
	after    time.Duration // whole seconds; the moments of calls are cut off
	truth    string        // events, abbreviated
}

const began = "container+ work+ "

var lives = []life{
	{name: "work is done", settings: beating, work: dispatcher.Work{Run: 30 * time.Second}, code: 0, after: 30 * time.Second,
		truth: began + "counted work- container-[exit 0]"},
	{name: "work is done without heartbeats", settings: silent, work: dispatcher.Work{Run: 30 * time.Second},
		script: []answer{{0, "beat", dispatcher.ErrRefused}}, code: 0, after: 30 * time.Second,
		truth: began + "counted work- container-[exit 0]"},
	{name: "slow to start up", settings: beating, work: dispatcher.Work{Run: time.Second}, startup: 40 * time.Second,
		code: 0, after: 41 * time.Second, truth: began + "counted work- container-[exit 0]"},
	{name: "terminated while starting up", settings: beating, startup: 40 * time.Second, term: 10 * time.Second, code: 143,
		after: 10 * time.Second, truth: "container+ container-[exit 143]"},

	{name: "not let in", settings: beating, script: []answer{{0, "start", dispatcher.ErrRefused}}, code: 75,
		truth: "container+ container-[exit 75]"},
	{name: "nobody to ask, with a lease", settings: beating, script: []answer{{0, "start", dispatcher.ErrUnavailable}}, code: 75,
		after: 14 * time.Second, truth: "container+ container-[exit 75]"},
	{name: "nobody to ask, with a start timeout", settings: silent, script: []answer{{0, "start", mute}}, code: 75,
		after: 101 * time.Second, truth: "container+ container-[exit 75]"},
	{name: "asks until it is answered", settings: silent, work: dispatcher.Work{Run: time.Second},
		script: []answer{{0, "start", mute}, {60 * time.Second, "start", nil}}, code: 0, after: 61 * time.Second,
		truth: began + "counted work- container-[exit 0]"},

	{name: "longer than an HTTP call may take", settings: beating, work: dispatcher.Work{Run: 90 * time.Second}, code: 1,
		after: 50 * time.Second, truth: began + "work- container-[exit 1]"},
	{name: "heeds no timeout", settings: beating, work: dispatcher.Work{Run: 90 * time.Second, IgnoreTimeouts: true}, code: 0,
		after: 90 * time.Second, truth: began + "counted work- container-[exit 0]"},
	{name: "fails at first", settings: beating, attempt: 2, work: dispatcher.Work{Run: 5 * time.Second, FailUntil: 2}, code: 1,
		after: 5 * time.Second, truth: began + "work- container-[exit 1]"},
	{name: "fails no more", settings: beating, attempt: 3, work: dispatcher.Work{Run: 5 * time.Second, FailUntil: 2}, code: 0,
		after: 5 * time.Second, truth: began + "counted work- container-[exit 0]"},
	{name: "no result", settings: beating, work: dispatcher.Work{Run: 5 * time.Second, NoResult: true}, code: 0,
		after: 5 * time.Second, truth: began + "work- container-[exit 0]"},
	{name: "crashes", settings: beating, work: dispatcher.Work{Run: 20 * time.Second, CrashAt: 8 * time.Second}, code: 137,
		after: 8 * time.Second, truth: began + "work- container-[exit 137]"},
	{name: "is done before it would crash", settings: beating, work: dispatcher.Work{Run: 5 * time.Second, CrashAt: 8 * time.Second}, code: 0,
		after: 5 * time.Second, truth: began + "counted work- container-[exit 0]"},
	{name: "hangs until it is terminated", settings: beating, work: dispatcher.Work{Run: time.Second, Hang: true}, term: 300 * time.Second, code: 143,
		after: 300 * time.Second, truth: began + "work- container-[exit 143]"},
	{name: "ignores SIGTERM", settings: beating, work: dispatcher.Work{Run: 30 * time.Second, IgnoreTerm: true}, term: time.Second, code: 0,
		after: 30 * time.Second, truth: began + "counted work- container-[exit 0]"},
	{name: "terminated while it asks to start", settings: silent, script: []answer{{0, "start", mute}}, term: time.Second, code: 143,
		after: time.Second, truth: "container+ container-[exit 143]"},

	{name: "heartbeat refused", settings: beating, work: dispatcher.Work{Run: 40 * time.Second},
		script: []answer{{12 * time.Second, "beat", dispatcher.ErrRefused}}, code: 75, after: 15 * time.Second,
		truth: began + "work- container-[exit 75]"},
	{name: "heartbeats lost", settings: beating, work: dispatcher.Work{Run: 40 * time.Second},
		script: []answer{{7 * time.Second, "beat", mute}}, code: 75, after: 20 * time.Second,
		truth: began + "work-[lease over] container-[exit 75]"},
	{name: "heartbeats lost for less than the lease", settings: beating, work: dispatcher.Work{Run: 40 * time.Second},
		script: []answer{{7 * time.Second, "beat", mute}, {15 * time.Second, "beat", nil}}, code: 0, after: 40 * time.Second,
		truth: began + "counted work- container-[exit 0]"},
	{name: "cannot stop itself", settings: beating, work: dispatcher.Work{Run: 40 * time.Second, IgnoreFence: true},
		script: []answer{{7 * time.Second, "beat", dispatcher.ErrRefused}, {0, "finish", dispatcher.ErrRefused}}, code: 75, after: 40 * time.Second,
		truth: began + "refused work- container-[exit 75]"},

	{name: "result refused", settings: beating, work: dispatcher.Work{Run: time.Second},
		script: []answer{{0, "finish", dispatcher.ErrRefused}}, code: 75, after: time.Second,
		truth: began + "refused work- container-[exit 75]"},
	{name: "failure refused", settings: beating, work: dispatcher.Work{Run: time.Second, FailUntil: 9},
		script: []answer{{0, "finish", dispatcher.ErrRefused}}, code: 75, after: time.Second,
		truth: began + "work- container-[exit 75]"},
	{name: "result answered late", settings: silent, work: dispatcher.Work{Run: time.Second},
		script: []answer{{0, "finish", mute}, {6 * time.Second, "finish", nil}}, code: 0, after: 7 * time.Second,
		truth: began + "counted work- container-[exit 0]"},
	{name: "result never answered", settings: beating, work: dispatcher.Work{Run: time.Second},
		script: []answer{{0, "finish", mute}, {0, "beat", mute}}, code: 75, after: 15 * time.Second,
		truth: began + "work-[lease over] container-[exit 75]"},
	{name: "terminated with its result in the balance", settings: silent, work: dispatcher.Work{Run: time.Second},
		script: []answer{{0, "finish", mute}}, term: 5 * time.Second, code: 143, after: 5 * time.Second,
		truth: began + "work-[a result was handed in and never answered] container-[exit 143]"},
}

func TestLives(t *testing.T) {
	for _, l := range lives {
		t.Run(l.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { l.check(t) })
		})
	}
}

func (l life) check(t *testing.T) {
	order := environment.Order{Ticket: ticket, Attempt: max(1, l.attempt), Node: "node-1", Work: l.work}
	var lines bytes.Buffer
	truth := truth{order: order, recorder: journal.NewRecorder(&lines, order.Process())}
	started := time.Now()
	w := &worker{order: order, settings: l.settings, clock: hostclock.New(), store: &scripted{started, l.script}, truth: truth,
		runTime: func() (time.Duration, error) { return l.work.Run, nil }, startup: l.startup, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	signals := make(chan os.Signal, 1)
	if l.term > 0 {
		time.AfterFunc(l.term, func() { signals <- syscall.SIGTERM })
	}
	truth.event(history.ContainerStarted, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // of calls that nobody waits for any more
	end := w.run(ctx, signals)
	if took := time.Since(started).Truncate(time.Second); end.code != l.code || end.kill != (l.code == exitKilled) || took != l.after {
		t.Errorf("exit %d after %s, want %d after %s", end.code, took, l.code, l.after)
	}
	if got := events(t, &lines); got != l.truth {
		t.Errorf("its truth is\n\t%s\nwant\n\t%s", got, l.truth)
	}
}

// words abbreviates the kinds of events.
var words = map[history.Kind]string{
	history.ContainerStarted: "container+", history.ContainerEnded: "container-", history.WorkStarted: "work+", history.WorkEnded: "work-",
	history.EffectCounted: "counted", history.EffectRefused: "refused",
}

// events are those of a journal in one line. Each must say whose it is.
func events(t *testing.T, r io.Reader) string {
	t.Helper()
	_, all, err := journal.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, e := range all {
		if e.Process != "worker-a" || e.Task != "a" || e.Node == "" || e.Object == "" || e.Token == 0 || e.At.IsZero() {
			t.Errorf("an event that does not say whose it is: %+v", e)
		}
		word := words[e.Kind]
		if e.Detail != "" {
			word += "[" + e.Detail + "]"
		}
		text = append(text, word)
	}
	return strings.Join(text, " ")
}

// A frozen worker wakes up with its lease over and its work due: it must not hand in a result as if nothing had been.
func TestOverdueAlarmsRingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlarms(hostclock.New())
		var rung []string
		for which, at := range map[int]time.Duration{alarmWork: 20, alarmFence: 15, alarmBeat: 25} { // order does not matter
			a.set(which, at*time.Second, func() { rung = append(rung, fmt.Sprint(int(at))) })
		}
		a.stop(alarmBeat)
		time.Sleep(time.Minute)
		for ring := a.due(); ring != nil; ring = a.due() {
			ring()
		}
		if !slices.Equal(rung, []string{"15", "20"}) {
			t.Errorf("they rang as %v", rung)
		}
	})
}
