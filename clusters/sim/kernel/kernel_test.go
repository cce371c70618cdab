package kernel

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const forever = time.Duration(1<<63 - 1)

func TestEventsHappenInOrderOfTime(t *testing.T) {
	k := New(1)
	var got []time.Duration
	for _, d := range []time.Duration{5, 3, 9, 1, 7, 3, 0, -4} {
		k.After(d, 0, func() { got = append(got, k.Now()) })
	}
	run(t, k, 7)
	if want := []time.Duration{0, 0, 1, 3, 3, 5, 7}; !slices.Equal(got, want) {
		t.Errorf("events up to 7 happened at %v, want %v", got, want)
	}
	run(t, k, 20)
	if len(got) != 8 || k.Now() != 20 {
		t.Errorf("%d events at %v, want 8 at 20ns", len(got), k.Now())
	}
}

func TestTieBreakDependsOnTheSeedOnly(t *testing.T) {
	order := func(seed uint64) string {
		k := New(seed)
		var b strings.Builder
		for i := range 8 {
			k.After(1, 0, func() { fmt.Fprint(&b, i) })
		}
		run(t, k, 1)
		return b.String()
	}
	seen := map[string]bool{}
	for seed := range uint64(20) {
		if once, again := order(seed), order(seed); once != again {
			t.Errorf("seed %d gives two orders", seed)
		}
		seen[order(seed)] = true
	}
	if len(seen) < 15 {
		t.Errorf("20 seeds give only %d orders: %v", len(seen), seen)
	}
}

func TestStoppedEventNeverHappens(t *testing.T) {
	k := New(1)
	stopped := k.After(1, 0, func() { t.Error("stopped event happened") })
	if !stopped.Active() || !stopped.Stop() || stopped.Stop() || stopped.Active() {
		t.Error("the first Stop must be true, later ones false")
	}
	var self Timer
	self = k.After(2, 0, func() {
		if self.Stop() {
			t.Error("an event that is happening was stopped")
		}
	})
	reused := false
	k.After(1, 0, func() { reused = true })
	if stopped.Stop() {
		t.Error("an old timer stopped the event that has its slot now")
	}
	run(t, k, 3)
	if !reused || (Timer{}).Stop() {
		t.Error("event lost, or the zero timer stopped something")
	}
}

// TestQueueAgainstSorting also covers the compaction: most events are stopped.
func TestQueueAgainstSorting(t *testing.T) {
	k, r := New(7), rand.New(rand.NewPCG(7, 7))
	var got, want []time.Duration
	var timers []Timer
	var at []time.Duration
	for range 5000 {
		d := time.Duration(r.IntN(3000))
		timers = append(timers, k.After(d, 0, func() { got = append(got, k.Now()) }))
		at = append(at, d)
	}
	for i, timer := range timers {
		if r.IntN(10) < 8 {
			timer.Stop()
			continue
		}
		want = append(want, at[i])
	}
	if len(k.queue.heap) > 2*len(want)+staleMin {
		t.Errorf("heap has %d entries for %d events", len(k.queue.heap), len(want))
	}
	slices.Sort(want)
	run(t, k, forever)
	if !slices.Equal(got, want) {
		t.Error("the heap does not sort")
	}
}

func TestWakeCountsForOnePark(t *testing.T) {
	k := New(1)
	var got []any
	p := k.Spawn("p", func(p *Process) {
		got = append(got, p.Park(), p.Park())
	})
	k.After(1, 0, func() {
		k.Wake(p, 2, 0, "late")
		k.Wake(p, 1, 0, "early")
		k.Wake(p, 9, 0, "stopped").Stop()
	})
	k.After(5, 0, func() { k.Wake(p, 0, 0, "again") })
	run(t, k, 10)
	if want := []any{"early", "again"}; !slices.Equal(got, want) {
		t.Errorf("woken with %v, want %v", got, want)
	}
	if p.Alive() || len(k.processes) != 0 {
		t.Error("an ended process is still listed")
	}
}

