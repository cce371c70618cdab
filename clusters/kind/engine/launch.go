package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	logFile   = "/var/log/squall/dockerd.log"
	startTime = 90 * time.Second
)

// launch starts dockerd: through systemd where that runs the machine, else in a session of its own, so that it outlives whoever asked for it.
func launch(ctx context.Context, progress io.Writer) error {
	if _, err := os.Stat("/run/systemd/system"); err == nil { // sd_booted(3)
		return run(ctx, progress, "systemctl", "enable", "--now", "docker")
	}
	dockerd, err := program("dockerd")
	if err != nil {
		return err
	}
	running, err := dropStalePID("/var/run/docker.pid", "dockerd", "/proc")
	if err != nil {
		return err
	}
	if running {
		return fmt.Errorf("a dockerd runs already (/var/run/docker.pid) but does not answer at %s; end it and try again", socket)
	}
	if _, err := dropStalePID("/var/run/docker/containerd/containerd.pid", "containerd", "/proc"); err != nil {
		return err // one that runs is taken over by the new dockerd
	}
	if err := os.MkdirAll(filepath.Dir(logFile), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	begin, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	cmd := exec.Command(dockerd) // not of ctx: it stays
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	fmt.Fprintln(progress, "starting", dockerd, "in a session of its own, log in", logFile)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", dockerd, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return await(ctx, ended, begin)
}

// await returns when the engine answers, or ends.
func await(ctx context.Context, ended <-chan error, begin int64) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		if _, err := Check(ctx); err == nil {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("dockerd ended at once: %w: %s (all of it in %s)", errors.Join(err, errors.New("the end of its log")), logSince(begin), logFile)
		case <-ctx.Done():
			return fmt.Errorf("dockerd runs but does not answer: %w: %s (all of it in %s)", ctx.Err(), logSince(begin), logFile)
		case <-time.After(time.Second):
		}
	}
}

func logSince(begin int64) string {
	file, err := os.Open(logFile)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, begin, 1<<20))
	if err != nil {
		return err.Error()
	}
	return lastLines(string(text), 5)
}

// dropStalePID tells whether the process of a pid file runs the program. If it is gone or has become another program, as after a machine was switched off, the file is removed:
// dockerd only asks whether the process exists.
func dropStalePID(file, name, proc string) (running bool, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	comm, err := os.ReadFile(filepath.Join(proc, strings.TrimSpace(string(text)), "comm"))
	if err == nil && strings.TrimSpace(string(comm)) == name {
		return true, nil
	}
	return false, os.Remove(file)
}
