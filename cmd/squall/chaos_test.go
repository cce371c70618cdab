package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// suiteOf is a suite of a few trials, in the order of the real one.
func suiteOf(t *testing.T, trials ...trial) []trial {
	t.Helper()
	for i := range trials {
		trials[i].job.world = must(findWorld("sim"))
	}
	return trials
}

func jobFor(t *testing.T, scenario, dispatcher string, seeds int) job {
	t.Helper()
	text, _ := scenarios.LibraryFile(scenario)
	system, ok := planted.Lookup(dispatcher)
	if !ok {
		t.Fatalf("no dispatcher %s", dispatcher)
	}
	return job{scenario: must(scenarios.Find(scenario)), text: text, system: system, from: 1, count: seeds}
}

func defectOf(t *testing.T, name string) *planted.Defect {
	t.Helper()
	for _, d := range planted.Defects() {
		if d.System.Name == name {
			return &d
		}
	}
	t.Fatalf("no defect %s", name)
	return nil
}

// asItsOwnControl is a defect whose control has it, too.
func asItsOwnControl(t *testing.T, name string) *planted.Defect {
	t.Helper()
	d := defectOf(t, name)
	d.Bare = &d.System
	return d
}

// byPriorities is the trial as --strategy pct runs it.
func byPriorities(x trial) trial {
	x.reorder(clusters.Order{Strategy: clusters.PCT, Window: 250 * time.Millisecond, Depth: 3})
	return x
}

// TestSuite: the status is 0 only when the reference passed and every defect was found, and everything is said.
func TestSuite(t *testing.T) {
	overlap := &quarry{names: []string{"I1-overlap"}}
	for _, c := range []struct {
		name  string
		trial trial
		code  int
		row   string
	}{
		{"reference passes", trial{part: partReference, job: jobFor(t, "demo", "reference", 1)}, exitValid,
			`(?m)^✓ reference  demo +reference +1 +\d+\.\d\ds  valid$`},
		{"naive is seen to fail", trial{part: partNaive, job: jobFor(t, "demo", "naive", 1)}, exitValid,
			`(?m)^✓ naive +demo +naive +1 .* invalid: I1-overlap`},
		{"naive in another order is watched for longer", byPriorities(trial{part: partNaive, job: jobFor(t, "api-server-away", "naive", 1)}), exitValid,
			`(?m)^✓ naive +api-server-away +naive +[2-9] .* invalid: L2-leadership`},
		{"defect is found", trial{part: partDefect, job: jobFor(t, "lost-create-reply", "random-names", 3), quarry: overlap}, exitValid,
			`(?m)^✓ defect +lost-create-reply +random-names +1 .* found: I1-overlap under seed 1$`},
		{"defect is not found", trial{part: partDefect, job: jobFor(t, "demo-control", "random-names", 3), quarry: overlap}, exitInvalid,
			`(?m)^✗ defect +demo-control +random-names +3 .* not found\n    I1-overlap must be seen within 3 seeds$`},
		{"another defect is found", trial{part: partDefect, job: jobFor(t, "lost-create-reply", "random-names", 3), quarry: &quarry{names: []string{"I4-cancel"}}}, exitInvalid,
			`(?m)^✗ defect .* not found\n    I4-cancel must be seen within 3 seeds$`},
		{"a second witness", trial{part: partWitness, job: jobFor(t, "demo", "random-names", 3), quarry: overlap, defect: defectOf(t, "random-names")}, exitValid,
			`(?m)^✓ witness +demo +random-names +1 .* found: I1-overlap under seed 1$`},
		{"a defect that no oracle sees", trial{part: partDefect, job: jobFor(t, "demo-control", "random-names", 3), quarry: overlap, defect: defectOf(t, "random-names")}, exitInvalid,
			`(?m)^✗ kill rate: 0 of 1 planted defect found \(0 %\)\n  not found: random-names$`},
		{"the kill rate", trial{part: partDefect, job: jobFor(t, "lost-create-reply", "random-names", 3), quarry: overlap, defect: defectOf(t, "random-names")}, exitValid,
			`(?m)^✓ kill rate: 1 of 1 planted defect found \(100 %\); seeds to detection: median 1, worst 1 \(random-names\)\n  caught by: I1-overlap 1`},
		{"a control that fails", trial{part: partDefect, job: jobFor(t, "lost-create-reply", "random-names", 3), quarry: overlap, defect: asItsOwnControl(t, "random-names")}, exitInvalid,
			`(?m)^✗ defect .* found under seed 1, and its control is no better\n    the control of random-names is not valid under seed 1`},
		{"swarm", trial{part: partSwarm, job: jobFor(t, "swarm-standard", "reference", 4)}, exitValid,
			`(?m)^✓ swarm +swarm-standard +reference +4 .* valid: none of 4, so at most 52.8 % of all seeds fail \(95 % confidence\)$`},
		{"variants", variantsOf(t, "killed-early", "expiry-before-redelivery"), exitValid,
			`(?m)^✓ variants +killed-early +expiry-before-redelivery +6 .* invalid: I3-loss$`},
		{"variants that do not come out so", variantsOf(t, "killed-early", "reference", func(s *scenarios.Scenario) { s.Expect.Reference.Tasks[1].EndedBy = time.Minute }), exitInvalid,
			`(?m)^✗ variants +killed-early +reference +6 .* valid\n    variant 1 \(faults\[0\]\.at 18s, tasks\[0\]\.count 2\): seed 1: task-1 stopped at `},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var out, err bytes.Buffer
			f := &chaosFlags{}
			failed := f.tryAndTell(context.Background(), &console{out: &out, err: &err, dir: ".squall"}, suite{trials: suiteOf(t, c.trial)}, must(parseOutputs(nil)))
			if code := statusOf(failed); code != c.code {
				t.Errorf("status %d, expected %d", code, c.code)
			}
			for _, want := range []string{c.row, `(?m)^report: \.squall/suites/.*/report\.html$`, `(?m)^took `} {
				if !regexp.MustCompile(want).MatchString(out.String()) {
					t.Errorf("no match for %q in\n%s", want, out.String())
				}
			}
			results := must(filepath.Glob(".squall/suites/*/results.json"))
			if len(results) != 1 {
				t.Errorf("results: %v", results)
			}
			if summaries := must(filepath.Glob(".squall/suites/*/summary.md")); len(summaries) != 1 {
				t.Errorf("summaries for CI: %v", summaries)
			}
			noScraps(t, ".")
		})
	}
}

