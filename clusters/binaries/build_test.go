package binaries

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

// hello is a set that takes no time to build.
func hello(t *testing.T) Set {
	t.Helper()
	if cache, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil { // XDG_CACHE_HOME would move it, and have the runtime compiled anew
		t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return Set{
		Name: "hello", Version: "v1.0.0", Programs: []string{"hello"}, Packages: []string{"main.go"}, About: "no time", Command: "make hello",
		Files: fstest.MapFS{
			"go.mod.txt": {Data: []byte("module squall.local/hello\n\ngo 1.26\n")},
			"main.go":    {Data: []byte("//go:build ignore\n\npackage main\n\nvar word string\n\nfunc main() { println(word) }\n")},
		},
		Stamps: []string{"main.word=hello"},
	}
}

func TestASetIsBuiltOnce(t *testing.T) {
	set := hello(t)
	if dir, err := Built(set); !errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "make hello") {
		t.Fatalf("before the build: %q, %v", dir, err)
	}
	var said bytes.Buffer
	dir, err := Build(t.Context(), set, &said)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "hello")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("the program: %v, %v", info, err)
	}
	if !strings.Contains(said.String(), "no time") || !strings.Contains(said.String(), "built hello v1.0.0") {
		t.Errorf("said %q", said.String())
	}
	said.Reset()
	t.Setenv("PATH", "")
	if again, err := Build(t.Context(), set, &said); err != nil || again != dir || said.Len() > 0 {
		t.Errorf("the second build gave %q, %v, and said %q", again, err, said.String())
	}
}

// What an interrupted build left under the unfinished name does not get into the way, nor among the programs.
func TestABuildGoesOnAfterAnInterrupt(t *testing.T) {
	set := hello(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ctx, set, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	dir, err := cache(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "unfinished", "hello"), 0o755),
		os.WriteFile(filepath.Join(dir, "unfinished", "other"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	programs, err := Build(t.Context(), set, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(programs, "*")); len(found) != 1 {
		t.Errorf("built %v", found)
	}
}

func TestABuildThatFailsSaysWhy(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*testing.T, *Set)
		says  string
	}{
		"a flag":         {func(t *testing.T, _ *Set) { t.Setenv("GOFLAGS", "-no-such-flag") }, "no-such-flag"},
		"no Go":          {func(t *testing.T, _ *Set) { t.Setenv("PATH", "") }, "https://go.dev/dl"},
		"no program":     {func(_ *testing.T, s *Set) { s.Programs = []string{"hello", "world"} }, "no program hello"},
		"no such module": {func(_ *testing.T, s *Set) { s.Packages = []string{"squall.local/nowhere"} }, "squall.local/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			set := hello(t)
			test.spoil(t, &set)
			if dir, err := Build(t.Context(), set, nil); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %q, error %v", dir, err)
			}
			if _, err := Built(set); !errors.Is(err, ErrNotBuilt) {
				t.Errorf("a failed build counts as built: %v", err)
			}
		})
	}
}

func TestErrorsNameTheirRemedy(t *testing.T) {
	for _, test := range []struct {
		err  error
		says string
	}{
		{&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, "disk is full"},
		{errors.New("exit status 1\nlink: write x: no space left on device"), "disk is full"},
		{errors.New(`exit status 1: Get "https://x": dial tcp: i/o timeout`), "GOPROXY"},
	} {
		if got := explain(test.err); !errors.Is(got, test.err) || !strings.Contains(got.Error(), test.says) {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}

func TestABuildWaitsForAnother(t *testing.T) {
	set := hello(t)
	dir, err := cache(set)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := Lock(t.Context(), dir, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var said bytes.Buffer
	if _, err := Build(ctx, set, &said); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(said.String(), "waiting") {
		t.Errorf("got error %v, said %q", err, said.String())
	}
	unlock()
	if unlock, err = Lock(t.Context(), dir, "x", nil); err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestTheKeyChangesWithWhatIsBuilt(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*Set){
		"nothing": func(*Set) {},
		"tag":     func(s *Set) { s.Tags = []string{"x"} },
		"stamp":   func(s *Set) { s.Stamps = []string{"main.word=bye"} },
		"source":  func(s *Set) { s.Files = fstest.MapFS{"main.go": {Data: []byte("package main\n")}} },
		"package": func(s *Set) { s.Packages = []string{"."} },
	} {
		set := hello(t)
		change(&set)
		key, err := Key(set)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have the same key", name, other)
		}
		seen[key] = name
	}
}

// The versions stand in the code and in the modules.
func TestTheModulesAreOfTheVersions(t *testing.T) {
	for require, set := range map[string]Set{
		"k8s.io/kubernetes ": Kubernetes(), "github.com/containerd/containerd/v2 ": Containerd(), "github.com/containernetworking/plugins ": CNI(),
		"sigs.k8s.io/cri-tools ": Crictl(), "github.com/coredns/coredns ": CoreDNS(),
	} {
		for _, name := range []string{"go.mod.txt", "go.sum.txt"} {
			text, err := modules.ReadFile("modules/" + set.Name + "/" + name)
			if err != nil || !strings.Contains(string(text), require+set.Version) {
				t.Errorf("%s of %s does not name %s%s (%v)", name, set.Name, require, set.Version, err)
			}
		}
	}
}

func TestProgressIsALineNowAndThen(t *testing.T) {
	var said bytes.Buffer
	told := teller{out: &said, started: time.Now()}
	for _, part := range []string{"go: downloading x v1\nk8s.io/a\nk8s", ".io/b\n", "# k8s.io/b\nb.go:1: broken\n"} {
		if n, err := told.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := "1 packages compiled in 0s, now k8s.io/a\n"; said.String() != want || told.count != 2 {
		t.Errorf("said %q after %d packages", said.String(), told.count)
	}
	if !strings.Contains(told.tail(), "b.go:1: broken") {
		t.Errorf("the tail is %q", told.tail())
	}
}
