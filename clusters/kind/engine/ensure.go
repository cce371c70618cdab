package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const lockFile = "/run/lock/squall-engine.lock"

// Ensure leaves a working engine alone, and otherwise installs and starts one: on Debian, as root.
func Ensure(ctx context.Context, progress io.Writer) error {
	if progress == nil {
		progress = io.Discard
	}
	status, err := Check(ctx)
	if err != nil {
		if status, err = start(ctx, err, progress); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(progress, status, "answers: left as it is")
	}
	if len(lowLimits(sysctls)) > 0 && os.Geteuid() == 0 {
		raised, err := raiseLimits(sysctls)
		for _, change := range raised {
			fmt.Fprintln(progress, "raised", change, "until this machine starts again")
		}
		if err != nil {
			fmt.Fprintln(progress, "cannot raise it:", err)
		}
	}
	for _, warning := range warnings(status) {
		fmt.Fprintln(progress, "warning:", warning)
	}
	return nil
}

// start makes an engine answer where none does.
func start(ctx context.Context, reason error, progress io.Writer) (Status, error) {
	var unavailable *Unavailable
	if !errors.As(reason, &unavailable) || !unavailable.startable {
		return Status{}, reason
	}
	if os.Geteuid() != 0 {
		return Status{}, fmt.Errorf("%w (this user may not: installing and starting one takes root, as in `sudo make engine`)", reason)
	}
	unlock, err := lock(ctx, progress)
	if err != nil {
		return Status{}, err
	}
	defer unlock()
	if status, err := Check(ctx); err == nil {
		return status, nil // somebody else started it meanwhile
	}
	// Before the packages: their scripts may start the engine, and it reads its settings then.
	if lacksCapability() {
		fmt.Fprintln(progress, "this machine lacks CAP_SYS_RESOURCE: privileged containers go through", runtimePath)
		if err := installRuntime(ctx, runtimePath, daemonConfig); err != nil {
			return Status{}, err
		}
	}
	if err := install(ctx, progress); err != nil {
		return Status{}, err
	}
	if status, err := Check(ctx); err == nil {
		fmt.Fprintln(progress, status, "was started by its package")
		return status, nil
	}
	if err := launch(ctx, progress); err != nil {
		return Status{}, err
	}
	status, err := Check(ctx)
	if err == nil {
		fmt.Fprintln(progress, status, "was started")
	}
	return status, err
}

// lock keeps two from starting engines at once. The kernel drops the lock of a process that dies.
func lock(ctx context.Context, progress io.Writer) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(lockFile), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", lockFile, err)
		}
		if !told {
			fmt.Fprintln(progress, "another process is starting a Docker engine: waiting for it")
		}
		if err := pause(ctx, time.Second); err != nil {
			_ = file.Close()
			return nil, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

var systemDirs = []string{"/usr/local/sbin", "/usr/sbin", "/sbin"}

// program finds a system program also where an ordinary PATH does not lead.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range systemDirs {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

func warnings(status Status) []Warning {
	found := lowLimits(sysctls)
	if status.Host == "unix://"+socket && status.Runtime == "runc" && lacksCapability() {
		found = append(found, Warning{
			Reason: "this machine lacks CAP_SYS_RESOURCE, and the engine's default runtime is runc: privileged containers fail with \"unable to apply caps\"",
			Remedy: "stop the engine and run `make engine`, which starts it with a runtime that asks for what the machine has",
		})
	}
	return found
}