func TestKill(t *testing.T) {
	var log []string
	k := New(1)
	victim := k.Spawn("victim", func(p *Process) {
		defer func() { log = append(log, "unwound") }()
		defer func() {
			p.Sleep(1, 0) // a dead process cannot wait any more
			log = append(log, "waited after death")
		}()
		p.Sleep(10, 0)
		log = append(log, "outlived")
	})
	k.Spawn("suicide", func(p *Process) { p.Kill(); log = append(log, "outlived itself") })
	k.Spawn("killer", func(p *Process) {
		p.Sleep(5, 0)
		victim.Kill()
		victim.Kill()
		p.Sleep(1, 0)
		log = append(log, "killer")
	})
	k.Spawn("unborn", func(*Process) { log = append(log, "born") }).Kill()
	run(t, k, 100)
	if got := strings.Join(log, ", "); got != "unwound, killer" {
		t.Errorf("got %q", got)
	}
	if len(k.processes) != 0 {
		t.Errorf("%d processes left", len(k.processes))
	}
}

// TestKillFromEveryPlace is of processes that execute the events while they are parked: one of them may be the one that an event kills.
func TestKillFromEveryPlace(t *testing.T) {
	for seed := range uint64(200) {
		k, r := New(seed), rand.New(rand.NewPCG(seed, 1))
		unwound, alive := 0, []*Process{}
		spawn := func() {
			alive = append(alive, k.Spawn("p", func(p *Process) {
				defer func() { unwound++ }()
				for range r.IntN(20) {
					p.Sleep(time.Duration(r.IntN(5)), 0)
					if r.IntN(6) == 0 {
						alive[r.IntN(len(alive))].Kill()
					}
					if p.Live(); k.Running() != p {
						t.Error("a process goes on that is not the running one")
					}
				}
			}))
		}
		for range 10 {
			spawn()
		}
		for range 30 {
			k.After(time.Duration(r.IntN(40)), 0, func() {
				victim := alive[r.IntN(len(alive))]
				if victim.Kill(); victim.Alive() || k.Running() != nil {
					t.Error("alive after its death, or a process runs while an event does")
				}
				spawn()
			})
		}
		for at := range time.Duration(10) {
			run(t, k, 5*at)
		}
		run(t, k, forever)
		if len(k.processes) != 0 || k.Running() != nil {
			t.Fatalf("seed %d: %d processes left", seed, len(k.processes))
		}
		if k.Close(); unwound > len(alive) {
			t.Fatalf("seed %d: %d of %d unwound", seed, unwound, len(alive))
		}
	}
}

// TestPanicBelowAProcess is of an event that a parked process executes: its panic is the run's, not the process's.
func TestPanicBelowAProcess(t *testing.T) {
	k, unwound := New(1), 0
	for range 3 {
		k.Spawn("p", func(p *Process) {
			defer func() { unwound++ }()
			for {
				p.Sleep(1, 0)
			}
		})
	}
	k.After(3, k.Label("kubelet"), func() { panic("out of luck") })
	if err := k.Run(10, nil); err == nil || !strings.Contains(err.Error(), `event "kubelet"`) || unwound != 0 || k.Now() != 3 {
		t.Errorf("%v at %v, %d unwound", err, k.Now(), unwound)
	}
	if k.Close(); unwound != 3 {
		t.Errorf("%d of 3 unwound", unwound)
	}
}

func TestPausedProcessGoesOnAfterResume(t *testing.T) {
	k := New(1)
	var woken []time.Duration
	p := k.Spawn("p", func(p *Process) {
		for range 3 {
			p.Sleep(10, 0)
			woken = append(woken, k.Now())
		}
	})
	k.After(15, 0, p.Pause)
	k.After(18, 0, p.Resume) // nothing was due
	k.After(25, 0, p.Pause)
	k.After(29, 0, func() { k.Wake(p, 6, 0, nil) }) // a second wake for the same park
	k.After(50, 0, p.Resume)
	run(t, k, 100)
	if want := []time.Duration{10, 20, 50}; !slices.Equal(woken, want) {
		t.Errorf("woken at %v, want %v", woken, want)
	}
}

func TestCloseKillsAll(t *testing.T) {
	k := New(1)
	ended := 0
	for range 5 {
		k.Spawn("p", func(p *Process) {
			defer func() { ended++ }()
			p.Park()
		})
	}
	run(t, k, 1)
	k.Close()
	if ended != 5 {
		t.Errorf("%d of 5 unwound", ended)
	}
}

