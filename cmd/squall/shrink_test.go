package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/scenarios"
)

// TestMinimalTest compiles what shrink writes: it fails for the dispatcher that failed, and passes for one that keeps the invariant.
func TestMinimalTest(t *testing.T) {
	text, ok := scenarios.LibraryFile("demo")
	if !ok {
		t.Fatal("there is no scenario demo")
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for dispatcher, passes := range map[string]bool{"naive": false, "reference": true} {
		dir := t.TempDir()
		write := func(name string, content []byte) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
			return path
		}
		write(minimalFile, text)
		test := write(minimalTest, goTest(dispatcher, "I1-overlap"))
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(module, minimalDir, minimalTest): test}})
		if err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(dir, "minimal.test")
		build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", write("overlay.json", overlay), "-o", program, "./"+minimalDir)
		build.Dir = module
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		run := exec.Command(program)
		run.Dir = dir
		out, err := run.CombinedOutput()
		if (err == nil) != passes || !passes && !strings.Contains(string(bytes.TrimSpace(out)), "I1-overlap at") {
			t.Errorf("%s: %v\n%s", dispatcher, err, out)
		}
	}
}
