package testbed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func records(names ...string) []nodeRecord {
	var r []nodeRecord
	for _, name := range names {
		r = append(r, nodeRecord{Name: name})
	}
	return r
}

func TestStateOfWhatRemains(t *testing.T) {
	control := container{"squall-a-control-plane", "control-plane", "running"}
	worker := container{"squall-a-worker", "worker", "running"}
	in := func(c container, state string) container { c.state = state; return c }
	whole := &record{Name: "a", Ready: true, PID: 7, Nodes: records(control.name, worker.name)}
	half := &record{Name: "a", PID: 7, Nodes: records(control.name, worker.name)}
	t.Setenv("XDG_STATE_HOME", "/state")
	const ours = "/state/squall/clusters/a"

	for _, c := range []struct {
		name string
		r    remains
		want State
	}{
		{"all runs", remains{containers: []container{control, worker}, network: true, owner: ours, dir: true, record: whole}, Running},
		{"a worker was killed", remains{containers: []container{control, in(worker, "exited")}, network: true, owner: ours, dir: true, record: whole}, Degraded},
		{"a worker is frozen", remains{containers: []container{control, in(worker, "paused")}, network: true, owner: ours, dir: true, record: whole}, Degraded},
		{"the control plane was killed", remains{containers: []container{in(control, "exited"), worker}, network: true, owner: ours, dir: true, record: whole}, Stopped},
		{"a container was removed", remains{containers: []container{control}, network: true, owner: ours, dir: true, record: whole}, Incomplete},
		{"killed while creating", remains{containers: []container{control, worker}, network: true, owner: ours, dir: true, record: half}, Incomplete},
		{"being created", remains{containers: []container{control}, network: true, owner: ours, dir: true, record: half, locked: true}, Creating},
		{"record damaged", remains{containers: []container{control}, network: true, owner: ours, dir: true, unreadable: errors.New("eof")}, Incomplete},
		{"state removed", remains{containers: []container{control, worker}, network: true, owner: ours}, Orphaned},
		{"killed early", remains{network: true, owner: ours}, Orphaned},
		{"containers removed", remains{network: true, owner: ours, dir: true, record: whole}, Vanished},
		{"engine wiped", remains{dir: true, record: whole}, Vanished},
		{"made by kind itself", remains{containers: []container{control, worker}}, Foreign},
		{"made by another user", remains{containers: []container{control, worker}, network: true, owner: "/home/else/clusters/a"}, Foreign},
	} {
		c.r.name = "a"
		info := c.r.info()
		if info.State != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, info.State, info.Reason, c.want)
		}
		if c.want != Running && (info.Reason == "" || info.Remedy == "") {
			t.Errorf("%s: reason %q, remedy %q", c.name, info.Reason, info.Remedy)
		}
	}
}

// machine is an engine with what the two listings print; it has a network of ours for cluster a unless said otherwise.
func machine(t *testing.T, containers, networks string) engine {
	t.Helper()
	return fakeDocker(t, fmt.Sprintf(`
case "$*" in
*"ps --all --quiet"*) [ -e $XDG_STATE_HOME/c ] || { echo c1; echo c2; } ;;
rm*) touch $XDG_STATE_HOME/c ;;
*"network rm"*) touch $XDG_STATE_HOME/n ;;
*"ps --all"*) cat <<'END'
%s
END
;;
*"network ls --quiet"*) [ -e $XDG_STATE_HOME/n ] || echo n1 ;;
*"network ls --filter name=^squall-"*"{{.ID}}"*) ;;
*"network ls"*) cat <<END
%s
END
;;
esac
exit 0
`, containers, networks))
}

const (
	aRuns = "squall-a|squall-a-control-plane|control-plane|running\nsquall-a|squall-a-worker|worker|running\nkind|kind-control-plane|control-plane|running"
	aNet  = "squall-a|a|$XDG_STATE_HOME/squall/clusters/a\nsquall-web||"
)

func remember(t *testing.T, r *record) string {
	t.Helper()
	dir, err := stateDir(r.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestListLeavesOutWhatIsNotOurs(t *testing.T) {
	machine(t, aRuns, aNet)
	remember(t, &record{Name: "a", Ready: true, Image: "image", Nodes: records("squall-a-control-plane", "squall-a-worker")})
	infos, err := List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(infos) != 1 || infos[0].Name != "a" || infos[0].State != Running || infos[0].Image != "image" || len(infos[0].Nodes) != 2 {
		t.Errorf("got %+v", infos)
	}
}

func TestDownRemovesEverything(t *testing.T) {
	for _, c := range []struct {
		name, containers, networks string
		record                     *record
	}{
		{"whole", aRuns, aNet, &record{Name: "a", Ready: true}},
		{"half made", aRuns, aNet, &record{Name: "a"}},
		{"without state", aRuns, aNet, nil},
		{"without containers", "", aNet, &record{Name: "a", Ready: true}},
		{"only a network", "", aNet, nil},
		{"only a state directory", "", "", &record{Name: "a", Ready: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := machine(t, c.containers, c.networks)
			if c.record != nil {
				remember(t, c.record)
			}
			if err := Down(t.Context(), "squall-a", nil); err != nil {
				t.Fatal(err)
			}
			if e.asked(t, "rm --force --volumes c1 c2") != 1 || e.asked(t, "network rm n1") != 1 {
				t.Errorf("asked: %q", e.calls(t))
			}
			if names, err := states(); err != nil || len(names) != 0 {
				t.Errorf("state left: %q, %v", names, err)
			}
		})
	}
}

func TestDownLeavesAloneWhatIsNotOurs(t *testing.T) {
	for _, c := range []struct{ name, networks string }{
		{"made by kind", "kind||"},
		{"of another state directory", "squall-a|a|/elsewhere/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := machine(t, aRuns, c.networks)
			err := Down(t.Context(), "a", nil)
			if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "--force") {
				t.Errorf("got %v", err)
			}
			if e.asked(t, "rm") != 0 || e.asked(t, "network rm") != 0 {
				t.Errorf("asked: %q", e.calls(t))
			}
			if err := DownForced(t.Context(), "a", nil); err != nil || e.asked(t, "rm --force") != 1 {
				t.Errorf("forced: %v", err)
			}
		})
	}
}

