package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// lives lists what happened to processes.
func lives(w *Cluster) string {
	words := map[history.Kind]string{history.ProcessStarted: "started", history.ProcessCrashed: "crashed",
		history.ProcessPaused: "paused", history.ProcessResumed: "resumed"}
	var all []string
	for _, e := range w.History().Events {
		if word := words[e.Kind]; word != "" {
			all = append(all, fmt.Sprintf("%v %s", e.At, word))
		}
	}
	return strings.Join(all, ", ")
}

func TestSupervisorRestartsAReplicaThatReturns(t *testing.T) {
	w := still(t)
	var instances []dispatcher.InstanceID
	w.addProcess("p", func(p *process) error {
		instances = append(instances, p.instance())
		p.ports().Clock.Sleep(background, time.Minute)
		if p.incarnation == 1 {
			return errors.New("lost its way")
		}
		return nil
	}).start()
	w.At(90*time.Second, "crash", func() { w.Crash("p") })
	w.At(95*time.Second, "restart", func() { w.Restart("p") })
	w.At(155500*time.Millisecond, "crash while the supervisor waits", func() { w.Crash("p") })
	run(t, w, time.Hour)
	if want := []dispatcher.InstanceID{"p/1", "p/2", "p/3"}; !slices.Equal(instances, want) {
		t.Errorf("instances %v, want %v", instances, want)
	}
	if got, want := lives(w), "0s started, 1m0s crashed, 1m1s started, 1m30s crashed, 1m35s started, 2m35s crashed"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, e := range w.History().Events {
		if e.At == time.Minute && !strings.Contains(e.Detail, "lost its way") {
			t.Errorf("the record does not say why: %q", e.Detail)
		}
	}
}

func TestFaultsOfProcessesThatAreDownOrUnknown(t *testing.T) {
	w := still(t)
	w.addProcess("p", func(p *process) error { return p.ports().Clock.Sleep(background, time.Hour) }).start()
	w.At(time.Second, "faults", func() {
		for _, name := range []string{"p", "nobody"} {
			w.Restart(name)
			w.Resume(name)
			w.Pause(name)
			w.Pause(name)
			w.Crash(name)
			w.Crash(name)
			w.Pause(name)
			w.Resume(name)
			w.Restart(name)
			w.SkewClock(name, time.Second)
		}
	})
	run(t, w, time.Minute)
	if got, want := lives(w), "0s started, 1s paused, 1s crashed, 1s started"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSkewedClock(t *testing.T) {
	w := still(t)
	var wall []time.Duration
	w.addProcess("p", func(p *process) error {
		c := p.ports().Clock
		for range 2 {
			before := c.Elapsed()
			c.Sleep(background, time.Minute)
			if c.Elapsed()-before != time.Minute {
				t.Error("the monotonic clock jumped")
			}
			wall = append(wall, c.Now().Sub(kernel.Epoch))
		}
		now, _ := p.ports().Store.Now(background)
		if skew := c.Now().Sub(now); skew < -time.Hour-time.Second || skew > -time.Hour+time.Second {
			t.Errorf("the wall clock is %v off the database's, want an hour behind", skew)
		}
		return errors.New("end of this life")
	}).start()
	w.At(90*time.Second, "skew", func() { w.SkewClock("p", -time.Hour) })
	run(t, w, 182*time.Second)
	want := []time.Duration{time.Minute, 2*time.Minute - time.Hour, 3*time.Minute + 1010*ms - time.Hour}
	if !slices.Equal(wall, want) {
		t.Errorf("wall clock %v, want %v", wall, want)
	}
}

func TestPanicOfTheSystemUnderTestIsTheRunsError(t *testing.T) {
	w := still(t)
	w.addProcess("dispatcher-1", func(*process) error { panic("nil map") }).start()
	err := w.Run(context.Background(), time.Minute, nil)
	if err == nil || !strings.Contains(err.Error(), "dispatcher-1") || !strings.Contains(err.Error(), "nil map") {
		t.Errorf("got %v", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	w := still(t)
	ctx, cancel := context.WithCancel(context.Background())
	w.Go("p", func(ctx context.Context, p dispatcher.Ports) {
		for {
			p.Clock.Sleep(ctx, time.Second)
		}
	})
	w.At(time.Minute, "cancel", cancel)
	if err := w.Run(ctx, time.Hour, nil); !errors.Is(err, context.Canceled) || w.Now() > 10*time.Minute {
		t.Errorf("%v at %v", err, w.Now())
	}
	if err := w.Run(ctx, time.Hour, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is over began: %v", err)
	}
}
