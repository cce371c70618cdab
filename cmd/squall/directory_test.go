//go:build unix

package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func writeHello(f *os.File) error {
	_, err := io.WriteString(f, "hello")
	return err
}

// TestWriteFileKeepsWhatIsNoFile: a pipe, a device or a link that a path names is written to, never replaced.
func TestWriteFileKeepsWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, err := os.ReadFile(pipe)
		if err != nil {
			text = []byte(err.Error())
		}
		read <- string(text)
	}()
	if err := checkFile(pipe); err != nil {
		t.Errorf("a pipe is refused: %v", err)
	}
	if err := writeFile(pipe, writeHello); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Fatalf("the pipe was replaced: %v %v", info.Mode(), err)
	}
	if got := <-read; got != "hello" {
		t.Errorf("the reader of the pipe got %q", got)
	}
	noScraps(t, dir)
}

// TestWriteFileThroughLinks: the link stays, and what it names is written.
func TestWriteFileThroughLinks(t *testing.T) {
	for name, before := range map[string]bool{"of a file": true, "of nothing yet": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
			if before {
				if err := os.WriteFile(target, []byte("what was there, and is longer"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("target", link); err != nil {
				t.Fatal(err)
			}
			if err := writeFile(link, writeHello); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("the link was replaced: %v %v", info.Mode(), err)
			}
			if text, err := os.ReadFile(target); err != nil || string(text) != "hello" {
				t.Errorf("the target has %q, %v", text, err)
			}
			noScraps(t, dir)
		})
	}
}

// TestWriteFileInPlaceReportsErrors: what could not be written to a pipe or a device is not passed over.
func TestWriteFileInPlaceReportsErrors(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = os.ReadFile(pipe) }()
	full := errors.New("no space left")
	if err := writeFile(pipe, func(*os.File) error { return full }); !errors.Is(err, full) || !strings.Contains(err.Error(), pipe) {
		t.Errorf("got %v", err)
	}
}