// TestABaselineExcusesWhatItKnows: what it lists is told and does not count, whatever is new or worse does, and to write it makes it so.
func TestABaselineExcusesWhatItKnows(t *testing.T) {
	t.Chdir(t.TempDir())
	reference := trial{part: partReference, job: jobFor(t, "demo", "naive", 1)} // naive in its place: not as expected of a reference
	reference.job.scenario = withExpectation(reference.job.scenario, "naive", "valid")
	try := func(f *chaosFlags, trials ...trial) (int, string) {
		t.Helper()
		if err := f.readBaseline(); err != nil {
			t.Fatal(err)
		}
		var out, notes bytes.Buffer
		err := f.tryAndTell(context.Background(), &console{out: &out, err: &notes, dir: ".squall"}, suite{trials: suiteOf(t, trials...)}, must(parseOutputs(nil)))
		return statusOf(err), out.String() + notes.String()
	}
	expect := func(code int, said string, wanted int, words ...string) {
		t.Helper()
		if code != wanted {
			t.Errorf("status %d, expected %d", code, wanted)
		}
		for _, w := range words {
			if !strings.Contains(said, w) {
				t.Errorf("%q is not said in\n%s", w, said)
			}
		}
	}
	code, said := try(&chaosFlags{writeBaseline: "known.yaml"}, reference)
	expect(code, said, exitValid, "against the baseline known.yaml: 1 new, 0 known, 0 fixed", "known.yaml knows 1 failure")
	code, said = try(&chaosFlags{baseline: "known.yaml"}, reference)
	expect(code, said, exitValid, "0 new, 1 known, 0 fixed", "≈ known")
	second := trial{part: partDefect, job: jobFor(t, "demo-control", "random-names", 1), quarry: &quarry{names: []string{"I4-cancel"}}}
	code, said = try(&chaosFlags{baseline: "known.yaml"}, reference, second)
	expect(code, said, exitInvalid, "1 new, 1 known, 0 fixed", "✗ new       demo-control against random-names in sim (defect): valid")
	mended := trial{part: partReference, job: jobFor(t, "demo", "naive", 1)}
	code, said = try(&chaosFlags{baseline: "known.yaml"}, mended)
	expect(code, said, exitValid, "0 new, 0 known, 1 fixed", "✓ fixed", "take out what is fixed: squall chaos --write-baseline known.yaml")
	code, said = try(&chaosFlags{writeBaseline: "known.yaml"}, mended)
	expect(code, said, exitValid, "known.yaml knows 0 failures")
	pages := must(filepath.Glob(".squall/suites/*/report.html"))
	if page := string(must(os.ReadFile(pages[len(pages)-1]))); !strings.Contains(page, "Against the baseline") {
		t.Error("the suite's page does not tell of the baseline")
	}
	noScraps(t, ".")
}

