//go:build e2e

package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Shows its capabilities, or waits.
const source = `package main

import ("os"; "time")

func main() {
	if len(os.Args) > 1 {
		time.Sleep(time.Hour)
	}
	text, _ := os.ReadFile("/proc/self/status")
	os.Stdout.Write(text)
}
`

func docker(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// scratch imports an image with the one program, so that no registry is needed.
func scratch(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", binary, file)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var layer bytes.Buffer
	out := tar.NewWriter(&layer)
	if err := out.WriteHeader(&tar.Header{Name: "program", Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	tag := fmt.Sprintf("squall-engine-test:%d", os.Getpid())
	imported := exec.Command("docker", "import", "-", tag)
	imported.Stdin = &layer
	if out, err := imported.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { docker(context.Background(), t, "image", "rm", tag) })
	return tag
}

// What kind asks of an engine, on whatever machine this is: privileged containers, and privileged programs in them.
func TestTheEngineRunsPrivilegedContainers(t *testing.T) {
	var progress bytes.Buffer
	if err := Ensure(t.Context(), &progress); err != nil {
		t.Fatal(err)
	}
	status, err := Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(status, status.Warnings)
	image := scratch(t)
	if out := docker(t.Context(), t, "run", "--rm", "--privileged", image, "/program"); !strings.Contains(out, "CapEff:") {
		t.Errorf("run --privileged: %s", out)
	}
	name := fmt.Sprintf("squall-engine-test-%d", os.Getpid())
	docker(t.Context(), t, "run", "--detach", "--name", name, "--privileged", "--oom-score-adj=-500", image, "/program", "wait")
	t.Cleanup(func() { docker(context.Background(), t, "rm", "--force", name) })
	if out := docker(t.Context(), t, "exec", "--privileged", name, "/program"); !strings.Contains(out, "CapEff:") {
		t.Errorf("exec --privileged: %s", out)
	}
}

func TestEnsureLeavesAWorkingEngineAlone(t *testing.T) {
	if err := Ensure(t.Context(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	before, stamp := docker(t.Context(), t, "info", "--format", "{{.ID}} {{.DefaultRuntime}}"), time.Now()
	var progress bytes.Buffer
	if err := Ensure(t.Context(), &progress); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(progress.String(), "left as it is") {
		t.Errorf("said %s", &progress)
	}
	if after := docker(t.Context(), t, "info", "--format", "{{.ID}} {{.DefaultRuntime}}"); after != before {
		t.Errorf("the engine was %s and is %s", before, after)
	}
	if info, err := os.Stat(daemonConfig); err == nil && info.ModTime().After(stamp) {
		t.Errorf("%s was written", daemonConfig)
	}
}
