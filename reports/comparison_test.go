package reports

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

func workload(name string, seeds int) *experiment.Experiment {
	s, err := scenarios.Find(name)
	if err != nil {
		panic(err)
	}
	text, _ := scenarios.LibraryFile(name)
	return &experiment.Experiment{Workloads: []experiment.Workload{{Scenario: s, Text: text}}, System: planted.Reference(), From: 1, Count: seeds, Workers: 1,
		World: func(_ context.Context, c clusters.Config) (clusters.Cluster, error) { return sim.New(c) }}
}

// sweptSample is a real sweep of one setting, with a counterexample and a place.
var sweptSample = sync.OnceValue(func() *Comparison {
	a, err := experiment.ParseAxis("recovery_grace=240s..360s:30s")
	if err != nil {
		panic(err)
	}
	b, err := experiment.ParseAxis("spot_share=0..1:0.5")
	if err != nil {
		panic(err)
	}
	r, err := experiment.Compare(context.Background(), workload("grace-at-the-deadline", 12), []experiment.Cell{experiment.Own()}, 0, experiment.Prices{OnDemand: 1, Spot: 1},
		&experiment.Sweep{Axes: []experiment.Axis{a, b}, Base: experiment.Own(), Points: 40, Refine: 4}, func(int) {})
	if err != nil {
		panic(err)
	}
	c := &Comparison{Result: r, Command: "squall compare --sweep recovery_grace=240s..360s:30s --sweep spot_share=0..1:0.5", Cases: map[int]Case{},
		Places:    map[string]Place{"recovery_grace": {"deploy/reconciler.yaml:14:9", "team-batch"}, "workflow_deadline": {"jobs/templates/job.yaml:7:26", "team-jobs"}},
		Confirmed: []Confirmation{{Cell: r.Winner, World: "kind", Verdict: Valid}, {Cell: r.Fastest, World: "kind", Note: "cannot do pod-remove"}}}
	for i, cell := range r.Cells {
		if cell.Smallest >= 0 {
			c.Cases[i] = Case{Scenario: r.Workloads[0], Seed: cell.Seen[cell.Smallest].Seed, Violated: cell.Seen[cell.Smallest].Violated, Bundle: ".squall/runs/x", Report: "../runs/x/report.html",
				Replay: "squall replay .squall/runs/x", Story: "Two executions are alive at once.",
				Minimal: "squall run .squall/runs/x/minimal/minimal.yaml", Size: "faults 0, tasks 1, client steps 0, replicas 2, nodes 1"}
		}
	}
	return c
})

// fabricated is a comparison of that many settings and seeds, of observations that nobody made: a few settings are unsafe.
func fabricated(settings, seeds int) *Comparison {
	e := workload("swarm-standard", seeds)
	random := rand.New(rand.NewPCG(1, 2))
	var cells []experiment.Cell
	var seen [][]experiment.Observation
	for i := range settings {
		o, err := scenarios.ParseOverride("recovery_grace=" + (time.Duration(240+5*i) * time.Second).String())
		if err != nil {
			panic(err)
		}
		cells = append(cells, experiment.Cell{Name: "recovery-grace-of-" + (time.Duration(240+5*i) * time.Second).String(), SpotShare: 1, Settings: scenarios.Overrides{o}})
		var all []experiment.Observation
		for s := range seeds {
			one := experiment.Observation{Seed: uint64(s + 1), Verdict: checker.Valid, Succeeded: 90, InTime: 80, Virtual: 40 * time.Minute, Calls: 2000 + random.IntN(100),
				StrandedFor: time.Duration(random.IntN(500)) * time.Second, OnDemand: experiment.Use{Ran: time.Hour + time.Duration(random.IntN(1e9)), Starts: 15, Delay: time.Hour}}
			for range random.IntN(8) {
				one.Recoveries = append(one.Recoveries, time.Duration(20+2*i+random.IntN(60))*time.Second)
			}
			if random.IntN(settings) > i+settings/2 {
				one.Verdict, one.Violated, one.Overlaps = checker.Invalid, []string{"I1-overlap"}, 1
			}
			all = append(all, one)
		}
		seen = append(seen, all)
	}
	c := &Comparison{Result: experiment.Sum(e, cells, seen, 0, experiment.Prices{OnDemand: 1, Spot: 0.3, Given: true}), Command: "squall compare", Cases: map[int]Case{}}
	for i, cell := range c.Cells {
		if cell.Smallest >= 0 {
			c.Cases[i] = Case{Scenario: c.Workloads[0], Seed: uint64(cell.Smallest + 1), Violated: []string{"I1-overlap"}, Replay: "squall replay .squall/runs/20261130-023703-swarm-standard-reference-1", Story: strings.Repeat("Two executions are alive at once. ", 10)}
		}
	}
	return c
}