func TestPanicIsTheRunsError(t *testing.T) {
	for name, arrange := range map[string]func(k *Kernel){
		"process dispatcher-1": func(k *Kernel) {
			k.Spawn("dispatcher-1", func(p *Process) { p.Sleep(3, 0); panic("out of luck") })
		},
		`event "kubelet"`: func(k *Kernel) { k.After(3, k.Label("kubelet"), func() { panic("out of luck") }) },
	} {
		k := New(1)
		arrange(k)
		k.After(4, 0, func() { t.Error("the run went on") })
		err := k.Run(10, nil)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "out of luck") ||
			!strings.Contains(err.Error(), "kernel_test.go") {
			t.Errorf("%s: got %v, want its name, the cause and the stack", name, err)
		}
		if again := k.Run(10, nil); again == nil {
			t.Errorf("%s: a broken simulation runs on", name)
		}
	}
}

func TestDoneEndsTheRun(t *testing.T) {
	k := New(1)
	k.Spawn("p", func(p *Process) {
		for {
			p.Sleep(time.Second, 0)
		}
	})
	run(t, k, time.Second)
	if err := k.Run(time.Hour, func() bool { return k.Now() >= time.Minute }); err != nil || k.Now() > 2*time.Minute {
		t.Errorf("stopped at %v with %v", k.Now(), err)
	}
}

// jumble is a simulation in which everything interacts.
func jumble(seed uint64, more int) *Kernel {
	k := New(seed)
	k.Record(true)
	yield, note := k.Label("yield"), k.Label("note")
	for i := range 10 {
		r := k.Stream(fmt.Sprint("process ", i))
		k.Spawn(fmt.Sprint("p", i), func(p *Process) {
			for n := range 200 + more {
				timer := k.After(time.Duration(r.IntN(50)), note, func() { k.Note(note, uint64(i), uint64(n)) })
				p.Sleep(time.Duration(r.IntN(20)), yield)
				timer.Stop()
			}
		})
	}
	return k
}

func TestSameSeedSameTrace(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var hashes []uint64
	var first []TraceRecord
	for _, procs := range []int{1, 1, 2} {
		runtime.GOMAXPROCS(procs)
		k := jumble(42, 0)
		run(t, k, forever)
		if first == nil {
			first = k.Records()
		}
		if d := FirstDifference(first, k.Records(), k.LabelName); d != "" {
			t.Errorf("GOMAXPROCS %d: %s", procs, d)
		}
		hashes = append(hashes, k.Hash())
	}
	if hashes[0] != hashes[1] || hashes[0] != hashes[2] {
		t.Errorf("hashes of one seed: %x", hashes)
	}
	other := jumble(43, 0)
	run(t, other, forever)
	if other.Hash() == hashes[0] {
		t.Error("two seeds have one hash")
	}
}

func TestFirstDifferenceShowsIt(t *testing.T) {
	a, b := jumble(42, 0), jumble(42, 1)
	run(t, a, forever)
	run(t, b, forever)
	if d := FirstDifference(a.Records(), b.Records(), a.LabelName); !strings.Contains(d, "yield") && !strings.Contains(d, "note") {
		t.Errorf("got %q", d)
	}
	if d := FirstDifference(a.Records()[:3], a.Records(), a.LabelName); !strings.Contains(d, "the first run ended") {
		t.Errorf("got %q", d)
	}
	if a.Hash() == b.Hash() {
		t.Error("runs that differ have one hash")
	}
}

func TestHashCoversEveryPartOfANote(t *testing.T) {
	seen := map[uint64]bool{}
	for _, note := range [][3]uint64{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}} {
		k := New(1)
		k.Note(Label(note[0]), note[1], note[2])
		seen[k.Hash()] = true
	}
	if len(seen) != 5 {
		t.Errorf("5 notes have %d hashes", len(seen))
	}
}

func TestStreamsAreIndependent(t *testing.T) {
	draw := func(seed uint64, disturb bool) uint64 {
		k := New(seed)
		if disturb {
			k.Stream("faults").Uint64()
			k.After(1, 0, func() {})
		}
		return k.Stream("latency").Uint64()
	}
	if draw(1, false) != draw(1, true) {
		t.Error("a draw from one stream shifted another")
	}
	if draw(1, false) == draw(2, false) {
		t.Error("two seeds draw the same")
	}
	k := New(1)
	if a, again := k.Stream("a"), k.Stream("a"); a != again || k.Stream("a").Uint64() == k.Stream("b").Uint64() {
		t.Error("a name must have one stream, and two names two")
	}
}

func run(t *testing.T, k *Kernel, until time.Duration) {
	t.Helper()
	if err := k.Run(until, nil); err != nil {
		t.Fatal(err)
	}
}
