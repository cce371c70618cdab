package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// withTestWorlds registers, for one test, worlds in which the harness itself goes wrong.
func withTestWorlds(t *testing.T) {
	t.Helper()
	before := slices.Clone(worldEntries)
	t.Cleanup(func() { worldEntries = before })
	t.Chdir(t.TempDir())
	all := faults.Capabilities{faults.Nodes, faults.Pods, faults.Processes, faults.Calls, faults.Platform}
	registerWorld(worldEntry{name: "test-silent", summary: "for tests", open: silent, check: noFindings})
	for name, open := range map[string]scenarios.World{
		"test-absent": func(_ context.Context, _ clusters.Config) (clusters.Cluster, error) {
			return nil, errors.New("no machine answers")
		},
		"test-panics":  func(_ context.Context, _ clusters.Config) (clusters.Cluster, error) { panic("a broken invariant") },
		"test-strange": strange(),
	} {
		registerWorld(worldEntry{name: name, summary: "for tests", open: open, ability: scenarios.Ability{Faults: all}, check: noFindings})
	}
}

func noFindings(context.Context, worldOptions) []finding { return nil }

// strange does something else every time it is asked for the same seed.
func strange() scenarios.World {
	var times atomic.Uint64
	return func(ctx context.Context, c clusters.Config) (clusters.Cluster, error) {
		c.Seed += times.Add(1)
		return openSim(ctx, c)
	}
}

// silent records nothing.
func silent(ctx context.Context, c clusters.Config) (clusters.Cluster, error) {
	cluster, err := openSim(ctx, c)
	return mute{cluster}, err
}

type mute struct{ clusters.Cluster }

func (m mute) History() *history.History {
	h := *m.Cluster.History()
	return &history.History{Meta: h.Meta, Processes: h.Processes}
}

// TestFailuresOfTheHarness: they are told apart from verdicts, and say what to report.
func TestFailuresOfTheHarness(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"run", "demo", "--world", "test-absent"}, exitHarness, []string{"no machine answers", "failure of Squall", "report it"}},
		{[]string{"run", "demo", "--world", "test-absent", "--seeds", "3"}, exitHarness, []string{"no machine answers", "failure of Squall"}},
		{[]string{"run", "demo", "--world", "test-panics"}, exitHarness, []string{"a broken invariant", "harness_test.go", "failure of Squall"}},
		{[]string{"run", "demo", "--world", "test-strange", "--seeds", "3"}, exitHarness, []string{"determinism is lost", "trace hash", "failure of Squall"}},
		{[]string{"run", "demo", "--world", "test-strange", "--seeds", "3", "--dispatcher", "naive"}, exitHarness, []string{"first difference", "before: [", "now:    ["}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			withTestWorlds(t)
			var out, err bytes.Buffer
			if code := execute(c.args, &out, &err); code != c.code {
				t.Errorf("status %d, expected %d\n%s%s", code, c.code, out.String(), err.String())
			}
			for _, want := range c.says {
				if !strings.Contains(err.String(), want) {
					t.Errorf("%q is missing from\n%s", want, err.String())
				}
			}
			noScraps(t, ".")
		})
	}
}

// TestUnknownIsNoPass: where nothing was put to the test the status is not 0.
func TestUnknownIsNoPass(t *testing.T) {
	withTestWorlds(t)
	var out, err bytes.Buffer
	if code := execute([]string{"run", "demo-control", "--world", "test-silent"}, &out, &err); code != exitUnknown {
		t.Errorf("status %d, expected %d\n%s%s", code, exitUnknown, out.String(), err.String())
	}
}

