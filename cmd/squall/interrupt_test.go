package main

import (
	"bufio"
	"bytes"
	"context"
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

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
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
	for _, c := range []struct {
		args  []string
		says  []string
		files []string
	}{
		{[]string{"run", "demo", "--dispatcher", "naive", "--seeds", "1000000"},
			[]string{"interrupted", "✗ invalid", "replay: squall replay .squall/runs/", "report: .squall/runs/"},
			[]string{".squall/latest/report.html", ".squall/latest/verdict.json", "out/results.json"}},
		// The suite may not have come to a run that is worth a bundle.
		{[]string{"chaos", "--seeds", "1000000"},
			[]string{"interrupted: ", "report: .squall/suites/"},
			[]string{"out/results.json"}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			dir, out, code := interrupted(t, 1, append(c.args, "-o", "text", "-o", "json=out/results.json")...)
			if code != exitInterrupted {
				t.Errorf("exit status %d, expected %d\n%s", code, exitInterrupted, out)
			}
			for _, want := range c.says {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing from\n%s", want, out)
				}
			}
			for _, file := range c.files {
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

// cutOff is a world in which Ctrl-C is pressed after twenty seconds.
type cutOff struct {
	*sim.Cluster
	press func()
}

func (c cutOff) Run(ctx context.Context, until time.Duration, done func() bool) error {
	return c.Cluster.Run(ctx, until, func() bool {
		if c.Now() > 20*time.Second {
			c.press()
		}
		return done()
	})
}

// TestReplayOfAnInterruptedRun: the bundle is of a part of a run, and the replay is the same that far.
func TestReplayOfAnInterruptedRun(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	j := jobFor(t, "demo", "reference", 1)
	j.world = must(findWorld("sim"))
	j.world.open = func(_ context.Context, c clusters.Config) (clusters.Cluster, error) {
		cluster, err := sim.New(c)
		return cutOff{cluster, cancel}, err
	}
	var out, errs bytes.Buffer
	c := &console{out: &out, err: &errs, dir: ".squall", quiet: true}
	o := performance{console: c, progress: c.begin("seeds", 1), workers: 1, keepAll: true}.perform(ctx, j)
	if !o.tally.Interrupted || o.bundle == "" || o.failed != nil {
		t.Fatalf("interrupted %v, bundle %q, failure %v", o.tally.Interrupted, o.bundle, o.failed)
	}
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"show", "latest", "-o", "json"}, exitValid, []string{`"verdict": "unknown"`, `"exit_code": 130`, `"interrupted": true`, `"as_expected": false`}},
		{[]string{"show", "latest"}, exitValid, []string{"? unknown  demo", "judged until 2"}},
		{[]string{"check", "latest", "-o", "json"}, exitUnknown, []string{`"verdict": "unknown"`, `"interrupted": true`}},
		{[]string{"check", ".squall/latest/history.jsonl", "-o", "json"}, exitUnknown, []string{`"verdict": "unknown"`, `"interrupted": true`}},
	} {
		out.Reset()
		if code := execute(c.args, &out, &errs); code != c.code {
			t.Errorf("%q: status %d, expected %d\n%s", c.args, code, c.code, errs.String())
		}
		for _, want := range c.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q: %s is missing from\n%s", c.args, want, out.String())
			}
		}
	}
	page, err := os.ReadFile(".squall/latest/report.html")
	if err != nil || !strings.Contains(string(page), "Interrupted: judged until") {
		t.Errorf("the page calls the run anything but interrupted: %v", err)
	}
	if code := execute([]string{"replay", "latest"}, &out, &errs); code != exitValid {
		t.Errorf("status %d\n%s", code, errs.String())
	}
	if !strings.Contains(out.String(), "the same as far as the recording goes") {
		t.Errorf("not compared:\n%s", out.String())
	}
}

// TestInterruptedReplay: it says how far it came, and compares that.
func TestInterruptedReplay(t *testing.T) {
	withTestWorlds(t)
	var out, errs bytes.Buffer
	execute([]string{"run", "demo", "--seed", "1"}, &out, &errs)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i := range worldEntries {
		if worldEntries[i].name == "sim" {
			worldEntries[i].open = func(_ context.Context, c clusters.Config) (clusters.Cluster, error) {
				cluster, err := sim.New(c)
				return cutOff{cluster, cancel}, err
			}
		}
	}
	out.Reset()
	root := newRoot(&console{out: &out, err: &errs, color: colourNever})
	root.SetArgs([]string{"replay", "latest", "-q"})
	if code := statusOf(root.ExecuteContext(ctx)); code != exitInterrupted {
		t.Errorf("status %d, expected %d\n%s", code, exitInterrupted, errs.String())
	}
	for _, want := range []string{"? unknown  demo", "interrupted after ", "the same until then"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from\n%s", want, out.String())
		}
	}
}
