package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary plays the programs: the first argument tells how. It must know them all: one that it does not know would run
// the tests once more, in the middle of those that run.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch Program(os.Args[1]) {
		case "sleep", APIServer, ControllerManager, Scheduler:
			select {}
		case Etcd:
			_, _ = os.Stderr.WriteString("no luck today\n")
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAProcessCanBeKilledAndStartedAgain(t *testing.T) {
	p := &Process{program: "sleep", binary: self(t), log: filepath.Join(t.TempDir(), "log")}
	if err := p.Kill(); err != nil || p.Alive() {
		t.Fatalf("a program that never ran: %v, alive %t", err, p.Alive())
	}
	for range 2 {
		if err := p.Start(); err != nil || !p.Alive() {
			t.Fatalf("started: %v, alive %t", err, p.Alive())
		}
		first := p.PID()
		if err := p.Start(); err != nil || p.PID() != first {
			t.Errorf("started while running: %v, %d and %d", err, first, p.PID())
		}
		if err := p.Freeze(); err != nil || !p.Alive() {
			t.Errorf("frozen: %v, alive %t", err, p.Alive())
		}
		if err := errors.Join(p.Thaw(), p.Freeze(), p.Kill()); err != nil || p.Alive() {
			t.Errorf("killed while frozen: %v, alive %t", err, p.Alive())
		}
	}
	if err := errors.Join(p.Start(), p.retire()); err != nil || p.Alive() {
		t.Errorf("retired: %v, alive %t", err, p.Alive())
	}
	if err := p.Start(); err == nil {
		t.Error("a retired program was started")
	}
}

// What cannot start says why, and leaves its logs behind and nothing else.
func TestAFailedStartKeepsItsLogs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, err := Start(t.Context(), Options{Binary: self(t)})
	if err == nil || !strings.Contains(err.Error(), "etcd ended") || !strings.Contains(err.Error(), "no luck today") {
		t.Fatalf("got error %v", err)
	}
	logs, _ := filepath.Glob(filepath.Join(os.TempDir(), "squall-local-*", "*"))
	if len(logs) != 1 || filepath.Base(logs[0]) != "logs" || !strings.Contains(err.Error(), logs[0]) {
		t.Errorf("left %v; error %v", logs, err)
	}
}

func TestAnInterruptedStartLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Options{Binary: self(t)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestWithoutABinaryTheErrorSaysHowToGetIt(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if path, err := Built(); !errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "make controlplane") {
		t.Errorf("got %q, %v", path, err)
	}
}
