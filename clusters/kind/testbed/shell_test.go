package testbed

import (
	"testing"
	"time"
)

// TestAShellThatHangsIsClosed: a node that is frozen does not see the end of the shell's input, and a run must come to its end all the same.
func TestAShellThatHangsIsClosed(t *testing.T) {
	fakeDocker(t, `exec sleep 60`)
	s, err := (&Node{name: "n"}).Shell(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	if err := s.Close(); err == nil || time.Since(from) > 40*time.Second {
		t.Errorf("closed after %s, %v; want an error, soon", time.Since(from), err)
	}
}
