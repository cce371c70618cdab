package nodeimage

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters/binaries"
)

// Stand-ins: a debootstrap that tells through a pipe for as long as anything of it lives, and that goes on for as long as the file hold is
// there; an unshare without namespaces, for machines that give none to a test.
const (
	standIn = `#!/bin/sh
for root; do :; done
mkdir -p $root/usr/sbin
if [ -e $STAND_INS/hold ]; then
	exec 9> $STAND_INS/alive
	echo begun >&9
	(while [ -e $STAND_INS/hold ]; do sleep 1; done) &
	i=0
	while [ -e $STAND_INS/hold ]; do i=$((i+1)); mkdir -p $root/var/$i; sleep 0.01; done
fi
for tool in nft xtables-nft-multi xtables-legacy-multi; do echo text > $root/usr/sbin/$tool; done
`
	noNamespaces = `#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
`
)

// TestAKilledBuildLeavesNobodyAtWork kills a build with SIGKILL in the middle of debootstrap: what it ran dies with it, and the next build
// removes what it left and comes to its end.
func TestAKilledBuildLeavesNobodyAtWork(t *testing.T) {
	if cache := os.Getenv("STAND_INS_CACHE"); cache != "" { // the build that is killed
		b := &builder{dir: cache}
		if _, err := binaries.Lock(t.Context(), b.dir, "building a node image", nil); err != nil {
			t.Fatal(err)
		}
		_, err := b.step(t.Context(), "system-1", b.system)
		t.Fatalf("it came to its end: %v", err)
	}
	bin, cache := t.TempDir(), t.TempDir()
	begun := killInDebootstrap(t, bin, cache)

	b := &builder{dir: cache}
	unlock, err := binaries.Lock(t.Context(), b.dir, "building a node image", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	older := filepath.Join(cache, "store-of-an-older-recipe"+unfinished)
	for _, dir := range []string{older, b.sockets()} {
		if err := os.MkdirAll(filepath.Join(dir, "rest"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, begun); gone <- err }() // to its end, when the last that could write is dead
	select {
	case err := <-gone:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("debootstrap lives on after its build was killed")
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*"+unfinished)); len(left) > 0 {
		t.Errorf("the next build leaves %v", left)
	}
	if _, err := os.Stat(b.sockets()); err == nil {
		t.Errorf("the next build leaves %s", b.sockets())
	}

	if err := os.Remove(filepath.Join(bin, "hold")); err != nil {
		t.Fatal(err)
	}
	dir, err := b.step(t.Context(), "system-1", b.system)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("tar", "--list", "--file", filepath.Join(dir, "system.tar"), "./var").CombinedOutput()
	if err == nil {
		t.Errorf("the killed build's files are in the next one's: %s", out)
	}
}

// killInDebootstrap puts the stand-ins into PATH and kills a build that is in the middle of them. What it returns ends when all of them are dead.
func killInDebootstrap(t *testing.T, bin, cache string) io.Reader {
	t.Helper()
	t.Setenv("STAND_INS", bin)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	write(t, filepath.Join(bin, "debootstrap"), standIn)
	write(t, filepath.Join(bin, "hold"), "")
	if exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "true").Run() != nil {
		t.Log("this machine gives no namespaces: with a stand-in for unshare")
		write(t, filepath.Join(bin, "unshare"), noNamespaces)
	}
	alive := filepath.Join(bin, "alive")
	if out, err := exec.Command("mkfifo", alive).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	build := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	build.Env = append(os.Environ(), "STAND_INS_CACHE="+cache)
	build.Stdout, build.Stderr = t.Output(), t.Output()
	if err := build.Start(); err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- build.Wait() }()
	words := make(chan *bufio.Reader, 1)
	go func() {
		pipe, err := os.Open(alive) // waits for debootstrap
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = pipe.Close() })
		words <- bufio.NewReader(pipe)
	}()
	var begun *bufio.Reader
	select {
	case begun = <-words:
	case err := <-end:
		t.Fatalf("the build did not come to debootstrap: %v", err)
	}
	if said, err := begun.ReadString('\n'); said != "begun\n" {
		t.Fatalf("%q, %v", said, err)
	}
	if err := build.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-end
	return begun
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