func TestDownOfNothing(t *testing.T) {
	e := machine(t, "", "")
	if err := Down(t.Context(), "a", nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if names, err := states(); e.asked(t, "rm") != 0 || len(names) != 0 || err != nil {
		t.Errorf("left %q, %v", names, err)
	}
}

func TestDownWaitsForNobody(t *testing.T) {
	e := machine(t, aRuns, aNet)
	remember(t, &record{Name: "a", PID: 4711})
	unlock, err := lock("a")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	err = Down(t.Context(), "a", nil)
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "4711") {
		t.Errorf("got %v", err)
	}
	if e.asked(t, "rm") != 0 {
		t.Errorf("asked: %q", e.calls(t))
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		name, containers, networks string
		record                     *record
		want                       error
	}{
		{"nothing", "", "", nil, ErrNotFound},
		{"foreign", aRuns, "", nil, ErrForeign},
		{"half made", aRuns, aNet, &record{Name: "a", Nodes: records("1", "2")}, ErrNotRunning},
		{"containers gone", "", aNet, &record{Name: "a", Ready: true}, ErrNotRunning},
	} {
		t.Run(c.name, func(t *testing.T) {
			machine(t, c.containers, c.networks)
			if c.record != nil {
				remember(t, c.record)
			}
			if _, err := Open(t.Context(), "a"); !errors.Is(err, c.want) || !strings.Contains(err.Error(), "squall cluster") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUpRefusesANameThatIsTaken(t *testing.T) {
	for _, c := range []struct {
		name, networks string
		record         *record
		want           error
	}{
		{"ours runs", aNet, &record{Name: "a", Ready: true, Nodes: records("1", "2")}, ErrExists},
		{"ours is half made", aNet, &record{Name: "a", Nodes: records("1", "2")}, ErrExists},
		{"made by kind", "", nil, ErrForeign},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := machine(t, aRuns, c.networks)
			if c.record != nil {
				remember(t, c.record)
			}
			_, err := Up(t.Context(), Options{Name: "a", Image: "image"})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
			for _, call := range e.calls(t) {
				if !strings.HasPrefix(call, "ps") && !strings.HasPrefix(call, "network ls") {
					t.Errorf("asked: docker %s", call)
				}
			}
			names, err := states()
			if want := c.record != nil; (len(names) == 1) != want || err != nil {
				t.Errorf("state: %q, %v", names, err)
			}
		})
	}
}

func TestUpThatIsInterruptedRemovesWhatItMade(t *testing.T) {
	e := fakeDocker(t, `
case "$*" in
*"info --format"*) sleep 3; exit 1 ;; # kind's first question
*"ps --all --quiet"*) [ -e $XDG_STATE_HOME/c ] || echo c1 ;;
rm*) touch $XDG_STATE_HOME/c ;;
*"network rm"*) touch $XDG_STATE_HOME/n ;;
*"network ls --quiet"*) [ -e $XDG_STATE_HOME/n ] || echo n1 ;;
esac
exit 0
`)
	ctx, cancel := contextUntil(t, func() bool { return e.asked(t, "info") > 0 })
	defer cancel()
	if _, err := Up(ctx, Options{Name: "a", Image: "image"}); !errors.Is(err, ctx.Err()) {
		t.Errorf("got %v", err)
	}
	if e.asked(t, "network create") != 1 || e.asked(t, "rm --force --volumes c1") == 0 || e.asked(t, "network rm n1") != 1 {
		t.Errorf("asked: %q", e.calls(t))
	}
	if names, err := states(); len(names) != 0 || err != nil {
		t.Errorf("state left: %q, %v", names, err)
	}
}

func TestTheLockOutlivesTheDirectory(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	unlock, err := lock("a")
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := stateDir("a")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	again, err := lock("a") // another directory: the holder of the first is done with the cluster
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock("a"); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
	again()
	unlock()
	if last, err := lock("a"); err != nil {
		t.Error(err)
	} else {
		last()
	}
	if info, err := os.Stat(filepath.Dir(dir)); err != nil || info.ModTime().After(time.Now()) {
		t.Error(err)
	}
}
