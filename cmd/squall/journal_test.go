package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/scenarios"
)

// manySeeds runs squall run in the directory, and returns its status and what it said.
func manySeeds(t *testing.T, ctx context.Context, args ...string) (int, string) {
	t.Helper()
	var out, err bytes.Buffer
	c := &console{out: &out, err: &err, dir: ".squall"}
	cmd := newRunCommand(c)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	failed := cmd.ExecuteContext(ctx)
	said := out.String() + err.String()
	if failed != nil {
		said += failed.Error()
	}
	return statusOf(failed), said
}

// wall is what differs from run to run.
var wall = regexp.MustCompile(`"wall_seconds": [0-9.e-]+`)

// TestAResumedRunIsTheWholeRun: interrupted and resumed, or extended, many seeds come to what they come to in one go, bit for bit.
func TestAResumedRunIsTheWholeRun(t *testing.T) {
	t.Chdir(t.TempDir())
	whole := func(name string, seeds string, args ...string) string {
		t.Helper()
		code, said := manySeeds(t, context.Background(), append([]string{"swarm-standard", "--dispatcher", "naive", "--seeds", seeds, "-o", "json=" + name}, args...)...)
		if code != exitInvalid {
			t.Fatalf("status %d\n%s", code, said)
		}
		return wall.ReplaceAllString(string(must(os.ReadFile(name))), "")
	}
	want := whole("a.json", "7")
	whole("b.json", "3", "--resume", "state.json")
	if got := whole("c.json", "7", "--resume", "state.json", "--bundles", "3"); got != want {
		t.Errorf("resumed after 3 of 7 seeds:\n%s\nin one go:\n%s", got, want)
	}
	if got := whole("d.json", "7", "--resume", "state.json"); got != want {
		t.Errorf("with nothing left to run:\n%s\nin one go:\n%s", got, want)
	}
	noScraps(t, ".")
}

// TestAnInterruptedRunKeepsWhatIsOver: what the journal has after an interruption is enough to go on from, and nothing counts twice.
func TestAnInterruptedRunKeepsWhatIsOver(t *testing.T) {
	t.Chdir(t.TempDir())
	j := jobFor(t, "swarm-standard", "naive", 12)
	j.world = must(findWorld("sim"))
	c := &console{out: &bytes.Buffer{}, err: &bytes.Buffer{}, dir: ".squall", quiet: true}
	tally := func(w *journal, stopAt int) scenarios.Tally {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		seeds := watch{progress: c.begin("seeds", 12)}
		m := scenarios.Many{Options: j.options(), From: 1, Count: 12, Workers: 2}
		m.Each = func(r scenarios.Result) {
			seeds.see(r)
			if int(r.Seed) == stopAt {
				stop()
			}
		}
		if err := w.resume(&m, j, &seeds, seeds.progress); err != nil {
			t.Fatal(err)
		}
		sum := scenarios.Seeds(ctx, j.scenario, m)
		if err := w.save(); err != nil {
			t.Fatal(err)
		}
		return sum
	}
	want := scenarios.Seeds(context.Background(), j.scenario, scenarios.Many{Options: j.options(), From: 1, Count: 12})
	first := tally(must(openJournal("state.json", []job{j})), 4)
	if !first.Interrupted {
		t.Fatal("it was not interrupted")
	}
	state := must(openJournal("state.json", []job{j}))
	if done := state.file.Runs[0].Tally.Seeds; done < 4 || done > 6 {
		t.Errorf("%d seeds are kept of those until 4", done)
	}
	got := tally(state, 0)
	if got.TraceHash != want.TraceHash || got.Seeds != want.Seeds || len(got.Invalid) != len(want.Invalid) || got.Valid != want.Valid {
		t.Errorf("resumed: %d seeds, %d valid, %d invalid, trace %x; in one go: %d, %d, %d, %x", got.Seeds, got.Valid, len(got.Invalid), got.TraceHash,
			want.Seeds, want.Valid, len(want.Invalid), want.TraceHash)
	}
}

// TestFailingSeedsAreKept: as many bundles as were asked for, and no more than there is room.
func TestFailingSeedsAreKept(t *testing.T) {
	t.Chdir(t.TempDir())
	bundles := func() int { return len(must(filepath.Glob(".squall/runs/*/manifest.json"))) }
	code, said := manySeeds(t, context.Background(), "demo", "--dispatcher", "naive", "--seeds", "6", "--bundles", "3")
	if code != exitInvalid || bundles() != 3 || !strings.Contains(said, "bundles of 2 more of 6 failing seeds are in .squall/runs") {
		t.Errorf("status %d, %d bundles\n%s", code, bundles(), said)
	}
	j := jobFor(t, "demo", "naive", 6)
	j.world = must(findWorld("sim"))
	var notes bytes.Buffer
	c := &console{out: &bytes.Buffer{}, err: &notes, dir: "small"}
	performance{console: c, progress: (&console{quiet: true}).begin("seeds", 6), workers: 1, bundles: 6, room: 1}.perform(context.Background(), j)
	if kept := len(must(filepath.Glob("small/runs/*/manifest.json"))); kept != 2 || !strings.Contains(notes.String(), "no more are kept") {
		t.Errorf("with room for 1 byte %d bundles are kept, not the first failing one and the one that filled the room\n%s", kept, notes.String())
	}
}

func TestBadJournals(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, said := manySeeds(t, context.Background(), "demo", "--seeds", "3", "--resume", "state.json"); code != exitValid {
		t.Fatalf("status %d\n%s", code, said)
	}
	good := string(must(os.ReadFile("state.json")))
	for name, c := range map[string]struct {
		text string
		args []string
		says string
	}{
		"not JSON":        {"half", nil, "not the state of a run"},
		"another format":  {`{"squall_journal": 9, "runs": []}`, nil, "written in format 9"},
		"other settings":  {good, []string{"--set", "claim_batch=3"}, "another text, other settings or another scale"},
		"another start":   {good, []string{"--from", "2"}, "it begins with seed 1 of demo"},
		"fewer seeds":     {good, []string{"--seeds", "2"}, "3 seeds of demo are over already"},
		"another program": {regexp.MustCompile(`"first":\{"seen":true,"seed":1,"trace_hash":"\d+"`).ReplaceAllString(good, `"first":{"seen":true,"seed":1,"trace_hash":"7"`), nil, "it is another program"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile("state.json", []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			code, said := manySeeds(t, context.Background(), append([]string{"demo", "--seeds", "5", "--resume", "state.json"}, c.args...)...)
			if code != exitUsage || !strings.Contains(said, c.says) {
				t.Errorf("status %d: %s", code, said)
			}
			if got := string(must(os.ReadFile("state.json"))); got != c.text {
				t.Error("the file was changed")
			}
		})
	}
}
