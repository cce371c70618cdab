package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// kinds are the namespaces by nsexec's flags.
var kinds = map[string]int{"-m": unix.CLONE_NEWNS, "-i": unix.CLONE_NEWIPC, "-n": unix.CLONE_NEWNET, "-p": unix.CLONE_NEWPID}

// entry is what nsexec was asked for: [-l] [-m PATH] [-i PATH] [-n PATH] [-p PATH] -- COMMAND ARGUMENT...
type entry struct {
	namespaces []namespace
	local      bool // the command is found before the mount namespace changes
	command    []string
}

type namespace struct {
	path string
	kind int
}

func (e entry) has(kind int) bool {
	for _, n := range e.namespaces {
		if n.kind == kind {
			return true
		}
	}
	return false
}

func parse(args []string) (entry, error) {
	var e entry
	for len(args) > 0 && args[0] != "--" {
		kind, known := kinds[args[0]]
		switch {
		case args[0] == "-l":
			e.local, args = true, args[1:]
			continue
		case !known:
			return e, fmt.Errorf("unknown flag %q; expected -l, -m, -i, -n or -p", args[0])
		case len(args) < 2:
			return e, fmt.Errorf("%s needs the path of a namespace", args[0])
		}
		e.namespaces, args = append(e.namespaces, namespace{args[1], kind}), args[2:]
	}
	if len(args) < 2 {
		return e, errors.New("no command after --")
	}
	e.command = args[1:]
	return e, nil
}

// nsexec executes a command in namespaces of another process.
func nsexec(args []string) error {
	e, err := parse(args)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // namespaces are a thread's
	path := e.command[0]
	if e.local || filepath.Base(path) == path {
		if found, err := exec.LookPath(path); err == nil {
			path = found
		}
	}
	if err := e.enter(); err != nil {
		return err
	}
	if !e.has(unix.CLONE_NEWPID) {
		return syscall.Exec(path, e.command, os.Environ())
	}
	return fork(path, e.command)
}

// enter opens all paths first: they are of the mount namespace that it may leave.
func (e entry) enter() error {
	var open []int
	for _, n := range e.namespaces {
		fd, err := unix.Open(n.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", n.path, err)
		}
		open = append(open, fd)
	}
	for i, n := range e.namespaces {
		if n.kind == unix.CLONE_NEWNS { // refused to threads that share a working directory
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return err
			}
		}
		if err := unix.Setns(open[i], n.kind); err != nil {
			return fmt.Errorf("enter %s: %w", n.path, err)
		}
	}
	return nil
}

// fork is for a pid namespace, which only children are in. Signals are passed on. The child gets no Pdeathsig: Go compares the parent's number
// in the child, and across a pid namespace that is 0.
func fork(path string, args []string) error {
	cmd := &exec.Cmd{Path: path, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGCONT, syscall.SIGUSR1)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	return err
}
