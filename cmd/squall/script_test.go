package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the scripts' cmp commands find instead of failing")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"squall": main, "kubectl": kubectlStandIn})
}

// TestScripts runs the command line as a user would. Scripts have commands more: status N COMMAND... wants
// that exit status, cut-short FILE takes the second half of the file away, and cmp-but-paths compares files but for the names of bundles.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": wantStatus, "cut-short": cutShort, "dump": writeDump, "cmp-but-paths": cmpButPaths},
		Setup: func(e *testscript.Env) error {
			e.Setenv("GOMAXPROCS", "2")
			return nil
		},
	})
}

func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit status %d, expected %d", got, want)
	}
}

func cmpButPaths(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cmp-but-paths FILE FILE")
	}
	bundle := regexp.MustCompile(`runs/[-a-z0-9]+`)
	one, two := bundle.ReplaceAllString(ts.ReadFile(args[0]), "runs/-"), bundle.ReplaceAllString(ts.ReadFile(args[1]), "runs/-")
	if one != two {
		ts.Fatalf("%s and %s differ", args[0], args[1])
	}
}

func cutShort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cut-short FILE")
	}
	path := ts.MkAbs(args[0])
	info, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Truncate(path, info.Size()/2))
}

// squall is this program as a process of its own.
func squall(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{"squall"}, args...)
	cmd.Dir = t.TempDir()
	return cmd
}
