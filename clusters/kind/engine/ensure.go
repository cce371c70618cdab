package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/squall-chaos/squall/clusters/binaries"
)

// lockDir has the lock that keeps two from starting engines at once.
const lockDir = "/run/lock/squall-engine"

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
	unlock, err := binaries.Lock(ctx, lockDir, "starting a Docker engine", progress)
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
