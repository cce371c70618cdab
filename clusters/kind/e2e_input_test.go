//go:build e2e

package kind_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBadInputIsNamed wants exit status 2 and the remedy for what whoever typed the command can mend, before anything is made.
func TestBadInputIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		args, env []string
		elsewhere bool // not in a checkout
		says      []string
	}{
		"no engine":           {args: []string{"run", "demo"}, env: []string{"DOCKER_HOST=unix:///nonexistent.sock"}, says: []string{"no Docker engine listens at unix:///nonexistent.sock", "DOCKER_HOST"}},
		"no docker command":   {args: []string{"run", "demo"}, env: []string{"PATH=/nonexistent"}, says: []string{"no docker command", "install"}},
		"a name that is none": {args: []string{"run", "demo", "--cluster", "Bad_Name"}, says: []string{`"Bad_Name"`, "lower-case letters"}},
		"no such node image":  {args: []string{"run", "demo", "--node-image", "squall.invalid/none:1"}, says: []string{"squall.invalid/none:1 is not in the engine", "docker load"}},
		"a foreign context":   {args: []string{"run", "demo", "--context", "production", "--namespace", "batch"}, says: []string{"did not make", "add --world cluster"}},
		"no source":           {args: []string{"run", "demo", "--cluster", cluster}, elsewhere: true, says: []string{"Squall's source", "a checkout"}},
		"no scenario":         {args: []string{"run", "demmo"}, says: []string{"demmo", `"demo"`}},
	} {
		t.Run(name, func(t *testing.T) {
			command := exec.Command(squall, append(c.args, "--world", "kind")...)
			command.Env = append(os.Environ(), c.env...)
			if c.elsewhere {
				command.Dir = t.TempDir()
			}
			text, _ := command.CombinedOutput()
			if code := command.ProcessState.ExitCode(); code != 2 {
				t.Errorf("exit status %d, want 2\n%s", code, text)
			}
			for _, want := range c.says {
				if !strings.Contains(string(text), want) {
					t.Errorf("it does not say %s:\n%s", want, text)
				}
			}
		})
	}
}