// TestWorldsDoWhatTheySay: what a world is registered with is what it can do, and a scenario that needs more is refused.
func TestWorldsDoWhatTheySay(t *testing.T) {
	withTestWorlds(t)
	j := job{scenario: must(scenarios.Find("demo")), system: planted.Reference()}
	world := must(findWorld("sim"))
	cluster := must(world.open(context.Background(), must(j.scenario.Config(j.system, 1))))
	defer cluster.Close()
	if can := faults.CapabilitiesOf(cluster); !slices.Equal(can, world.ability.Faults) {
		t.Errorf("it can do %v, and is registered with %v", can, world.ability.Faults)
	}
	var out, err bytes.Buffer
	if code := execute([]string{"run", "demo", "--world", "test-silent"}, &out, &err); code != exitUsage {
		t.Errorf("status %d, expected %d", code, exitUsage)
	}
	if !strings.Contains(err.String(), "library:demo.yaml:19:20: SQ305 world test-silent cannot do call cut-reply of create: it has no faults of calls") {
		t.Errorf("not explained: %s", err.String())
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestReplayNoticesAnotherTrace: a bundle whose world does something else now.
func TestReplayNoticesAnotherTrace(t *testing.T) {
	withTestWorlds(t)
	var out, err bytes.Buffer
	execute([]string{"run", "demo", "--world", "test-strange", "--seed", "1"}, &out, &err)
	if code := execute([]string{"replay", "latest"}, &out, &err); code != exitHarness {
		t.Errorf("status %d, expected %d\n%s", code, exitHarness, err.String())
	}
	if !strings.Contains(err.String(), "first difference, at record ") {
		t.Errorf("the first difference is missing from\n%s", err.String())
	}
}

// TestReplayOfAnotherVersion: a bundle says which version recorded it; that the trace differs is then no failure of Squall.
func TestReplayOfAnotherVersion(t *testing.T) {
	for world, c := range map[string]struct {
		code int
		says string
	}{
		"sim":          {exitValid, "was recorded by squall v0.1.2, and this is squall "},
		"test-strange": {exitUsage, "was recorded by squall v0.1.2, and this is squall "},
	} {
		t.Run(world, func(t *testing.T) {
			withTestWorlds(t)
			var out, err bytes.Buffer
			execute([]string{"run", "demo", "--world", world, "--seed", "1"}, &out, &err)
			path := filepath.Join(".squall", "latest", "manifest.json")
			text := must(os.ReadFile(path))
			changed := bytes.Replace(text, []byte(`"squall": "`+thisBuild().recorded()+`"`), []byte(`"squall": "v0.1.2"`), 1)
			if bytes.Equal(text, changed) {
				t.Fatalf("no version in %s", text)
			}
			if failed := os.WriteFile(path, changed, 0o644); failed != nil {
				t.Fatal(failed)
			}
			err.Reset()
			if code := execute([]string{"replay", "latest"}, &out, &err); code != c.code {
				t.Errorf("status %d, expected %d\n%s", code, c.code, err.String())
			}
			if !strings.Contains(err.String(), c.says) || strings.Contains(err.String(), "determinism is lost") {
				t.Errorf("it says\n%s", err.String())
			}
		})
	}
}

// TestJSON: the shape that programs rely on, no more and no less.
func TestJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, err bytes.Buffer
	execute([]string{"run", "demo", "--dispatcher", "naive", "--seeds", "2", "-o", "json"}, &out, &err)
	var file struct{ Results []map[string]any }
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for key := range file.Results[0] {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	want := []string{"as_expected", "dispatcher", "exercised", "first_invalid_seed", "interrupted", "invalid_seeds", "scenario", "seeds", "trace_hash",
		"unknown_seeds", "unmet", "verdict", "violations", "virtual_seconds", "wall_seconds", "world"}
	if !slices.Equal(keys, want) {
		t.Errorf("fields %v, expected %v", keys, want)
	}
}

// TestBundleOnAnotherMachine: a bundle is all that a replay needs.
func TestBundleOnAnotherMachine(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	t.Chdir(here)
	var out, err bytes.Buffer
	execute([]string{"run", "swarm-standard", "--seed", "7", "--set", "recover_interval=45s"}, &out, &err)
	latest, failed := filepath.EvalSymlinks(".squall/latest")
	if failed != nil {
		t.Fatalf("%v\n%s%s", failed, out.String(), err.String())
	}
	if err := os.CopyFS(filepath.Join(there, "bundle"), os.DirFS(latest)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(".squall"); err != nil {
		t.Fatal(err)
	}
	t.Chdir(there)
	out.Reset()
	execute([]string{"replay", "bundle"}, &out, &err)
	if !strings.Contains(out.String(), "the same as before: trace hash ") {
		t.Errorf("it is not the same\n%s%s", out.String(), err.String())
	}
}
