package main

import (
	"context"
	"os"
	"regexp"
	"testing"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// TestReadmeScenario runs the scenario that README shows and expects the verdicts that README tells.
func TestReadmeScenario(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("README shows no scenario")
	}
	s, err := scenarios.Parse("README.md", block[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]checker.Verdict{"reference": checker.Valid, "random-names": checker.Invalid} {
		system, _ := planted.Lookup(name)
		r := scenarios.Run(context.Background(), s, scenarios.Options{System: system, Seed: 1,
			World: func(_ context.Context, c clusters.Config) (clusters.Cluster, error) { return sim.New(c) }})
		if r.Err != nil || r.Verdict != want {
			t.Errorf("%s: %s, want %s (%v)", name, r.Verdict, want, r.Err)
		}
	}
}

// TestReadmeLinks finds every file that README points to.
func TestReadmeLinks(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllSubmatch(readme, -1)
	if len(links) == 0 {
		t.Error("README has no links: the test looks for the wrong thing")
	}
	for _, link := range links {
		if _, err := os.Stat("../../" + string(link[1])); err != nil {
			t.Errorf("README points to %s: %v", link[1], err)
		}
	}
}
