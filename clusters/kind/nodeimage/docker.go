package nodeimage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// docker runs the docker command, as kind does, so that contexts and remote engines are those that the user set.
func docker(ctx context.Context, input io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdin = input
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", explain(fmt.Errorf("docker %s: %w: %s", args[0], err, strings.TrimSpace(errs.String())))
	}
	return strings.TrimSpace(out.String()), nil
}

func present(ctx context.Context, image string) (bool, error) {
	_, err := docker(ctx, nil, "image", "inspect", "--format", "{{.Id}}", image)
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "no such image") {
		return false, nil
	}
	return err == nil, err
}

// architecture refuses an image of another architecture here: in the cluster it would be a node that never becomes ready.
func architecture(ctx context.Context, image string) error {
	of, err := docker(ctx, nil, "image", "inspect", "--format", "{{.Architecture}}", image)
	if err != nil {
		return err
	}
	engine, err := engineArchitecture(ctx)
	if err == nil && of != engine {
		err = fmt.Errorf("%w: %s is for %s, the engine's machine is %s: name another with --node-image, or build one with `squall node-image build`", ErrUnfit, image, of, engine)
	}
	return err
}

// engineArchitecture is by Go's names, like an image's.
func engineArchitecture(ctx context.Context) (string, error) {
	return docker(ctx, nil, "version", "--format", "{{.Server.Arch}}")
}

// explain adds the remedy to errors that have a usual one; those of other programs arrive as text.
func explain(err error) error {
	if err == nil {
		return nil
	}
	switch text := strings.ToLower(err.Error()); {
	case errors.Is(err, syscall.ENOSPC), strings.Contains(text, "no space left on device"):
		return fmt.Errorf("the disk is full: make room (`docker system prune`, `go clean -cache`); the build needs about %d GB and goes on from its last complete step: %w", room>>30, err)
	case strings.Contains(text, "docker daemon"), strings.Contains(text, `"docker": executable file not found`):
		return fmt.Errorf("no Docker engine answers: run `make engine` (Debian, as root), or start the one that you have: %w", err)
	}
	return err
}

// supported says whether the image can be built on this machine for the engine.
func supported(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("a node image can be built on Linux only, and this is %s: where a registry can be reached none needs to be built", runtime.GOOS)
	}
	engine, err := engineArchitecture(ctx)
	if err != nil {
		return err
	}
	if engine != runtime.GOARCH {
		return fmt.Errorf("the engine's machine is %s, this one is %s: build the image there", engine, runtime.GOARCH)
	}
	return nil
}
