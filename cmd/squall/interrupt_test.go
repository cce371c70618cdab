package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// underWay is the progress line of a run that has at least one seed behind it.
var underWay = regexp.MustCompile(`squall: [1-9]\d* of \d+ seeds`)

// interrupted starts squall, and sends that many times Ctrl-C once it is under way.
func interrupted(t *testing.T, times int, args ...string) (dir, stdout string, code int) {
	t.Helper()
	cmd := squall(t, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tooLong := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer tooLong.Stop()
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !underWay.MatchString(lines.Text()) {
	}
	for range times {
		_ = cmd.Process.Signal(os.Interrupt) // it may be gone by the second
	}
	_, _ = io.Copy(io.Discard, stderr)
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.Dir, out.String(), cmd.ProcessState.ExitCode()
}

// TestInterrupt: what was recorded is judged, and the report is written.
func TestInterrupt(t *testing.T) {
	for _, args := range [][]string{
		{"run", "demo", "--dispatcher", "naive", "--seeds", "1000000"},
		{"chaos", "--seeds", "1000000"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			dir, out, code := interrupted(t, 1, append(args, "-o", "text", "-o", "json=out/results.json")...)
			if code != exitInterrupted {
				t.Errorf("exit status %d, expected %d\n%s", code, exitInterrupted, out)
			}
			for _, want := range []string{"replay: squall replay .squall/runs/", "report: .squall/"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing from\n%s", want, out)
				}
			}
			for _, file := range []string{".squall/latest/report.html", ".squall/latest/verdict.json", "out/results.json"} {
				if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
					t.Error(err)
				}
			}
			noScraps(t, dir)
		})
	}
}

// TestSecondInterrupt: the program ends at once, and what was half-written is gone.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	dir, _, code := interrupted(t, 2, "run", "demo", "--dispatcher", "naive", "--seeds", "1000000")
	if code != exitInterrupted {
		t.Errorf("exit status %d, expected %d", code, exitInterrupted)
	}
	noScraps(t, dir)
}

// noScraps looks for files under temporary names.
func noScraps(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != dir && strings.HasPrefix(d.Name(), ".") && d.Name() != ".squall" {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
