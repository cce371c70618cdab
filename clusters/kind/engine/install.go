package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// install gets what is missing of the engine, its client and iptables from Debian.
func install(ctx context.Context, progress io.Writer) error {
	missing := missingPrograms()
	if len(missing) == 0 {
		return nil
	}
	if _, err := program("apt-get"); err != nil {
		return &Unavailable{
			Reason: "missing on this machine, which is not Debian and where Squall cannot install them: " + strings.Join(missing, ", "),
			Remedy: "install Docker Engine as https://docs.docker.com/engine/install/ has it, then start it",
		}
	}
	fmt.Fprintf(progress, "installing %s from Debian's packages\n", strings.Join(missing, ", "))
	if err := apt(ctx, progress, packages(missing, false)...); err != nil {
		// The lists may be old or missing, as in a fresh container.
		if updateErr := run(ctx, progress, "apt-get", "update", "-q"); updateErr != nil {
			return fmt.Errorf("install the Docker engine: %w", errors.Join(err, updateErr))
		}
		if err := apt(ctx, progress, packages(missing, false)...); err != nil {
			return fmt.Errorf("install the Docker engine: %w; is there a network, and does /etc/apt/sources.list name a mirror?", err)
		}
	}
	// Debian 12's docker.io has the client, Debian 13's leaves it to docker-cli.
	if _, err := exec.LookPath("docker"); err != nil {
		if err := apt(ctx, progress, packages(missing, true)...); err != nil {
			return fmt.Errorf("install the docker command: %w", err)
		}
	}
	if missing := missingPrograms(); len(missing) > 0 {
		return fmt.Errorf("still missing with Debian's packages installed: %s; is PATH=%s complete?", strings.Join(missing, ", "), os.Getenv("PATH"))
	}
	return nil
}

func missingPrograms() []string {
	var missing []string
	for _, name := range []string{"dockerd", "docker", "iptables"} {
		if _, err := program(name); err != nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// packages names the packages of missing programs.
func packages(missing []string, client bool) []string {
	if client {
		return []string{"docker-cli"}
	}
	var names []string
	for _, name := range missing {
		pkg := map[string]string{"dockerd": "docker.io", "docker": "docker.io", "iptables": "iptables"}[name]
		if len(names) == 0 || names[len(names)-1] != pkg {
			names = append(names, pkg)
		}
	}
	return names
}

func apt(ctx context.Context, progress io.Writer, packages ...string) error {
	return run(ctx, progress, "apt-get", append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...)...)
}

// run shows a command's output only if it fails, last lines first to matter.
func run(ctx context.Context, progress io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	fmt.Fprintln(progress, "  "+name, strings.Join(args, " "))
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, lastLines(string(out), 5))
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
