package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Status is an engine that answers.
type Status struct {
	Host          string // where it listens: unix:///var/run/docker.sock
	Version       string
	Storage       string // the driver: overlay2
	CgroupVersion string
	Runtime       string // the default OCI runtime
	Architecture  string // as uname has it: x86_64
	Warnings      []Warning
}

// Warning is what will get in the way of a cluster although the engine answers.
type Warning struct{ Reason, Remedy string }

func (w Warning) String() string { return w.Reason + "; " + w.Remedy }

func (s Status) String() string {
	return fmt.Sprintf("Docker %s at %s (storage %s, cgroup v%s, runtime %s)", s.Version, s.Host, s.Storage, s.CgroupVersion, s.Runtime)
}

// Unavailable says why no engine answers, and what helps.
type Unavailable struct {
	Reason, Remedy string
	Err            error
	startable      bool // Ensure may help
}

func (u *Unavailable) Error() string {
	if u.Err != nil {
		return fmt.Sprintf("%s: %v; %s", u.Reason, u.Err, u.Remedy)
	}
	return u.Reason + "; " + u.Remedy
}

func (u *Unavailable) Unwrap() error { return u.Err }

const (
	socket     = "/var/run/docker.sock"
	getClient  = "install the client: apt-get install docker-cli (docker.io before Debian 13), or see https://docs.docker.com/engine/install/"
	getEngine  = "get and start an engine with `make engine` as root on Debian, or see https://docs.docker.com/engine/install/"
	answerTime = 20 * time.Second
)

// Check asks the engine that the docker command would use. The error is an *Unavailable if there is none.
func Check(ctx context.Context) (Status, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if _, err := exec.LookPath("docker"); err != nil {
		if reachable(ctx, socket) {
			return Status{}, &Unavailable{Reason: "an engine listens at " + socket + ", but there is no docker command", Remedy: getClient}
		}
		return Status{}, &Unavailable{Reason: "there is no docker command", Remedy: getEngine, startable: defaultHost()}
	}
	host, err := endpoint(ctx)
	if err != nil {
		return Status{}, &Unavailable{Reason: "the docker command cannot tell which engine it uses", Remedy: "look at `docker context ls`", Err: err}
	}
	out, err := exec.CommandContext(ctx, "docker", "info", "--format", "{{json .}}").Output()
	var info struct {
		ServerVersion, Driver, CgroupVersion, DefaultRuntime, Architecture string
		ServerErrors                                                       []string
	}
	if jsonErr := json.Unmarshal(out, &info); err != nil || jsonErr != nil || info.ServerVersion == "" {
		return Status{}, diagnose(ctx, host, said(err, info.ServerErrors))
	}
	status := Status{Host: host, Version: info.ServerVersion, Storage: info.Driver, CgroupVersion: info.CgroupVersion, Runtime: info.DefaultRuntime, Architecture: info.Architecture}
	if status.CgroupVersion == "" {
		status.CgroupVersion = "1" // engines before 20.10 do not say, and know no other
	}
	status.Warnings = warnings(status)
	return status, nil
}

// endpoint is the engine of the current context, or of DOCKER_HOST.
func endpoint(ctx context.Context) (string, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, "docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// diagnose asks the socket itself what is wrong: the docker command only has words for it.
func diagnose(ctx context.Context, host string, err error) error {
	path, local := strings.CutPrefix(host, "unix://")
	if !local {
		return &Unavailable{Reason: "the Docker engine at " + host + " does not answer", Remedy: "start it, or choose another one with DOCKER_HOST or `docker context use`", Err: err}
	}
	conn, dialErr := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case dialErr == nil:
		_ = conn.Close()
		return &Unavailable{Reason: "the Docker engine at " + host + " takes connections but does not answer", Remedy: "look at its log (`journalctl -u docker`, or " + logFile + ")", Err: err}
	case errors.Is(dialErr, fs.ErrPermission):
		return &Unavailable{Reason: "no permission to use the Docker engine at " + host, Remedy: "run as root, or join the group with `sudo usermod -aG docker $USER` and log in again", Err: syscall.EACCES}
	case path != socket && path != "/run/docker.sock":
		return &Unavailable{Reason: "no Docker engine listens at " + host, Remedy: "start it, or choose another one with DOCKER_HOST or `docker context use`"}
	}
	return &Unavailable{Reason: "no Docker engine listens at " + host, Remedy: getEngine, startable: true}
}

// said is what the client said: newer ones on standard error, older ones in the document.
func said(err error, inDocument []string) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(bytes.TrimSpace(exit.Stderr)) > 0 {
		return errors.New(string(bytes.TrimSpace(exit.Stderr)))
	}
	if len(inDocument) > 0 {
		return errors.New(strings.Join(inDocument, "; "))
	}
	return err
}

func defaultHost() bool {
	return os.Getenv("DOCKER_HOST") == "" && (os.Getenv("DOCKER_CONTEXT") == "" || os.Getenv("DOCKER_CONTEXT") == "default")
}

func reachable(ctx context.Context, path string) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
