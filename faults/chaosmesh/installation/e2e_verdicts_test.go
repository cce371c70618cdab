//go:build e2e

package installation

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write VERDICTS.md anew")

// alike are scenarios of the library with faults that Chaos Mesh can strike in kind. What else befalls a run of lease-unreachable, slow calls of one sort,
// Squall strikes in both columns.
var alike = []string{"own-deadline", "evicted-then-cancelled", "slow-to-go", "lost-before-it-began", "evicted-and-killed", "lease-unreachable"}

// tries is how many runs a scenario gets: where a defect needs a race to be lost, one run may see it won, and on a machine that is busy with
// something else the reference may miss its bounds.
const tries = 3

// lanes is how many runs go on side by side; they mostly wait.
const lanes = "2"

// judgement is what became of a scenario.
type judgement struct {
	Scenario, Verdict string
	struck            []string // the objects by which Chaos Mesh struck
	before            []string // the verdicts of all runs, this one's last
}

// TestVerdictsAreThoseOfSquallsOwnInjectors, for the reference and for the naive dispatcher: some twenty minutes each.
func TestVerdictsAreThoseOfSquallsOwnInjectors(t *testing.T) {
	if !*update {
		t.Skip("NOT RUN: it takes forty minutes of a machine that does nothing else; go test -tags e2e ./faults/chaosmesh/installation -run Verdicts -update writes VERDICTS.md")
	}
	for _, dispatcher := range []string{"reference", "naive"} {
		t.Run(dispatcher, func(t *testing.T) {
			table := compared(t, dispatcher)
			t.Log("\n" + table)
			if !t.Failed() {
				write(t, dispatcher, table)
			}
		})
	}
}

// compared is the table of a dispatcher's verdicts in both columns.
func compared(t *testing.T, dispatcher string) string {
	own, theirs := judged(t, dispatcher, "squall"), judged(t, dispatcher, "chaosmesh")
	table := "| scenario | Squall's injectors | Chaos Mesh | by |\n|---|---|---|---|\n"
	for _, scenario := range alike {
		a, b := own[scenario], theirs[scenario]
		if a.Verdict == "" || a.Verdict != b.Verdict {
			t.Errorf("%s, %s: %q by Squall's own injectors, %q through Chaos Mesh", scenario, dispatcher, a.Verdict, b.Verdict)
		}
		if len(b.struck) == 0 || len(a.struck) > 0 {
			t.Errorf("%s, %s: Chaos Mesh struck %v, and %v where it should not", scenario, dispatcher, b.struck, a.struck)
		}
		table += fmt.Sprintf("| %s | %s | %s | %s |\n", scenario, strings.Join(a.before, ", then "), strings.Join(b.before, ", then "), strings.Join(b.struck, ", "))
	}
	return table
}

const verdicts = "VERDICTS.md"

// write replaces the section of a dispatcher.
func write(t *testing.T, dispatcher, table string) {
	t.Helper()
	text, err := os.ReadFile(verdicts)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	head, sections, _ := strings.Cut(string(text), "\n## ")
	kept := map[string]string{dispatcher: table}
	for section := range strings.SplitSeq(sections, "\n## ") {
		if name, body, ok := strings.Cut(section, "\n\n"); ok && name != dispatcher {
			kept[name] = strings.TrimSpace(body) + "\n"
		}
	}
	if head == "" {
		head = "# The same scenarios, struck by Squall and by Chaos Mesh\n\nMade in a kind cluster: go test -tags e2e ./faults/chaosmesh/installation -run Verdicts -update\n"
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		head += "\n## " + name + "\n\n" + kept[name]
	}
	if err := os.WriteFile(verdicts, []byte(head), 0o644); err != nil {
		t.Fatal(err)
	}
}

// meant are the verdicts that the two dispatchers are to get.
var meant = map[string]string{"reference": "valid", "naive": "invalid"}

// judged runs all scenarios, again those that come out otherwise than they are meant to: the table then says both.
func judged(t *testing.T, dispatcher, injector string) map[string]judgement {
	t.Helper()
	all := map[string]judgement{}
	todo := alike
	for try := 1; try <= tries && len(todo) > 0; try++ {
		var again []string
		for _, j := range run(t, todo, dispatcher, injector) {
			t.Logf("%s, %s, %s: %s %v", j.Scenario, dispatcher, injector, j.Verdict, j.struck)
			if j.Verdict != meant[dispatcher] {
				again = append(again, j.Scenario)
			}
			j.before = append(all[j.Scenario].before, j.Verdict)
			all[j.Scenario] = j
		}
		todo = again
	}
	return all
}

var byChaosMesh = regexp.MustCompile(`by Chaos Mesh's (\w+ [\w-]+)`)

// run runs scenarios, and reads their bundles.
func run(t *testing.T, scenarios []string, dispatcher, injector string) []judgement {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), squall, append([]string{"run", "--dispatcher", dispatcher, "--world", "kind", "--cluster", cluster,
		"--injector", injector, "--lanes", lanes, "--seed", "1", "--dir", dir}, scenarios...)...)
	text, _ := command.CombinedOutput()
	files, err := filepath.Glob(filepath.Join(dir, "runs", "*", "verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]judgement{}
	for _, file := range files {
		var j judgement
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &j)
		}
		if err != nil {
			t.Fatal(err)
		}
		record, err := os.ReadFile(filepath.Join(filepath.Dir(file), "history.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range byChaosMesh.FindAllSubmatch(record, -1) {
			if by := string(m[1]); !slices.Contains(j.struck, by) {
				j.struck = append(j.struck, by)
			}
		}
		slices.Sort(j.struck)
		found[j.Scenario] = j
	}
	var all []judgement
	for _, s := range scenarios {
		if _, ok := found[s]; !ok {
			t.Errorf("there is no verdict of %s; squall said:\n%s", s, text)
		}
		all = append(all, found[s])
	}
	return all
}
