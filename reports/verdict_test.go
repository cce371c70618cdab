package reports

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestVerdictFileKeepsExpectationApart: the verdict is the run's, the exit code the process's.
func TestVerdictFileKeepsExpectationApart(t *testing.T) {
	stopped, unmet := passing(), passing()
	stopped.Interrupted = true
	unmet.Expected, unmet.Unmet = Invalid, []string{"verdict valid, expected invalid"}
	for name, c := range map[string]struct {
		run      *Run
		verdict  Verdict
		code     int
		expected bool
		banner   string
	}{
		"valid":            {passing(), Valid, 0, true, "Valid"},
		"expected failure": {failing(), Invalid, 1, true, "Invalid"},
		"interrupted":      {stopped, Unknown, 130, false, "Interrupted"},
		"unmet":            {unmet, Valid, 1, false, "Not as expected"},
	} {
		t.Run(name, func(t *testing.T) {
			again, err := Open(keep(t, t.TempDir(), c.run))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []*Run{c.run, again} {
				var file verdictFile
				text, err := r.VerdictJSON()
				if err != nil || json.Unmarshal(text, &file) != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if file.Verdict != c.verdict || file.ExitCode != c.code || file.AsExpected != c.expected || file.Interrupted != r.Interrupted || len(file.Unmet) != len(c.run.Unmet) {
					t.Errorf("got %s, exit code %d, as expected %v, interrupted %v, unmet %q", file.Verdict, file.ExitCode, file.AsExpected, file.Interrupted, file.Unmet)
				}
				if got := r.banner().Look.Word; got != c.banner {
					t.Errorf("the banner says %q, expected %q", got, c.banner)
				}
			}
		})
	}
	if notes := stopped.notes(); !strings.Contains(notes, "judged until 420 s") {
		t.Errorf("notes %q", notes)
	}
}