// withExpectation is the scenario with another verdict expected of a dispatcher.
func withExpectation(s *scenarios.Scenario, dispatcher, verdict string) *scenarios.Scenario {
	changed := *s
	e := *s.Expect.Of(dispatcher)
	e.Verdict, e.Violates = verdict, nil
	changed.Expect.Naive = &e
	return &changed
}

// variantsOf is a trial over variants, changed each.
func variantsOf(t *testing.T, scenario, dispatcher string, changes ...func(*scenarios.Scenario)) trial {
	t.Helper()
	s := must(scenarios.Find(scenario))
	for _, x := range must(variantTrials(s, suiteVariants, func(name string, variant int) (job, error) { return jobFor(t, scenario, name, 1).varied(variant) })) {
		for i := range x.variants {
			x.variants[i].world = must(findWorld("sim"))
			for _, change := range changes {
				change(x.variants[i].scenario)
			}
		}
		if x.job.system.Name == dispatcher {
			return x
		}
	}
	t.Fatalf("%s expects nothing of %s", scenario, dispatcher)
	return trial{}
}

// TestLatestIsWhatTheLastLinesName, whichever trial was over last.
func TestLatestIsWhatTheLastLinesName(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, err bytes.Buffer
	trials := suiteOf(t, trial{part: partNaive, job: jobFor(t, "demo", "naive", 1)}, trial{part: partNaive, job: jobFor(t, "lost-create-reply", "naive", 1)})
	_ = (&chaosFlags{}).tryAndTell(context.Background(), &console{out: &out, err: &err, dir: ".squall"}, suite{trials: trials}, must(parseOutputs(nil)))
	named := regexp.MustCompile(`(?m)^replay: squall replay (.*)$`).FindStringSubmatch(out.String())
	if len(named) != 2 {
		t.Fatalf("no replay command in\n%s", out.String())
	}
	if latest := must(os.Readlink(".squall/latest")); filepath.Base(latest) != filepath.Base(named[1]) {
		t.Errorf("latest is %s, and the last lines name %s", latest, named[1])
	}
}

// TestSideBySide: in order, whatever the number of workers; and nothing is begun once ctx has ended.
func TestSideBySide(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, workers := range []int{1, 3, 50} {
		var got []int
		sideBySide(ctx, 20, workers, func(i int) int { return i * i }, func(i, square int) {
			if square != i*i {
				t.Errorf("%d workers: %d for %d", workers, square, i)
			}
			got = append(got, i)
		})
		if !slices.IsSorted(got) || len(got) != 20 {
			t.Errorf("%d workers: %v", workers, got)
		}
	}
	cancel()
	sideBySide(ctx, 5, 2, func(i int) int { return i }, func(i, _ int) { t.Errorf("%d was begun", i) })
}
