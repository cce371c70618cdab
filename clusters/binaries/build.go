package binaries

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Built returns the directory of a set's programs, or ErrNotBuilt.
func Built(set Set) (string, error) {
	dir, err := cache(set)
	if err != nil {
		return "", err
	}
	programs := filepath.Join(dir, "bin")
	if _, err := os.Stat(programs); err != nil {
		return "", fmt.Errorf("%s %s is %w: run `%s` (%s; looked for %s)", set.Name, set.Version, ErrNotBuilt, set.Command, set.About, programs)
	}
	return programs, nil
}

// Build returns the directory of a set's programs, after building them if this machine does not have them. What an interrupted build
// compiled is in Go's build cache, so the next one goes on from there. Progress may be nil.
func Build(ctx context.Context, set Set, progress io.Writer) (string, error) {
	if programs, err := Built(set); err == nil {
		return programs, nil
	}
	dir, err := cache(set)
	if err != nil {
		return "", err
	}
	unlock, err := Lock(ctx, dir, "building "+set.Name, progress)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", set.Name, err)
	}
	defer unlock()
	if programs, err := Built(set); err == nil {
		return programs, nil // somebody else was building it
	}
	if err := build(ctx, set, dir, progress); err != nil {
		return "", fmt.Errorf("build %s %s: %w", set.Name, set.Version, explain(err))
	}
	return Built(set)
}

// build compiles aside and renames: a directory under the final name is complete.
func build(ctx context.Context, set Set, dir string, progress io.Writer) error {
	src, unfinished := filepath.Join(dir, "src"), filepath.Join(dir, "unfinished")
	if err := errors.Join(os.RemoveAll(src), os.RemoveAll(unfinished)); err != nil {
		return err
	}
	if err := unpack(set.Files, src); err != nil {
		return err
	}
	if err := os.MkdirAll(unfinished, 0o755); err != nil {
		return err
	}
	if set.Before != nil {
		if err := set.Before(ctx, src); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "go", arguments(set, unfinished)...)
	cmd.Dir = src
	cmd.Env = append(os.Environ(), cgo(set), "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	// An interrupt reaches the compilers as well, and by name: what the go command would leave in its work directory it removes itself.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	teller := &teller{out: progress, started: time.Now()}
	cmd.Stdout, cmd.Stderr = teller, teller
	teller.say("building %s %s: %s", set.Name, set.Version, set.About)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; the next build goes on from here: %w", ctx.Err())
		}
		return fmt.Errorf("%w\n%s", err, teller.tail())
	}
	for _, program := range set.Programs {
		if _, err := os.Stat(filepath.Join(unfinished, program)); err != nil {
			return fmt.Errorf("the build left no program %s: %w", program, err)
		}
	}
	teller.say("built %s %s in %s", set.Name, set.Version, time.Since(teller.started).Round(time.Second))
	return os.Rename(unfinished, filepath.Join(dir, "bin"))
}

// arguments are those of the go command. A main.go is named by itself, since its build tag hides it from its package.
func arguments(set Set, out string) []string {
	if len(set.Programs) == 1 {
		out = filepath.Join(out, set.Programs[0])
	} else {
		out += string(filepath.Separator) // a directory, even for one package
	}
	args := []string{"build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", ldflags(set), "-o", out}
	if len(set.Tags) > 0 {
		args = append(args, "-tags", strings.Join(set.Tags, ","))
	}
	return append(args, set.Packages...)
}

func cgo(set Set) string {
	if set.CGO {
		return "CGO_ENABLED=1"
	}
	return "CGO_ENABLED=0"
}

func ldflags(set Set) string {
	flags := "-s -w"
	for _, stamp := range set.Stamps {
		flags += " -X " + stamp
	}
	return flags
}

// unpack writes the module to a directory.
func unpack(files fs.FS, dir string) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(name, ".txt")))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
}

// cache is the directory of this very set: by version, and by what it is built from.
func cache(set Set) (string, error) {
	base, err := Cache()
	if err != nil {
		return "", err
	}
	key, err := Key(set)
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "binaries", set.Name+"-"+set.Version+"-"+key), nil
}

// Key is short and changes with whatever a set is built from.
func Key(set Set) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.GOOS, runtime.GOARCH, strings.Join(arguments(set, ""), " "))
	if set.CGO {
		fmt.Fprintln(sum, cgo(set))
	}
	err := fs.WalkDir(set.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(set.Files, name)
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path.Clean(name), len(text))
		sum.Write(text)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("read the module of %s: %w", set.Name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)[:4]), nil
}

// Cache is Squall's directory under the user's cache directory.
func Cache() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for what is built: %w; set XDG_CACHE_HOME to a directory", err)
	}
	return filepath.Join(base, "squall"), nil
}

// explain adds the remedy to errors that have a usual one. The compilers' own errors arrive as text.
func explain(err error) error {
	switch text := err.Error(); {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w: install Go (https://go.dev/dl), or put its bin directory into PATH", err)
	case errors.Is(err, syscall.ENOSPC), strings.Contains(text, "no space left on device"):
		return fmt.Errorf("the disk is full: make room (go clean -cache frees what compilers left; Squall's own directory is %s): %w", where(), err)
	case strings.Contains(text, "dial tcp"), strings.Contains(text, "no such host"):
		return fmt.Errorf("no Go module proxy answers: set GOPROXY (and HTTPS_PROXY behind a corporate proxy) to one that does: %w", err)
	}
	return err
}

func where() string {
	dir, err := Cache()
	if err != nil {
		return "the user's cache directory"
	}
	return dir
}
