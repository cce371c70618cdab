package main

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

var printed = regexp.MustCompile(`squall run (\S+) --dispatcher (\S+) --seeds (\d+)`)

// TestExplainedCommandsShowWhatTheySay runs every command that `squall explain` prints until all it promises was seen.
func TestExplainedCommandsShowWhatTheySay(t *testing.T) {
	promised := map[string][]string{}
	for _, name := range checker.Names() {
		promised[name] = []string{name}
	}
	for _, d := range planted.Defects() {
		promised[d.System.Name] = d.Breaks
	}
	for name, want := range promised {
		t.Run(name, func(t *testing.T) {
			text := must(explanationOf(name))
			m := printed.FindStringSubmatch(text)
			if m == nil {
				if _, ok := planted.ShowingOf(name); ok || len(want) > 1 {
					t.Errorf("no command in %q", text)
				}
				return
			}
			system, _ := planted.Lookup(m[2])
			for seed, last := 1, must(strconv.Atoi(m[3])); seed <= last && len(want) > 0; seed++ {
				r := scenarios.Run(context.Background(), must(scenarios.Find(m[1])), scenarios.Options{System: system, Seed: uint64(seed), World: openSim})
				want = slices.DeleteFunc(slices.Clone(want), func(invariant string) bool {
					return slices.ContainsFunc(r.Fatal(), func(v checker.Violation) bool { return v.Invariant == invariant })
				})
			}
			if len(want) > 0 {
				t.Errorf("%s never showed %v", m[0], want)
			}
		})
	}
}

// TestEverySettingAndActionIsExplained: none is left out, and each has a value in every profile.
func TestEverySettingAndActionIsExplained(t *testing.T) {
	if got, want := settingNames(), scenarios.SettingNames(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("settings %v\nwant     %v", got, want)
	}
	for _, s := range listSettings() {
		for profile, value := range s.Values {
			if value == "" {
				t.Errorf("%s has no value in %s", s.Name, profile)
			}
		}
	}
	for _, a := range faults.Actions() {
		if _, ok := explainAction(string(a)); !ok {
			t.Errorf("action %s is not explained", a)
		}
	}
}
