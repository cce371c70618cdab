package testbed

import (
	"archive/tar"
	"bytes"
	"maps"
	"strings"
	"testing"
	"time"
)

func TestContainersByCrictl(t *testing.T) {
	one := `{"status":{"id":"c1","metadata":{"name":"worker","attempt":2},"state":"CONTAINER_EXITED","createdAt":"2026-11-29T22:31:00.1Z",
		"startedAt":"2026-11-29T22:31:01.2Z","finishedAt":"2026-11-29T22:31:02.3Z","exitCode":137,"reason":"OOMKilled",
		"labels":{"io.kubernetes.pod.name":"task-1","io.kubernetes.pod.namespace":"ns","io.kubernetes.pod.uid":"u1"}},"info":{}}`
	two := strings.NewReplacer("c1", "c2", "CONTAINER_EXITED", "CONTAINER_RUNNING", "2026-11-29T22:31:02.3Z", "1970-01-01T00:00:00Z", "22:31:00.1", "22:30:00.1").Replace(one)
	for name, out := range map[string]string{"array": "[" + one + "," + two + "]", "stream": one + "\n" + two} {
		got, err := parseContainers([]byte(out))
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		want := Container{
			ID: "c1", Namespace: "ns", Pod: "task-1", UID: "u1", Name: "worker", Attempt: 2, State: "exited", ExitCode: 137, Reason: "OOMKilled",
			Created:  time.Date(2026, 11, 29, 22, 31, 0, 1e8, time.UTC),
			Started:  time.Date(2026, 11, 29, 22, 31, 1, 2e8, time.UTC),
			Finished: time.Date(2026, 11, 29, 22, 31, 2, 3e8, time.UTC),
		}
		if got[1] != want {
			t.Errorf("%s: %+v", name, got[1])
		}
		if got[0].ID != "c2" || got[0].State != "running" || !got[0].Finished.IsZero() {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
	if got, err := parseContainers(nil); err != nil || len(got) != 0 {
		t.Errorf("nothing: %+v, %v", got, err)
	}
	if _, err := parseContainers([]byte(`{"status":`)); err == nil {
		t.Error("half an object is read")
	}
}

func TestContainersAsksForWhatFits(t *testing.T) {
	e := fakeDocker(t, inPlace)
	e.program(t, "crictl", `
echo "$*" >>`+e.dir+`/log
[ "$1" = ps ] && { echo c1; echo c2; exit; }
[ "${@: -2}" = "c1 c2" ] && exit 1 # c2 was removed in between
[ "${@: -1}" = c1 ] && echo '{"status":{"id":"c1"}}'`)
	got, err := (&Node{name: "n"}).Containers(t.Context(), "ns", "task-1", "")
	if err != nil || len(got) != 1 || got[0].ID != "c1" {
		t.Errorf("%+v, %v", got, err)
	}
	if e.asked(t, "ps --all --quiet --label io.kubernetes.pod.namespace=ns --label io.kubernetes.pod.name=task-1") != 1 {
		t.Errorf("asked: %q", e.calls(t))
	}
}

func TestFilesOfADirectory(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range []struct {
		name string
		kind byte
		text string
	}{
		{"squall/", tar.TypeDir, ""}, {"squall/a.jsonl", tar.TypeReg, "a\n"}, {"squall/run/", tar.TypeDir, ""},
		{"squall/run/b", tar.TypeReg, ""}, {"squall/link", tar.TypeSymlink, ""},
	} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Typeflag: f.kind, Size: int64(len(f.text)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := untar(bytes.NewReader(b.Bytes()))
	want := map[string][]byte{"a.jsonl": []byte("a\n"), "run/b": {}}
	if err != nil || !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := untar(bytes.NewReader(b.Bytes()[:700])); err == nil {
		t.Error("half an archive is read")
	}
}

func TestADirectoryThatIsNotThereHasNoFiles(t *testing.T) {
	fakeDocker(t, `echo "Error response from daemon: Could not find the file /var/lib/squall in container n" >&2; exit 1`)
	got, err := (&Node{name: "n"}).Read(t.Context(), "/var/lib/squall/")
	if err != nil || got == nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	fakeDocker(t, `echo "Error response from daemon: No such container: n" >&2; exit 1`)
	if _, err := (&Node{name: "n"}).Read(t.Context(), "/var/lib/squall"); err == nil {
		t.Error("a node that is gone reads as one without files")
	}
}

func TestFaultsMayBeInjectedTwice(t *testing.T) {
	for _, c := range []struct {
		name, state string
		fault       func(*Node) error
		harmless    bool
	}{
		{"kill a dead node", "exited", func(n *Node) error { return n.Kill(t.Context()) }, true},
		{"pause a frozen node", "paused", func(n *Node) error { return n.Pause(t.Context()) }, true},
		{"unpause a running node", "running", func(n *Node) error { return n.Unpause(t.Context()) }, true},
		{"kill fails", "running", func(n *Node) error { return n.Kill(t.Context()) }, false},
		{"pause a dead node", "exited", func(n *Node) error { return n.Pause(t.Context()) }, false},
		{"unpause a dead node", "exited", func(n *Node) error { return n.Unpause(t.Context()) }, false},
	} {
		fakeDocker(t, `[ "$1" = inspect ] && { echo `+c.state+`; exit; }; echo "it cannot be" >&2; exit 1`)
		if err := c.fault(&Node{name: "n"}); (err == nil) != c.harmless {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestCutsAreTablesOfTheirOwn(t *testing.T) {
	e := fakeDocker(t, `
case "$1" in
inspect) echo 172.18.0.5 ;;
exec) cat >>`+t.TempDir()+`/rules ;;
esac`)
	c := &Cluster{}
	control, worker := &Node{cluster: c, name: "n-control-plane"}, &Node{cluster: c, name: "n-worker", pods: "10.244.1.0/24"}
	c.nodes = []*Node{control, worker}
	for name, fault := range map[string]func() error{
		"CutAPI": func() error { return worker.CutAPI(t.Context()) }, "JoinAPI": func() error { return worker.JoinAPI(t.Context()) },
		"CutPods":  func() error { return worker.CutPods(t.Context(), 5432) },
		"JoinPods": func() error { return worker.JoinPods(t.Context(), 5432) },
	} {
		if err := fault(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := e.asked(t, "exec --privileged --interactive n-worker nft --file -"); n != 4 {
		t.Errorf("asked: %q", e.calls(t))
	}
	if err := control.CutAPI(t.Context()); err == nil {
		t.Error("the control plane was cut off from itself")
	}
	if err := worker.CutPods(t.Context(), 0); err == nil {
		t.Error("port 0 was cut")
	}
	for _, rules := range []string{apiCut("172.18.0.5"), podsCut("10.244.1.0/24", 5432)} {
		if !strings.HasPrefix(rules, "table ip squall_") || strings.Count(rules, "drop") != strings.Count(rules, "addr") {
			t.Errorf("not a table of ours, or a rule without an address:\n%s", rules)
		}
	}
}
