package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const all = set(1)<<41 - 1

func without(missing ...string) set {
	held := all
	for bit, name := range names {
		if slices.Contains(missing, name) {
			held &^= 1 << bit
		}
	}
	return held
}

func TestEdit(t *testing.T) {
	lacking := without("CAP_SYS_RESOURCE")
	tests := []struct {
		name     string
		kind     kind
		held     set
		in, want string
	}{
		{"privileged container", bundle, lacking,
			`{"ociVersion":"1.0.2","process":{"args":["sh"],"capabilities":{"bounding":["CAP_CHOWN","CAP_SYS_RESOURCE"],"effective":["CAP_SYS_RESOURCE"]},"oomScoreAdj":-500}}`,
			`{"ociVersion":"1.0.2","process":{"args":["sh"],"capabilities":{"bounding":["CAP_CHOWN"],"effective":[]},"oomScoreAdj":0}}`},
		{"privileged exec", process, lacking,
			`{"args":["sh"],"capabilities":{"bounding":["CAP_SYS_RESOURCE","CAP_CHOWN"],"permitted":["CAP_CHOWN"]}}`,
			`{"args":["sh"],"capabilities":{"bounding":["CAP_CHOWN"],"permitted":["CAP_CHOWN"]}}`},
		{"another capability missing: its own is taken out, the score stays", process, without("CAP_BPF"),
			`{"capabilities":{"bounding":["CAP_BPF","CAP_SYS_RESOURCE"]},"oomScoreAdj":-1}`,
			`{"capabilities":{"bounding":["CAP_SYS_RESOURCE"]},"oomScoreAdj":-1}`},
		{"positive score stays", process, lacking, `{"oomScoreAdj":300}`, `{"oomScoreAdj":300}`},
		{"unprivileged: every byte stays", bundle, lacking,
			"{ \"process\": {\"capabilities\": {\"bounding\": [\"CAP_CHOWN\"]}, \"big\": 12345678901234567890},\n \"x\": 1.50 }",
			"{ \"process\": {\"capabilities\": {\"bounding\": [\"CAP_CHOWN\"]}, \"big\": 12345678901234567890},\n \"x\": 1.50 }"},
		{"what is not looked at stays", bundle, lacking,
			`{"linux":{"limit":12345678901234567890,"html":"<&>"},"process":{"oomScoreAdj":-1,"user":{"uid":4294967295}}}`,
			`{"linux":{"limit":12345678901234567890,"html":"<&>"},"process":{"oomScoreAdj":0,"user":{"uid":4294967295}}}`},
		{"a capability newer than the list is left to runc", process, 0, `{"capabilities":{"bounding":["CAP_TOMORROW"]}}`, `{"capabilities":{"bounding":["CAP_TOMORROW"]}}`},
		{"nothing missing", bundle, all, `{"process":{"oomScoreAdj":-999}}`, `{"process":{"oomScoreAdj":-999}}`},
		{"null", bundle, lacking, `{"process":null}`, `{"process":null}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file.json")
			if err := os.WriteFile(file, []byte(test.in), 0o640); err != nil {
				t.Fatal(err)
			}
			if err := edit(file, test.kind, test.held); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestEditRefusesWhatIsNotASpecification(t *testing.T) {
	for _, text := range []string{`[`, `{"process":[]}`, `{"process":{"capabilities":{"bounding":"CAP_CHOWN"}}}`, `{"process":{"oomScoreAdj":"low"}}`} {
		file := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := edit(file, bundle, 0); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestRequest(t *testing.T) {
	tests := []struct {
		args string
		file string
		kind kind
	}{
		{"--root /run/runc --log /l --log-format json create --bundle /b --pid-file /p id", "/b/config.json", bundle},
		{"--root=/run/runc --systemd-cgroup run -b /b id", "/b/config.json", bundle},
		{"create --bundle=/b id", "/b/config.json", bundle},
		{"create id", "config.json", bundle},
		{"--log create exec --process /p.json --detach id", "/p.json", process},
		{"exec -p=/p.json id", "/p.json", process},
		{"exec id sh", "", process},
		{"--root /r delete --force id", "", bundle},
		{"--version", "", bundle},
		{"", "", bundle},
	}
	for _, test := range tests {
		file, kind := request(strings.Fields(test.args))
		if file != test.file || file != "" && kind != test.kind {
			t.Errorf("%q: got %q %d, want %q %d", test.args, file, kind, test.file, test.kind)
		}
	}
}

func TestBounding(t *testing.T) {
	held, err := bounding([]byte("Name:\tx\nCapBnd:\t000001fffeffffff\nCapAmb:\t0\n"))
	if err != nil || !held.lacks("CAP_SYS_RESOURCE") || held.lacks("CAP_CHOWN") || held.lacks("CAP_CHECKPOINT_RESTORE") {
		t.Errorf("got %x, %v", held, err)
	}
	if _, err := bounding([]byte("Name:\tx\n")); err == nil {
		t.Error("no line CapBnd: no error")
	}
}

// The whole program in front of a stand-in for runc: it edits by its own bounding set, hands every argument on, and ends as runc ends.
func TestShimBecomesRunc(t *testing.T) {
	dir := t.TempDir()
	shim := filepath.Join(dir, "shim")
	if out, err := exec.Command("go", "build", "-o", shim, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	script := "#!/bin/sh\necho \"$0 $*\" >\"$SEEN\"\nwhile [ $# -gt 0 ]; do case $1 in --bundle) cat \"$2/config.json\";; --process) cat \"$2\";; esac; shift; done\nexit 7\n"
	if err := os.WriteFile(filepath.Join(dir, "runc"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	held, err := bounding(status)
	if err != nil {
		t.Fatal(err)
	}
	score, kept := 0, `"CAP_SYS_RESOURCE"`
	if held.lacks(sysResource) {
		kept = ""
	} else {
		score = -9
	}
	want := fmt.Sprintf(`{"capabilities":{"bounding":[%s]},"oomScoreAdj":%d}`, kept, score)
	asked := `{"capabilities":{"bounding":["CAP_SYS_RESOURCE"]},"oomScoreAdj":-9}`
	for name, test := range map[string]struct{ args, file, in, want string }{ // order does not matter
		"create": {"--root /r create --bundle " + dir + " id", "config.json", `{"process":` + asked + `}`, `{"process":` + want + `}`},
		"exec":   {"--root /r exec --process " + dir + "/process id", "process", asked, want},
		"state":  {"--root /r state id", "process", asked, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, test.file), []byte(test.in), 0o600); err != nil {
				t.Fatal(err)
			}
			seen := filepath.Join(dir, "seen")
			cmd := exec.Command(shim, strings.Fields(test.args)...)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SEEN="+seen)
			out, err := cmd.Output()
			if code := cmd.ProcessState.Sys().(syscall.WaitStatus).ExitStatus(); code != 7 {
				t.Errorf("exit status %d (%v), want the stand-in's 7", code, err)
			}
			if string(out) != test.want {
				t.Errorf("runc saw %s\nwant     %s", out, test.want)
			}
			args, err := os.ReadFile(seen)
			if err != nil || !strings.HasSuffix(strings.TrimSpace(string(args)), test.args) {
				t.Errorf("runc got %q (%v), want %q", args, err, test.args)
			}
		})
	}
}
