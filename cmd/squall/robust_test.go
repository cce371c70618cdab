package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestNoArgumentsPanic draws command lines from words that mean something somewhere and words that mean nothing.
func TestNoArgumentsPanic(t *testing.T) {
	t.Chdir(t.TempDir())
	commands := []string{"run", "chaos", "demo", "replay", "shrink", "diff", "check", "show", "list", "schema", "explain", "doctor", "version", "completion", "help", "lint", "init", ""}
	words := []string{"demo", "latest", "", "-", "--", "-o", "json", "-o=html=", "-ojunit=/", "--seed", "-1", "--seeds", "0", "99999999999999999999", "--set", "a=b", "=",
		"--dir", "/dev/null", "/dev/null/x", "--world", "kind", "--from", "--budget", "1ns", "--color", "\x00", "--profile", "b0", "-q", "-v", "..", "\xff", "--until", "--help", "nul.yaml", "--chain", "--new-from", "--input", "a=.", "chain"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		args := []string{commands[random.IntN(len(commands))]}
		if runsLong(args) {
			args = append(args, "--dry-run") // here, where no flag before it takes it for its value
		}
		for range random.IntN(5) {
			args = append(args, words[random.IntN(len(words))])
		}
		var out, err bytes.Buffer
		code := execute(args, &out, &err)
		if !slices.Contains([]int{exitValid, exitInvalid, exitUsage, exitUnknown}, code) || strings.Contains(err.String(), "panic") {
			t.Errorf("squall %q: status %d\n%s", args, code, err.String())
		}
		if code == exitUsage && err.Len() == 0 && args[0] != "doctor" {
			t.Errorf("squall %q: status 2 without a word", args)
		}
	}
}

// runsLong tells whether the command would run the suite, or a scenario: those are tested by themselves.
func runsLong(args []string) bool { return args[0] == "chaos" || args[0] == "run" }
