package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// livelike is a world as a real cluster is one: its history lies apart until it is gathered, no seed makes it again, and it cannot do
// everything. What happens in it is a simulation, so that no test takes minutes.
type livelike struct {
	*sim.Cluster
	lost      error // what goes wrong when the history is gathered
	collected bool
}

func (w *livelike) Collect(ctx context.Context) error {
	w.collected = true
	if ctx.Err() != nil {
		return fmt.Errorf("asked with a context that has ended: %w", ctx.Err())
	}
	return w.lost
}

func (w *livelike) History() *history.History {
	h := w.Cluster.History()
	h.Meta.World, h.Meta.TraceHash = "test-live", 0
	return h
}

// liveWorld counts what is begun and ended.
type liveWorld struct {
	begun, ended int
	runs         atomic.Uint64
	lost         error
	options      worldOptions
	opened       func() // for each run; may be nil
}

func (l *liveWorld) begin(_ context.Context, o worldOptions) (*session, error) {
	l.begun++
	l.options = o
	fmt.Fprintln(o.progress, "making nodes")
	return &session{lanes: 2, about: "a cluster of paper", close: func(context.Context) error { l.ended++; return nil },
		open: func(_ context.Context, c clusters.Config) (clusters.Cluster, error) {
			c.Seed += 1000 * l.runs.Add(1) // never the same twice
			if l.opened != nil {
				l.opened()
			}
			w, err := sim.New(c)
			return &livelike{Cluster: w, lost: l.lost}, err
		}}, nil
}

// withLiveWorld registers it for one test.
func withLiveWorld(t *testing.T) *liveWorld {
	t.Helper()
	before, suiteBefore := slices.Clone(worldEntries), liveSuite
	t.Cleanup(func() { worldEntries, liveSuite = before, suiteBefore })
	t.Chdir(t.TempDir())
	l := &liveWorld{}
	registerWorld(worldEntry{name: "test-live", summary: "for tests", live: true, begin: l.begin, check: noFindings,
		scale: scenarios.Scale{Factor: kindFactor, Limits: kindLimits}, factors: kindFactors, alone: []faults.Kind{faults.NodeKill, faults.NodePartition},
		ability: scenarios.Ability{Cannot: kindCannot, Machines: kindLimits.Machines,
			Faults: faults.Capabilities{faults.Nodes, faults.Pods, faults.Processes, faults.Calls, faults.Platform}}})
	return l
}

// says runs a command line and wants its status and texts.
func says(t *testing.T, code int, args string, wanted ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	if got := execute(strings.Fields(args), &out, &err); got != code {
		t.Errorf("squall %s: status %d, expected %d\n%s%s", args, got, code, out.String(), err.String())
	}
	all := out.String() + err.String()
	for _, want := range wanted {
		if !strings.Contains(all, want) {
			t.Errorf("squall %s: %q is missing from\n%s", args, want, all)
		}
	}
	return all
}

func TestARunInRealTime(t *testing.T) {
	l := withLiveWorld(t)
	says(t, exitValid, "run lost-create-reply --world test-live --keep", "making nodes", "a cluster of paper", "struck: the 3rd create",
		"observed: ", "gathering the records", "scaled by 12, within what kind can keep",
		"judge again: squall check .squall/runs/", "in sim: squall run --world sim --faults-from .squall/runs/")
	if l.begun != 1 || l.ended != 1 || !l.options.keep || l.options.planted {
		t.Errorf("begun %d, ended %d, options %+v", l.begun, l.ended, l.options)
	}
	page := string(must(os.ReadFile(".squall/latest/report.html")))
	for _, want := range []string{"Judge again", "no seed makes this run again", "Run time", "Times divided by", "To fit the world: cache_lag is what it is in kind; group late has 6 tasks instead of 12; group od has 2 nodes of 30 pods"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	says(t, exitValid, "check latest", "judge again: squall check")
	says(t, exitValid, "show latest -o json", `"live": true`, `"scale": 12`)
	says(t, exitUsage, "replay latest", "no seed makes the same run again", "squall check .squall/runs/", "squall run --world sim --faults-from .squall/runs/")
	noScraps(t, ".")
}

// TestRunsGoSideBySide, unless one of them befalls the whole cluster.
func TestRunsGoSideBySide(t *testing.T) {
	l := withLiveWorld(t)
	var underWay, most atomic.Int64
	l.opened = func() {
		n := underWay.Add(1)
		defer underWay.Add(-1)
		for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until) && underWay.Load() < 2; time.Sleep(time.Millisecond) {
		}
		most.Store(max(most.Load(), n, underWay.Load()))
		time.Sleep(5 * time.Millisecond) // the other looks, too
	}
	for _, x := range []struct {
		names string
		want  int64
	}{{"lost-create-reply paused-in-mid-batch", 2}, {"lost-create-reply node-kill-and-return", 1}} {
		most.Store(0)
		says(t, exitValid, "run "+x.names+" --world test-live", strings.Fields(x.names)...)
		if got := most.Load(); got != x.want {
			t.Errorf("%s: %d at the same time, want %d", x.names, got, x.want)
		}
	}
}

