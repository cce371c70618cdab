package testbed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// engine is a docker command line of our own at the head of PATH. What it is asked goes to a log, one call a line.
type engine struct{ dir string }

// fakeDocker answers by a bash script, which sees the arguments as they come.
func fakeDocker(t *testing.T, script string) engine {
	t.Helper()
	e := engine{dir: t.TempDir()}
	e.program(t, "docker", `echo "${*//$'\n'/ }" >>"`+e.dir+`/log"`+"\n"+script)
	t.Setenv("PATH", e.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	return e
}

// inPlace runs what `docker exec` would run in a node on this machine, in a session of its own as runc does.
const inPlace = `
if [ "$1" = exec ]; then
	shift
	while [[ $1 == --* ]]; do shift; done
	shift
	exec setsid --wait "$@"
fi
`

func (e engine) program(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, name), []byte("#!/bin/bash\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (e engine) calls(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.dir, "log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var calls []string
	for _, line := range lines(text) {
		calls = append(calls, strings.TrimSpace(line))
	}
	return calls
}

// asked counts the calls that begin so.
func (e engine) asked(t *testing.T, prefix string) int {
	t.Helper()
	n := 0
	for _, call := range e.calls(t) {
		if strings.HasPrefix(call, prefix) {
			n++
		}
	}
	return n
}

func TestAFailureNamesNodeCommandAndRemedy(t *testing.T) {
	for _, c := range []struct{ says, want string }{
		{"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", "make engine"},
		{"permission denied while trying to connect to the Docker daemon socket", "usermod"},
		{"Error response from daemon: No such container: n-worker", "squall cluster down"},
		{"Error response from daemon: Container 12 is not running", "start the node"},
		{"Error response from daemon: Container 12 is paused, unpause the container first", "docker unpause n-worker"},
		{"ctr: no such task", "ctr: no such task"},
		{"write /x: no space left on device", "docker system df"},
		{"OCI runtime exec failed: unable to apply caps: operation not permitted", "make engine"},
	} {
		fakeDocker(t, `echo "`+c.says+`" >&2; echo 'time="now" level=warning msg="cgroup v1"' >&2; exit 1`)
		n := &Node{name: "n-worker"}
		_, err := n.Exec(t.Context(), "true")
		if err == nil {
			t.Fatalf("%q: no error", c.says)
		}
		for _, want := range []string{"node n-worker", "docker exec --privileged n-worker true", c.says, c.want} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in: %v", want, err)
			}
		}
		if strings.Contains(err.Error(), "cgroup v1") {
			t.Errorf("a warning that has nothing to do with it: %v", err)
		}
	}
}

func TestWithoutDockerTheRemedyIsToInstallIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	_, err := List(t.Context())
	if err == nil || !strings.Contains(err.Error(), "install Docker") {
		t.Errorf("got %v", err)
	}
}

func TestACommandThatHangsIsGivenUp(t *testing.T) {
	fakeDocker(t, `sleep 60`)
	from := time.Now()
	_, err := command{args: []string{"ps"}, node: "n-worker", limit: 100 * time.Millisecond}.run(t.Context())
	var late interface{ Timeout() bool }
	if !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("not a timeout: %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "docker info") {
		t.Errorf("no remedy: %v", err)
	}
	if took := time.Since(from); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
}

// contextUntil ends by itself once something holds.
func contextUntil(t *testing.T, holds func() bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil && !holds() {
			time.Sleep(50 * time.Millisecond)
		}
		cancel()
	}()
	return ctx, cancel
}
