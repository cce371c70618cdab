package main

import (
	"os"
	"strings"
	"testing"
)

// TestARecommendationIsConfirmed: the recommended setting and the nearest unsafe one are run where time is real, and what that world
// cannot do is said.
func TestARecommendationIsConfirmed(t *testing.T) {
	l := withLiveWorld(t)
	for name, grace := range map[string]string{"unsafe": "240s", "safe": "360s"} {
		text := "apiVersion: squall/v1alpha1\nkind: Settings\nname: " + name + "\nsettings: {recovery_grace: " + grace + "}\n"
		if err := os.WriteFile(name+".yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	says(t, exitValid, "compare unsafe.yaml safe.yaml --scenario grace-at-the-deadline --seeds 3 --confirm test-live -o text -o html=report.html",
		"Take safe", "in test-live: safe: valid", "in test-live: unsafe: ")
	if l.begun != 1 || l.ended != 1 {
		t.Errorf("begun %d and ended %d times", l.begun, l.ended)
	}
	page := string(must(os.ReadFile("report.html")))
	if !strings.Contains(page, "in test-live: safe") {
		t.Error("the page does not say that it was confirmed")
	}
	says(t, exitValid, "compare unsafe.yaml safe.yaml --scenario stale-reads --seeds 2 --confirm test-live", "in test-live: ", "not run: ", "stale-cache")
}
