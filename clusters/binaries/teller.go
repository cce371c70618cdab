package binaries

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// teller turns the output of go build -v, one line per package, into a line now and then. What was said last is kept for an error.
type teller struct {
	out     io.Writer // may be nil
	part    string    // of a line
	last    []string
	count   int
	at      time.Time
	started time.Time
}

// The lines of an error, and the time between two lines of progress.
const (
	tailLines = 20
	every     = 5 * time.Second
)

// Write takes output of the compiler.
func (t *teller) Write(p []byte) (int, error) {
	lines := strings.Split(t.part+string(p), "\n")
	t.part = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		t.line(line)
	}
	return len(p), nil
}

func (t *teller) line(line string) {
	t.last = append(t.last, line)
	t.last = t.last[max(0, len(t.last)-tailLines):]
	if strings.HasPrefix(line, "go: ") || strings.Contains(line, " ") {
		return // a download, or a message
	}
	t.count++
	if time.Since(t.at) >= every {
		t.at = time.Now()
		t.say("%d packages compiled in %s, now %s", t.count, time.Since(t.started).Round(time.Second), line)
	}
}

func (t *teller) say(format string, a ...any) {
	if t.out != nil {
		fmt.Fprintf(t.out, format+"\n", a...)
	}
}

func (t *teller) tail() string { return strings.Join(append(t.last, t.part), "\n") }
