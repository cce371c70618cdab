package nodeimage

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// say writes a line of progress with the time since the start.
func say(progress io.Writer, since time.Time, format string, a ...any) {
	if progress != nil {
		fmt.Fprintf(progress, "[%4.0fs] "+format+"\n", append([]any{time.Since(since).Seconds()}, a...)...)
	}
}

func (b *builder) say(format string, a ...any) { say(b.progress, b.started, format, a...) }

// run runs a program; what it says is told now and then, and the last of it stands in the error. It does not outlive this process: after a
// SIGKILL nobody goes on writing where the next build begins.
func (b *builder) run(ctx context.Context, input, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = apart()
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", "PATH="+os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin")
	said := &lines{tell: func(line string) { b.say("  %s", line) }, told: time.Now()}
	cmd.Stdout, cmd.Stderr = said, said
	// The kernel takes the death of the thread that started a child for that of its parent (prctl(2), PR_SET_PDEATHSIG).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, strings.Join(said.last, "\n"))
	}
	return nil
}

// lines keeps the last lines of what a program says, and tells one of them now and then.
type lines struct {
	tell func(line string)
	told time.Time
	part string
	last []string
}

func (l *lines) Write(p []byte) (int, error) {
	split := strings.Split(l.part+string(p), "\n")
	l.part = split[len(split)-1]
	l.last = append(l.last, split[:len(split)-1]...)
	l.last = l.last[max(0, len(l.last)-10):]
	if len(split) > 1 && time.Since(l.told) >= 5*time.Second {
		l.told = time.Now()
		l.tell(strings.TrimPrefix(split[len(split)-2], "I: "))
	}
	return len(p), nil
}
