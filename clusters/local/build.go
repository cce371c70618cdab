package local

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Version is the Kubernetes version of the control plane: that of kind's default node image.
const Version = "v1.37.2"

// sources is the module of the control plane. It is a module of its own because Kubernetes needs replace lines that nobody
// else wants, and it is embedded under other names because neither embedding nor the zip of a published module reaches
// into a nested module: like this an installed squall can build it as well as one from a checkout.
//
// For another version: copy the three to a directory without the .txt, take the build tag out of main.go (go mod tidy passes
// over files tagged ignore), set the version of k8s.io/kubernetes, of its staging modules and of etcd as its go.mod has them,
// run go mod tidy, and copy go.mod and go.sum back.
//
//go:embed controlplane/main.go controlplane/go.mod.txt controlplane/go.sum.txt
var sources embed.FS

// ErrNotBuilt says that there is no control plane on this machine yet.
var ErrNotBuilt = errors.New("the control plane is not built: run `make controlplane` (about 12 minutes the first time on 2 cores)")

// Built returns the path of the control plane, or ErrNotBuilt.
func Built() (string, error) {
	dir, err := cache()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "controlplane")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w (looked for %s)", ErrNotBuilt, path)
	}
	return path, nil
}

// Build returns the path of the control plane, after building it if this machine has none. What an interrupted build
// compiled is in Go's build cache, so the next one goes on from there.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	if path, err := Built(); err == nil {
		return path, nil
	}
	dir, err := cache()
	if err != nil {
		return "", err
	}
	unlock, err := lock(ctx, dir, progress)
	if err != nil {
		return "", fmt.Errorf("build the control plane: %w", err)
	}
	defer unlock()
	if path, err := Built(); err == nil {
		return path, nil // somebody else was building it
	}
	if err := build(ctx, dir, progress); err != nil {
		return "", fmt.Errorf("build the control plane %s: %w", Version, err)
	}
	return Built()
}

// build compiles aside and renames: a file under the final name is complete.
func build(ctx context.Context, dir string, progress io.Writer) error {
	src := filepath.Join(dir, "src")
	if err := unpack(src); err != nil {
		return err
	}
	unfinished := filepath.Join(dir, "unfinished")
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-trimpath", "-ldflags", ldflags(), "-o", unfinished, "main.go")
	cmd.Dir = src
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	teller := &teller{out: progress}
	cmd.Stdout, cmd.Stderr = teller, teller
	teller.say("building Kubernetes %s: about 12 minutes the first time on 2 cores, then never again", Version)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; the next build goes on from here: %w", ctx.Err())
		}
		return fmt.Errorf("%w\n%s", err, teller.tail())
	}
	return os.Rename(unfinished, filepath.Join(dir, "controlplane"))
}

// unpack writes the module to a directory.
func unpack(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"main.go", "go.mod.txt", "go.sum.txt"} {
		text, err := sources.ReadFile("controlplane/" + name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(name, ".txt")), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ldflags stamp the version, as Kubernetes' own build does (hack/lib/version.sh): without it the programs take themselves for
// v0.0.0 and judge feature gates by that.
func ldflags() string {
	const stamp = "k8s.io/component-base/version."
	numbers := strings.SplitN(strings.TrimPrefix(Version, "v"), ".", 3)
	return strings.Join([]string{"-s", "-w", "-X", stamp + "gitVersion=" + Version, "-X", stamp + "gitMajor=" + numbers[0],
		"-X", stamp + "gitMinor=" + numbers[1], "-X", stamp + "gitTreeState=clean"}, " ")
}

// cache is the directory of this very control plane: by version, and by what it is built from.
func cache() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the control plane: %w", err)
	}
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.GOOS, runtime.GOARCH, ldflags())
	for _, name := range []string{"main.go", "go.mod.txt", "go.sum.txt"} {
		text, err := sources.ReadFile("controlplane/" + name)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	return filepath.Join(base, "squall", "controlplane-"+Version+"-"+hex.EncodeToString(sum.Sum(nil)[:4])), nil
}
