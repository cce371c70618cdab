package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// Program is one of the programs of the control plane.
type Program string

// The programs, in the order in which they start.
const (
	Etcd              Program = "etcd"
	APIServer         Program = "kube-apiserver"
	ControllerManager Program = "kube-controller-manager"
	Scheduler         Program = "kube-scheduler"
)

// Process is one program of the control plane. Its faults act at once.
type Process struct {
	program Program
	binary  string
	args    []string
	dir     string // working directory
	log     string // file

	mu      sync.Mutex
	retired bool // never to be started again
	cmd     *exec.Cmd
	done    chan struct{} // closed when cmd has ended
	end     error         // how it ended
}

// Start runs the program, unless it runs.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.retired:
		return fmt.Errorf("start %s: its control plane is closed", p.program)
	case p.cmd != nil && !closed(p.done):
		return nil
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.program, err)
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	cmd := exec.Command(p.binary, append([]string{string(p.program)}, p.args...)...)
	cmd.Dir = p.dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()
	done := make(chan struct{})
	if err := p.spawn(cmd, done); err != nil {
		return fmt.Errorf("start %s: %w", p.program, err)
	}
	p.cmd, p.done = cmd, done
	return nil
}

// spawn starts the child on a thread that lives as long as the child does: Pdeathsig strikes when the thread that started the
// child ends, not the process (prctl(2), PR_SET_PDEATHSIG).
func (p *Process) spawn(cmd *exec.Cmd, done chan<- struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		end := cmd.Wait()
		p.mu.Lock()
		p.end = end
		p.mu.Unlock()
		close(done)
	}()
	return <-started
}

// retire kills the program for good.
func (p *Process) retire() error {
	p.mu.Lock()
	p.retired = true
	p.mu.Unlock()
	return p.Kill()
}

// Kill ends the program with SIGKILL, frozen or not, and waits for its end.
func (p *Process) Kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.ended()
	return nil
}

// Freeze stops the program where it is (SIGSTOP): its connections stay open, and nothing answers.
func (p *Process) Freeze() error { return p.signal(syscall.SIGSTOP) }

// Thaw lets a frozen program go on.
func (p *Process) Thaw() error { return p.signal(syscall.SIGCONT) }

// PID is the process ID of the last start, 0 before the first.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Alive tells whether the program runs, frozen or not.
func (p *Process) Alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd != nil && !closed(p.done)
}

// signal is harmless to a program that has ended.
func (p *Process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || closed(p.done) {
		return nil
	}
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s of %s: %w", s, p.program, err)
	}
	return nil
}

// ended is closed when the last start has ended.
func (p *Process) ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	return p.done
}

// failure describes the end of a program that should have gone on, with the end of its log.
func (p *Process) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, _ := os.ReadFile(p.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Errorf("%s ended (%v); the end of %s:\n%s", p.program, p.end, p.log, strings.Join(lines[max(0, len(lines)-10):], "\n"))
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
