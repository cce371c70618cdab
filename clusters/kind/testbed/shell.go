package testbed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Shell is a bash in a node that is there already when it is needed: to start a program in a busy node takes seconds, and a fault is to
// strike when it is due. What it does starts no other program.
type Shell struct {
	node *Node
	mu   sync.Mutex
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// shellScript answers every line of its input, a function below with a container's ID, with one line: nothing, or what went wrong.
const shellScript = `
shopt -s globstar nullglob
v1=/sys/fs/cgroup/freezer
root=/sys/fs/cgroup
[ -d $v1 ] && root=$v1
settle() { # until the state of the file is the one wanted
	local tries state
	for ((tries = 0; tries < 2000; tries++)); do
		while read -r state; do [[ $state == $2 ]] && return; done <"$1"
	done
	echo "the freezer does not get to $2"
}
freezing() {
	local dir
	for dir in $root/**/*"$1"*/; do
		if [ $root = $v1 ]; then
			echo "$2" >"${dir}freezer.state" && settle "${dir}freezer.state" "$2"
		else
			echo "$3" >"${dir}cgroup.freeze" && settle "${dir}cgroup.events" "frozen $3"
		fi
		return
	done
	echo "there is no cgroup of the container"
}
freeze() { freezing "$1" FROZEN 1; }
thaw() { freezing "$1" THAWED 0; }
end() {
	local dir pid
	for dir in $root/**/*"$1"*/; do
		while read -r pid; do kill -KILL "$pid"; done <"${dir}cgroup.procs"
		return
	done
	echo "there is no cgroup of the container"
}
while read -r what id; do
	said=$($what "$id" 2>&1)
	echo "${said//$'\n'/; }"
done
`

// Shell opens a shell; whoever does closes it.
func (n *Node) Shell(ctx context.Context) (*Shell, error) {
	s := &Shell{node: n, cmd: exec.CommandContext(context.WithoutCancel(ctx), "docker", "exec", "--privileged", "--interactive", n.name, "bash", "-c", shellScript)}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	s.cmd.WaitDelay = 2 * time.Second
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("node %s: %w", n.name, err)
	}
	return s, nil
}

// Freeze stops the processes of a container where they are: their connections stay open, and nothing answers.
func (s *Shell) Freeze(ctx context.Context, id string) error { return s.ask(ctx, "freeze", id) }

// Thaw lets a frozen container go on.
func (s *Shell) Thaw(ctx context.Context, id string) error { return s.ask(ctx, "thaw", id) }

// Kill ends the processes of a container by SIGKILL; frozen ones end when they are thawed.
func (s *Shell) Kill(ctx context.Context, id string) error { return s.ask(ctx, "end", id) }

func (s *Shell) ask(ctx context.Context, what, id string) error {
	if id == "" || strings.ContainsAny(id, " \n*?[") {
		return fmt.Errorf("%q is no container's ID", id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answered := make(chan error, 1)
	go func() {
		_, err := fmt.Fprintln(s.in, what, id)
		said := ""
		if err == nil {
			said, err = s.out.ReadString('\n')
		}
		if said = strings.TrimSpace(said); err == nil && said != "" {
			err = errors.New(said)
		}
		answered <- err
	}()
	select {
	case err := <-answered:
		if err != nil {
			return fmt.Errorf("node %s: %s container %s: %w", s.node.name, what, id, err)
		}
		return nil
	case <-ctx.Done():
		_ = s.cmd.Process.Kill() // what comes later would be taken for the answer to the next
		return context.Cause(ctx)
	}
}

// Close ends the shell, by the end of its input. In a node that is frozen, or behind an engine that hangs, that does not end it: then the
// command here is ended.
func (s *Shell) Close() error {
	_ = s.in.Close()
	impatient := time.AfterFunc(s.cmd.WaitDelay, func() { _ = s.cmd.Process.Kill() })
	defer impatient.Stop()
	return s.cmd.Wait()
}