// TestRecordedFaults: what struck in a real world strikes at the same moments in the simulation, and that can be replayed.
func TestRecordedFaults(t *testing.T) {
	withLiveWorld(t)
	says(t, exitValid, "run paused-in-mid-batch --world test-live")
	recorded := must(filepath.EvalSymlinks(".squall/latest"))
	struck := func(bundle string) (all []string) {
		h := must(readHistory(filepath.Join(bundle, "history.jsonl")))
		for _, e := range h.Events {
			if e.Kind == history.FaultStruck {
				all = append(all, fmt.Sprint(e.At, e.Detail))
			}
		}
		return all
	}
	says(t, exitValid, "run --world sim --faults-from "+recorded, "world sim", "scaled by 12")
	if a, b := struck(recorded), struck(".squall/latest"); len(a) == 0 || !slices.Equal(a, b) {
		t.Errorf("struck %q there and %q here", a, b)
	}
	says(t, exitValid, "replay latest", "the same as before: trace hash")
	says(t, exitUsage, "run demo --faults-from "+recorded, "brings its scenario along")
	says(t, exitUsage, "run --scale 3 --faults-from "+recorded, "leave --scale out")
	says(t, exitUsage, "run --faults-from nowhere", "there is no bundle nowhere")
}

// TestRecordsThatCannotBeGathered are a failure of the harness, and what there is of them is kept.
func TestRecordsThatCannotBeGathered(t *testing.T) {
	l := withLiveWorld(t)
	l.lost = errors.New("the witnesses disagree about task-2")
	says(t, exitHarness, "run lost-create-reply --world test-live", "gather the history: the witnesses disagree about task-2")
	if h := must(readHistory(".squall/latest/history.jsonl")); len(h.Operations) == 0 {
		t.Error("nothing was kept of what was recorded")
	}
	if l.ended != 1 {
		t.Errorf("the world was ended %d times", l.ended)
	}
}

func TestManyRunsInRealTime(t *testing.T) {
	l := withLiveWorld(t)
	says(t, exitInvalid, "run lost-create-reply --world test-live --seeds 3 --dispatcher random-names", "3 invalid", "I1-overlap")
	if !l.options.planted {
		t.Error("the world does not learn that a planted dispatcher is to run")
	}
	if kept := must(filepath.Glob(".squall/runs/*/manifest.json")); len(kept) != 3 {
		t.Errorf("%d bundles of 3 runs, which nobody can make again", len(kept))
	}
}

func TestTheSuiteOfARealWorld(t *testing.T) {
	l := withLiveWorld(t)
	liveSuite = []entry{{scenario: "lost-create-reply", defects: []string{"random-names"}}, {scenario: "partition-containers-live-on"}, {scenario: "clocks-disagree"}}
	all := says(t, exitValid, "chaos --world test-live -o markdown=s.md -o html=s.html -o json=s.json",
		"in kind, reference as expected in 2 of 2 scenarios", "in kind, planted defects confirmed: 1 of 1 defects",
		"sim and kind, scaled the same", "found: I1-overlap", "clocks-disagree: cannot do clock-skew: the clock is the kernel's",
		"stale-reads: cannot do stale-cache")
	if l.begun != 1 || l.ended != 1 {
		t.Errorf("begun %d and ended %d times", l.begun, l.ended)
	}
	if !strings.Contains(all, "running") || strings.Contains(all, "squall replay") {
		t.Errorf("not of a real world:\n%s", all)
	}
	for _, name := range []string{"s.md", "s.html"} {
		if text := string(must(os.ReadFile(name))); !strings.Contains(text, "sim and kind") || !strings.Contains(text, "clock-skew") {
			t.Errorf("%s lacks the comparison or what was not run", name)
		}
	}
}

func TestAWorldThatCannotBeGotReady(t *testing.T) {
	withLiveWorld(t)
	for i := range worldEntries {
		if worldEntries[i].name == "test-live" {
			worldEntries[i].begin = func(context.Context, worldOptions) (*session, error) { return nil, usage("no Docker; make engine") }
			worldEntries[i].ready = func(context.Context) error { return errors.New("no Docker answers") }
		}
	}
	says(t, exitUsage, "run demo --world test-live", "no Docker; make engine")
	if all := says(t, exitValid, "chaos --dry-run"); !strings.Contains(all, "not run: world test-live: no Docker answers") ||
		!strings.Contains(all, "not run: world kind, which is not in this build; run it with: make chaos CLUSTER=kind") {
		t.Errorf("what is not run is not named:\n%s", all)
	}
}

