//go:build kind

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/scenarios"
)

// squallRenders runs the command, and returns what it printed and its status.
func squallRenders(args ...string) (out, err string, code int) {
	var stdout, stderr bytes.Buffer
	code = execute(append([]string{"scenarios", "render"}, args...), &stdout, &stderr)
	return stdout.String(), stderr.String(), code
}

const calls = `apiVersion: squall/v1alpha1
kind: Scenario
name: calls
summary: Some calls are cut, and a process stands still.
nodes:
  - {name: od, capacity_type: on-demand, count: 1, pods: 10}
tasks:
  - {name: task-1, run: 30s}
faults:
  - {at: 20s, kind: process-pause, target: {process: "leader:dispatcher"}, for: 60s}
  - {at: 10s, kind: call, action: cut-reply, target: {port: api}, for: 30s}
horizon: 5m
`

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "calls.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRenderSaysWhatIsLeftOut: one fault is rendered; the other is a comment and a line on stderr.
func TestRenderSaysWhatIsLeftOut(t *testing.T) {
	out, err, code := squallRenders("--chaosmesh", write(t, calls), "-n", "batch", "--http", "api=app=gateway:8080")
	if code != exitValid || !strings.Contains(out, "kind: Workflow") || !strings.Contains(out, "  namespace: batch") ||
		!strings.Contains(out, "#   left out: no kind of Chaos Mesh stops a process") {
		t.Errorf("status %d\n%s", code, out)
	}
	if want := "fault 2, at 20s: the leading dispatcher is paused for 1m: left out: no kind of Chaos Mesh stops a process"; !strings.HasPrefix(err, want) {
		t.Errorf("stderr %q, want %q", err, want)
	}
}

// TestRenderRefusals: each ends with 2, prints no objects, and says what to do.
func TestRenderRefusals(t *testing.T) {
	file := write(t, calls)
	lines := strings.SplitAfter(calls, "\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--chaosmesh", "databse-crash"}, `unknown scenario "databse-crash"; did you mean "database-crash"?`},
		{[]string{"--chaosmesh"}, "which scenario?"},
		{[]string{"database-crash"}, "--chaosmesh is all there is"},
		{[]string{"--chaosmesh", file}, "Chaos Mesh can express none of its faults"},
		{[]string{"--chaosmesh", write(t, strings.Join(append(lines[:8:8], lines[11:]...), ""))}, "has no faults"},
		{[]string{"--chaosmesh", file, "--form", "workflows"}, `unknown value of --form "workflows"; did you mean "workflow"?`},
		{[]string{"--chaosmesh", file, "-n", "Batch"}, `namespace "Batch": expected`},
		{[]string{"--chaosmesh", file, "--api-server", "http://x"}, `--api-server "http://x": expected an address`},
		{[]string{"--chaosmesh", file, "--database", "app=a b"}, `--database "app=a b" is no label`},
		{[]string{"--chaosmesh", file, "--http", "api=x"}, "expected PORT=LABEL=VALUE:NUMBER"},
		{[]string{"--chaosmesh", file, "--http", "api=app=gateway:-1"},
			"calls.yaml:11:5: SQ310 Chaos Mesh would refuse HTTPChaos calls-fault-1: Spec.Port: Invalid value: -1: port -1 is not supported\n   11 |   - {at: 10s,"},
	} {
		out, err, code := squallRenders(c.args...)
		if code != exitUsage || out != "" || !strings.Contains(err, c.says) {
			t.Errorf("%q: status %d, %q\nexpected %q", c.args, code, err, c.says)
		}
	}
}

// TestTheLibraryRenders: every scenario gives valid objects or says that it has none, in both forms.
func TestTheLibraryRenders(t *testing.T) {
	rendered := 0
	for _, s := range scenarios.Library() {
		for _, form := range formNames() {
			out, err, code := squallRenders("--chaosmesh", s.Name, "--form", form, "--database", "app=postgres", "--http", "api=app=gateway:8080")
			switch {
			case code == exitValid && strings.Contains(out, "\nkind: "):
				rendered++
			case code != exitUsage || !strings.Contains(err, "none of its faults") && !strings.Contains(err, "has no faults"):
				t.Errorf("%s as %s: status %d: %s", s.Name, form, code, err)
			}
		}
	}
	if rendered < 20 {
		t.Errorf("%d renderings", rendered)
	}
}