func comparisonHTML(t *testing.T, c *Comparison) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteHTML(&b, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestALargeComparisonStaysSmall(t *testing.T) {
	c := fabricated(50, 1000)
	page := comparisonHTML(t, c)
	if len(page) > 5<<20 {
		t.Errorf("the page of 50 settings and 1,000 seeds has %d bytes; 5 MB are the limit", len(page))
	}
	t.Logf("%d KB", len(page)>>10)
	if c.matrix().Runs < 500 {
		t.Error("the matrix is not put to the test")
	}
}

func TestComparisonsAreGolden(t *testing.T) {
	var text, markdown bytes.Buffer
	if err := sweptSample().WriteText(&text, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "comparison.txt", text.Bytes())
	if err := sweptSample().WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	golden(t, "comparison.md", markdown.Bytes())
	var b bytes.Buffer
	one := fabricated(2, 1) // one run says nothing of how runs scatter
	if err := one.WriteJSON(&b); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("JSON of one run: %v", err)
	}
	comparisonHTML(t, one)
}

// TestRecommendations: what is said is what there is to say.
func TestRecommendations(t *testing.T) {
	say := func(c *Comparison) string { return c.Headline() + "\n" + strings.Join(c.Remarks(), "\n") }
	large := fabricated(50, 200)
	if got := say(large); !strings.Contains(got, "Take recovery-grace-of-") || !strings.Contains(got, "The price, against the fastest unsafe setting") || !strings.Contains(got, "None of 200 runs was unsafe") {
		t.Error(got)
	}
	e := workload("swarm-standard", 30)
	same := func(v checker.Verdict, cells ...experiment.Cell) *Comparison {
		var seen [][]experiment.Observation
		for range cells {
			var all []experiment.Observation
			for s := range 30 {
				all = append(all, experiment.Observation{Seed: uint64(s + 1), Verdict: v, Succeeded: 10, OnDemand: experiment.Use{Ran: time.Duration(s+1) * time.Minute}, Recoveries: []time.Duration{time.Minute}})
			}
			seen = append(seen, all)
		}
		return &Comparison{Result: experiment.Sum(e, cells, seen, 0, experiment.Prices{OnDemand: 1, Spot: 1})}
	}
	a, b := experiment.Own(), experiment.Own()
	a.Name, b.Name = "a", "b"
	if got := say(same(checker.Valid, a, b)); !strings.Contains(got, "No difference shown: all 2 settings") {
		t.Error(got)
	}
	if got := say(same(checker.Invalid, a, b)); !strings.Contains(got, "No setting is safe. The fewest unsafe runs has a: 30 of 30") {
		t.Error(got)
	}
	if got := say(same(checker.Unknown, a, b)); !strings.Contains(got, "no setting could be decided") {
		t.Error(got)
	}
	o, _ := scenarios.ParseOverride("recovery_grace=240s")
	a.Settings, b.Settings = scenarios.Overrides{o}, scenarios.Overrides{o}
	if got := say(same(checker.Valid, a, b)); !strings.Contains(got, "breaks a rule") && !strings.Contains(got, "break a rule") {
		t.Error(got)
	}
}
