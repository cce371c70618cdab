package testbed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// patience bounds a docker command that has no reason to take long. An engine on a busy machine answers in seconds.
const patience = time.Minute

// command is one call of the docker command line.
type command struct {
	args  []string
	node  string        // whom it concerns, for the error
	stdin io.Reader     // nil: none
	limit time.Duration // 0: patience
}

// docker runs a docker command that concerns no node.
func docker(ctx context.Context, args ...string) ([]byte, error) {
	return command{args: args}.run(ctx)
}

func (c command) run(ctx context.Context) ([]byte, error) {
	limit := c.limit
	if limit == 0 {
		limit = patience
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong(limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", c.args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, &stdout, &stderr
	cmd.WaitDelay = 2 * time.Second // a plugin of the command line may outlive it and hold the pipes
	err := cmd.Run()
	if err == nil {
		return stdout.Bytes(), nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return stdout.Bytes(), c.failure(err, stderr.String())
}

type tooLong time.Duration

func (t tooLong) Error() string { return fmt.Sprintf("no answer within %s", time.Duration(t)) }

// Timeout makes it a timeout to those who ask by behaviour.
func (t tooLong) Timeout() bool { return true }

// CommandError is a docker command that failed.
type CommandError struct {
	Node    string // "" if it concerns none
	Command string
	Output  string // what it said, the end of it
	Remedy  string // "" if none is known
	Err     error
}

func (e *CommandError) Error() string {
	var b strings.Builder
	if e.Node != "" {
		fmt.Fprintf(&b, "node %s: ", e.Node)
	}
	fmt.Fprintf(&b, "%s: %v", e.Command, e.Err)
	if e.Output != "" {
		fmt.Fprintf(&b, ": %s", e.Output)
	}
	if e.Remedy != "" {
		fmt.Fprintf(&b, "; %s", e.Remedy)
	}
	return b.String()
}

func (e *CommandError) Unwrap() error { return e.Err }

func (c command) failure(err error, output string) error {
	output = tail(output, 3, "; ")
	return &CommandError{
		Node: c.node, Command: abridged(c.args), Output: output, Err: err, Remedy: remedy(err, output, c.node),
	}
}

// remedies are known by what the engine or its command line says; there is nothing else to tell these cases apart.
var remedies = []struct{ says, remedy string }{
	{"Cannot connect to the Docker daemon", "start the engine (`make engine`, or `squall doctor --fix`), or set DOCKER_HOST"},
	{"failed to connect to the docker API", "start the engine (`make engine`, or `squall doctor --fix`), or set DOCKER_HOST"},
	{"permission denied while trying to connect", "let this user use the engine: `sudo usermod -aG docker $USER`, then log in again"},
	{"No such container", "the container was removed behind our back: `squall cluster down` removes the rest"},
	{"is not running", "start the node, or make the cluster anew: `squall cluster down`, `squall cluster up`"},
	{"is paused", "unpause the node: `docker unpause %s`"},
	{"no space left on device", "free some space: `docker system df` shows what takes it"},
	{"unable to apply caps", "this machine lacks a capability that Docker asks for: `make engine` puts the shim in place"},
	{"too many open files", "raise the limits: `sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512`"},
	{"exec format error", "the node image is for another kind of processor: build one here: `squall node-image build`"},
	{"failed to pull image", "no registry answers for it: build an image here: `squall node-image build`"},
	{"port is already allocated", "try again: the port was taken between its choice and its use"},
}

func remedy(err error, output, node string) string {
	if errors.Is(err, exec.ErrNotFound) {
		return "install Docker: `make engine` on Debian, https://docs.docker.com/engine/install elsewhere"
	}
	for _, r := range remedies {
		if strings.Contains(output, r.says) {
			return strings.ReplaceAll(r.remedy, "%s", node)
		}
	}
	if t := tooLong(0); errors.As(err, &t) {
		return "see whether the engine answers: `docker info`"
	}
	return ""
}

// abridged is a command line to show: scripts are long and of no use to the reader.
func abridged(args []string) string {
	shown := make([]string, 0, len(args)+1)
	shown = append(shown, "docker")
	for _, a := range args {
		if len(a) > 80 || strings.Contains(a, "\n") {
			a = "..."
		}
		shown = append(shown, a)
	}
	return strings.Join(shown, " ")
}

// tail is the end of a text, the last lines that say something.
func tail(text string, lines int, separator string) string {
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.Contains(line, "level=warning") { // ctr complains about cgroup v1 at every call
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept[max(0, len(kept)-lines):], separator)
}

// lines splits output, without empty ones.
func lines(output []byte) []string {
	return strings.FieldsFunc(string(output), func(r rune) bool { return r == '\n' })
}
