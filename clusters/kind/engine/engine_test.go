package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddRuntime(t *testing.T) {
	const want = `{"default-runtime":"squall-runc","runtimes":{"squall-runc":{"path":"/shim"}}}`
	tests := []struct{ name, in, want string }{
		{"no file", "", want},
		{"empty object", "{}", want},
		{"runc was named", `{"default-runtime":"runc"}`, want},
		{"an older place", `{"default-runtime":"squall-runc","runtimes":{"squall-runc":{"path":"/old"}}}`, want},
		{"other settings stay", `{"data-root":"/big","registry-mirrors":["https://m/?a&b"],"runtimes":{"other":{"path":"/o","runtimeArgs":["<x>"]}},"max-concurrent-downloads":12345678901234567890}`,
			`{"data-root":"/big","default-runtime":"squall-runc","max-concurrent-downloads":12345678901234567890,"registry-mirrors":["https://m/?a&b"],"runtimes":{"other":{"path":"/o","runtimeArgs":["<x>"]},"squall-runc":{"path":"/shim"}}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := addRuntime([]byte(test.in), "squall-runc", "/shim")
			if err != nil {
				t.Fatal(err)
			}
			if compact(t, got) != test.want {
				t.Errorf("got  %s\nwant %s", compact(t, got), test.want)
			}
			again, err := addRuntime(got, "squall-runc", "/shim")
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time: %s, %v", again, err)
			}
		})
	}
}

// Nothing indents the expectation, and no number passes through a float.
func compact(t *testing.T, text []byte) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func TestAddRuntimeRefuses(t *testing.T) {
	for text, want := range map[string]string{ // order does not matter
		`{"default-runtime":"nvidia"}`:    `default-runtime is "nvidia"`,
		`{`:                               "repair the file",
		`{"runtimes":[]}`:                 "repair the file",
		`{"default-runtime":["runc"]}`:    "repair the file",
		`["not an object of settings"]`:   "repair the file",
		`{"default-runtime":"runc"} more`: "repair the file",
	} {
		if _, err := addRuntime([]byte(text), "squall-runc", "/shim"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestInstallRuntimeKeepsTheSettingsOnTheMachine(t *testing.T) {
	dir := t.TempDir()
	path, config := filepath.Join(dir, "lib", "squall-runc"), filepath.Join(dir, "docker", "daemon.json")
	if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(`{"data-root":"/big"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := installRuntime(t.Context(), path, config); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(config)
	if err != nil || !strings.Contains(string(text), `"data-root": "/big"`) || !strings.Contains(string(text), path) {
		t.Errorf("daemon.json: %s, %v", text, err)
	}
	// What was built is the shim: it hands on to the runc that PATH names.
	if err := os.WriteFile(filepath.Join(dir, "runc"), []byte("#!/bin/sh\necho stand-in \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--version")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "stand-in --version\n" {
		t.Errorf("%s, %v", out, err)
	}
}

func TestCheckTellsWhatIsWrong(t *testing.T) {
	client := func(t *testing.T, dir, host string) {
		t.Helper()
		script := "#!/bin/sh\nif [ \"$1\" = context ]; then echo '" + host + "'; exit; fi\n" +
			`echo '{"ServerErrors":["the engine says so"]}'; exit 1` + "\n"
		if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string)
		want    []string
	}{
		{"no client", func(*testing.T, string) {}, []string{"no docker command", "docs.docker.com/engine/install"}},
		{"nobody listens", func(t *testing.T, dir string) { client(t, dir, "unix://"+dir+"/none.sock") }, []string{"no Docker engine listens at unix://", "DOCKER_HOST"}},
		{"elsewhere, a newer client", func(t *testing.T, dir string) {
			client(t, dir, "tcp://10.0.0.1:2375")
			script, err := os.ReadFile(filepath.Join(dir, "docker"))
			if err != nil {
				t.Fatal(err)
			}
			newer := strings.Replace(string(script), "echo '{", "echo cannot connect today >&2; echo '{", 1)
			if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(newer), 0o755); err != nil {
				t.Fatal(err)
			}
		}, []string{"tcp://10.0.0.1:2375 does not answer: cannot connect today; start it"}},
		{"elsewhere", func(t *testing.T, dir string) { client(t, dir, "tcp://10.0.0.1:2375") }, []string{"tcp://10.0.0.1:2375 does not answer", "the engine says so"}},
		{"listens and does not answer", func(t *testing.T, dir string) {
			listener, err := net.Listen("unix", filepath.Join(dir, "s"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			client(t, dir, "unix://"+dir+"/s")
		}, []string{"takes connections but does not answer", "the engine says so", logFile}},
		{"client out of order", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\necho broken >&2; exit 1\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, []string{"broken", "docker context ls"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			test.prepare(t, dir)
			t.Setenv("PATH", dir)
			_, err := Check(t.Context())
			var unavailable *Unavailable
			if !errors.As(err, &unavailable) {
				t.Fatalf("got %v, want an *Unavailable", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

// Root may open any socket, so the refusal is shown where it is judged.
func TestDiagnosePermission(t *testing.T) {
	if os.Geteuid() == 0 {
		if _, err := exec.LookPath("setpriv"); err != nil {
			t.Fatal("this test runs itself as nobody with setpriv: apt-get install util-linux")
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		open := filepath.Join(os.TempDir(), "squall-engine.test")
		binary, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		if err := replace(open, binary, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(open)
		cmd := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", open, "-test.run=^TestDiagnosePermission$", "-test.v")
		cmd.Dir = os.TempDir()
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	err = diagnose(context.Background(), "unix://"+path, nil)
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "usermod -aG docker") {
		t.Errorf("got %v", err)
	}
	if _, err := start(context.Background(), err, os.Stderr); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("an engine that only refuses this user must not be replaced: %v", err)
	}
	if _, err := start(context.Background(), &Unavailable{Reason: "none", Remedy: "x", startable: true}, os.Stderr); err == nil || !strings.Contains(err.Error(), "sudo make engine") {
		t.Errorf("not root: %v", err)
	}
}

func TestPackagesOfMissingPrograms(t *testing.T) {
	for _, test := range []struct {
		missing []string
		want    string
	}{
		{[]string{"dockerd", "docker", "iptables"}, "docker.io iptables"},
		{[]string{"docker"}, "docker.io"},
		{[]string{"iptables"}, "iptables"},
	} {
		if got := strings.Join(packages(test.missing, false), " "); got != test.want {
			t.Errorf("%v: got %s, want %s", test.missing, got, test.want)
		}
	}
}

func TestInstall(t *testing.T) {
	program := func(t *testing.T, dir, name, script string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A stand-in for apt-get of Debian 13: it knows no package before its lists are there, and the client has a package of its own.
	const apt = `cd "${0%/*}"; echo "$*" >>log
make() { for name; do echo "#!/bin/sh" >$name; /bin/chmod +x $name; done; }
case "$*" in
update*) : >lists;;
*docker-cli) make docker;;
*docker.io*) [ -e lists ] || { echo "E: Unable to locate package docker.io"; exit 100; }; make dockerd iptables;;
esac`
	directories := systemDirs
	systemDirs = nil
	defer func() { systemDirs = directories }()
	t.Run("not Debian", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		err := install(t.Context(), os.Stderr)
		var unavailable *Unavailable
		if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "dockerd, docker, iptables") || !strings.Contains(err.Error(), "docs.docker.com/engine/install") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("Debian", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("PATH", dir)
		program(t, dir, "apt-get", apt)
		if err := install(t.Context(), os.Stderr); err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(dir, "log"))
		want := "install -q -y --no-install-recommends docker.io iptables\nupdate -q\ninstall -q -y --no-install-recommends docker.io iptables\ninstall -q -y --no-install-recommends docker-cli\n"
		if err != nil || string(log) != want {
			t.Errorf("apt-get was asked for\n%swant\n%s(%v)", log, want, err)
		}
	})
	t.Run("no network", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("PATH", dir)
		program(t, dir, "apt-get", "echo E: no route; exit 100\n")
		if err := install(t.Context(), os.Stderr); err == nil || !strings.Contains(err.Error(), "no route") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nothing is missing", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("PATH", dir)
		for _, name := range []string{"dockerd", "docker", "iptables"} {
			program(t, dir, name, "")
		}
		if err := install(t.Context(), os.Stderr); err != nil {
			t.Errorf("asked for packages: %v", err)
		}
	})
}

func TestLimits(t *testing.T) {
	dir := t.TempDir()
	write := func(name, value string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("max_user_instances", "128")
	write("max_user_watches", "1048576")
	low := lowLimits(dir)
	if len(low) != 1 || !strings.Contains(low[0].String(), "is 128") || !strings.Contains(low[0].Remedy, "sudo sysctl fs.inotify.max_user_instances=512") {
		t.Errorf("got %v", low)
	}
	raised, err := raiseLimits(dir)
	if err != nil || len(raised) != 1 || len(lowLimits(dir)) != 0 {
		t.Errorf("raised %v, %v; still low: %v", raised, err, lowLimits(dir))
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "max_user_watches")); string(text) != "1048576\n" {
		t.Errorf("a limit that was high enough became %s", text)
	}
}

func TestDropStalePID(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "docker.pid")
	process := func(pid, comm string) {
		if err := os.MkdirAll(filepath.Join(dir, pid), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, pid, "comm"), []byte(comm+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	process("10", "dockerd")
	process("11", "bash")
	for _, test := range []struct {
		pid  string
		want bool
	}{{"10", true}, {"11", false}, {"12\n", false}} {
		if err := os.WriteFile(file, []byte(test.pid), 0o644); err != nil {
			t.Fatal(err)
		}
		running, err := dropStalePID(file, "dockerd", dir)
		_, statErr := os.Stat(file)
		if err != nil || running != test.want || (statErr == nil) != test.want {
			t.Errorf("process %s: running %t, %v; file: %v", test.pid, running, err, statErr)
		}
	}
	if running, err := dropStalePID(file, "dockerd", dir); running || err != nil {
		t.Errorf("no file: %t, %v", running, err)
	}
}