// TestTheSuiteInKind: every scenario of it fits, and the reference is as expected in the simulation of just that.
func TestTheSuiteInKind(t *testing.T) {
	world := must(knownWorld("kind"))
	f := &chaosFlags{}
	trials, left, err := f.liveTrials(world)
	if err != nil {
		t.Fatal(err)
	}
	byFamily := map[faults.Family]int{}
	all := 0
	for _, x := range trials {
		switch f := x.job.scenario.Family; {
		case x.part != partLive:
			all--
		case f == faults.NodeFamily, f == faults.DeadlineFamily, f == faults.ResponseFamily, f == faults.LeaderFamily:
			byFamily[f]++
		}
		all++
		t.Run(x.job.scenario.Name+"/"+x.job.system.Name, func(t *testing.T) {
			m := scenarios.Many{Options: x.job.options(), From: 1, Count: 5, Workers: 2, Forget: true}
			m.World = openSim
			tally := scenarios.Seeds(context.Background(), x.job.scenario, m)
			if x.quarry == nil && len(tally.Unmet)+len(tally.Failed) > 0 {
				t.Errorf("%v %v", tally.Unmet, tally.Failed)
			}
			if x.quarry != nil && len(x.quarry.missing(tally.Violations)) > 0 {
				t.Errorf("%s is not found: %v", x.job.system.Name, tally.Violations)
			}
		})
	}
	for _, f := range []faults.Family{faults.NodeFamily, faults.DeadlineFamily, faults.ResponseFamily, faults.LeaderFamily} {
		if byFamily[f] < 3 {
			t.Errorf("%d scenarios of the family %s, expected 3", byFamily[f], f)
		}
	}
	if all < 12+6 {
		t.Errorf("%d scenarios, expected those of the four families and six more", all)
	}
	for _, n := range left {
		if n.reason == "" {
			t.Errorf("%s is left out without a reason", n.scenario)
		}
	}
}

// TestAFlakyScenario is run as often as every other, and what is told is in how many of its runs it was as expected, with the bundles of
// the others: nothing is tried again in silence.
func TestAFlakyScenario(t *testing.T) {
	l := withLiveWorld(t)
	c := &console{quiet: true, dir: ".squall"}
	session := must(l.begin(t.Context(), worldOptions{progress: &bytes.Buffer{}}))
	try := func(endedBy string) outcome {
		text := strings.ReplaceAll(moodyScenario, "ENDED", endedBy)
		j := job{scenario: must(scenarios.Parse("moody.yaml", []byte(text))), text: []byte(text), system: planted.Reference(), world: must(knownWorld("test-live")), from: 1, count: 1}
		j.world.open = session.open
		p := performance{console: c, progress: c.begin("seeds", 1), workers: 1, keepAll: true}
		x := trial{part: partLive, job: j}
		o := x.try(t.Context(), p)
		if x.asMeant(o) != (len(o.unmet()) == 0) {
			t.Errorf("as meant: %v, unmet %q", x.asMeant(o), o.unmet())
		}
		return o
	}
	if o := try("10m"); o.tally.Seeds != 1 || len(o.moods)+len(o.unmet()) != 0 {
		t.Errorf("good at once: %d runs, %v, unmet %q", o.tally.Seeds, o.moods, o.unmet())
	}
	o := try("380s") // the first tick is after 300 s
	if o.tally.Seeds != liveTries || len(o.moods) == 0 || len(o.moods) == liveTries || len(o.unmet()) != 0 {
		t.Fatalf("flaky: %d runs, %v, unmet %q", o.tally.Seeds, o.moods, o.unmet())
	}
	for _, m := range o.moods {
		if !reports.IsBundle(m.Bundle) || !strings.Contains(m.String(), "task-1") || m.Bundle == o.bundle {
			t.Errorf("mood %s, shown %s", m, o.bundle)
		}
	}
	if o = try("1s"); len(o.moods) != liveTries || !slices.Equal(o.unmet(), []string{"as expected in 0 of 3 runs"}) {
		t.Errorf("never good: %d runs, %v, unmet %q", o.tally.Seeds, o.moods, o.unmet())
	}
}

const moodyScenario = `apiVersion: squall/v1alpha1
kind: Scenario
name: moody
summary: Work that takes now a while, now longer.
nodes:
  - {name: od, capacity_type: on-demand, count: 1, pods: 4}
tasks:
  - {name: task-1, arrive: {at: 1s}, run: {uniform: [10s, 110s]}}
horizon: 3m
expect:
  reference:
    verdict: valid
    tasks: [{task: task-1, phase: succeeded, ended_by: ENDED}]
`
