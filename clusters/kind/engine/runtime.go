package engine

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// The shim is embedded, so that a squall that was installed builds it as well as one in a checkout.
//
//go:embed shim/main.go shim/request.go shim/capabilities.go shim/edit.go
var shim embed.FS

const (
	runtimeName  = "squall-runc"
	runtimePath  = "/usr/local/lib/squall/" + runtimeName
	daemonConfig = "/etc/docker/daemon.json"
)

// lacksCapability tells whether this process may never hold CAP_SYS_RESOURCE, the capability that runc needs for every privileged container and that some machines withhold.
func lacksCapability() bool {
	const sysResource = 24 // linux/capability.h
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		if mask, ok := strings.CutPrefix(line, "CapBnd:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && bits&(1<<sysResource) == 0
		}
	}
	return false
}

// installRuntime builds the shim and makes it the engine's default runtime, from the engine's next start on.
func installRuntime(ctx context.Context, path, config string) error {
	if err := buildShim(ctx, path); err != nil {
		return fmt.Errorf("build the runtime for machines without CAP_SYS_RESOURCE: %w", err)
	}
	before, err := os.ReadFile(config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	after, err := addRuntime(before, runtimeName, path)
	if err != nil {
		return fmt.Errorf("%s: %w", config, err)
	}
	if string(after) == string(before) {
		return nil
	}
	return replace(config, after, 0o644)
}

// addRuntime adds the runtime to a daemon.json and leaves all else in it as it is.
func addRuntime(config []byte, name, path string) ([]byte, error) {
	settings := map[string]json.RawMessage{}
	if len(strings.TrimSpace(string(config))) > 0 {
		if err := json.Unmarshal(config, &settings); err != nil {
			return nil, fmt.Errorf("%w; repair the file by hand", err)
		}
	}
	runtimes := map[string]json.RawMessage{}
	if text, ok := settings["runtimes"]; ok {
		if err := json.Unmarshal(text, &runtimes); err != nil {
			return nil, fmt.Errorf("runtimes: %w; repair the file by hand", err)
		}
	}
	var standard string
	if text, ok := settings["default-runtime"]; ok {
		if err := json.Unmarshal(text, &standard); err != nil {
			return nil, fmt.Errorf("default-runtime: %w; repair the file by hand", err)
		}
	}
	if standard != "" && standard != "runc" && standard != name {
		return nil, fmt.Errorf("default-runtime is %q, which Squall does not replace; take the line out and try again: privileged containers need %s here, as this machine lacks CAP_SYS_RESOURCE", standard, name)
	}
	var current struct{ Path string }
	if text, ok := runtimes[name]; ok && json.Unmarshal(text, &current) == nil && current.Path == path && standard == name {
		return config, nil
	}
	entry, err := encode(map[string]string{"path": path})
	if err != nil {
		return nil, err
	}
	runtimes[name] = entry
	if settings["runtimes"], err = encode(runtimes); err != nil {
		return nil, err
	}
	if settings["default-runtime"], err = encode(name); err != nil {
		return nil, err
	}
	return encode(settings)
}

// encode indents as people write the file, and leaves <, > and & as they came, unlike json.Marshal.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return text.Bytes(), err
}

// buildShim compiles the embedded source to path, statically.
func buildShim(ctx context.Context, path string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("no go command in PATH; get it from https://go.dev/dl/ or with: apt-get install golang-go")
	}
	dir, err := os.MkdirTemp("", "squall-runtime-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files, err := fs.Glob(shim, "shim/*.go")
	if err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", runtimeName}
	for _, file := range files {
		text, err := shim.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o644); err != nil {
			return err
		}
		args = append(args, filepath.Base(file))
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GO111MODULE=off", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	binary, err := os.ReadFile(filepath.Join(dir, runtimeName))
	if err != nil {
		return err
	}
	return replace(path, binary, 0o755)
}

// replace writes a file under its name in one step: an engine may be running the old one.
func replace(path string, content []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	unfinished := path + ".new"
	if err := os.WriteFile(unfinished, content, mode); err != nil {
		return err
	}
	if err := os.Chmod(unfinished, mode); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}
