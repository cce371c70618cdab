package main

import (
	"bytes"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// fullDisk is a writer that has no room.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "stdout", Err: syscall.ENOSPC}
}

// TestFullDisk: that there is no room for the results is nothing to report to whoever makes Squall.
func TestFullDisk(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"version"}, {"run", "demo", "--seed", "1"}, {"run", "demo", "--seed", "1", "-o", "json"}} {
		var err bytes.Buffer
		if code := execute(args, fullDisk{}, &err); code != exitUsage {
			t.Errorf("%q: status %d, expected %d", args, code, exitUsage)
		}
		if !strings.Contains(err.String(), "no space left") || strings.Contains(err.String(), "report it") {
			t.Errorf("%q: it says\n%s", args, err.String())
		}
	}
}
