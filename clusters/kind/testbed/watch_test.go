package testbed

import (
	"context"
	"strings"
	"testing"
	"time"
)

const (
	start = `2026-11-29 22:31:00.123456789 +0000 UTC k8s.io /tasks/start {"container_id":"c1","pid":77}`
	exit  = `2026-11-29 22:31:09.5 +0000 UTC k8s.io /tasks/exit {"container_id":"c1","id":"c1","pid":77,"exit_status":137,"exited_at":{"seconds":1795991469,"nanos":400000000}}`
)

func TestEventsOfContainerd(t *testing.T) {
	labels := `squall labels {"id":"c1","labels":{"io.kubernetes.container.name":"worker","io.kubernetes.pod.name":"task-1","io.kubernetes.pod.namespace":"ns","io.kubernetes.pod.uid":"u1"}}`
	known := map[string]map[string]string{}
	var got []Event
	for _, line := range []string{
		"squall watching",
		"squall labels ", // gone before it was asked about
		labels, start,
		strings.ReplaceAll(start, "c1", "sandbox"),
		strings.Replace(exit, `"id":"c1"`, `"id":"probe"`, 1),
		exit,
		exit, // of a container that is forgotten
	} {
		e, ok, err := parseEvent(line, known)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if ok {
			got = append(got, e)
		}
	}
	worker := Event{ID: "c1", Namespace: "ns", Pod: "task-1", UID: "u1", Name: "worker"}
	started, exited := worker, worker
	started.Kind, started.At = Started, time.Date(2026, 11, 29, 22, 31, 0, 123456789, time.UTC)
	exited.Kind, exited.ExitCode, exited.At = Exited, 137, time.Unix(1795991469, 400000000).UTC()
	if len(got) != 3 || got[0].Kind != Watching || got[1].ID != "c1" || !got[1].At.Equal(started.At) || got[2] != exited {
		t.Errorf("got %+v", got)
	}
	for _, bad := range []string{"nonsense", "2026-11-29 22:31:00 k8s.io /tasks/exit {}", start[:len(start)-3], "squall labels {"} {
		if _, _, err := parseEvent(bad, known); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// The script itself, with a containerd that hands out what a file says, one connection after the other.
func TestWatchConnectsAgain(t *testing.T) {
	e := fakeDocker(t, inPlace)
	mark := t.TempDir()
	e.program(t, "ctr", `
dir=`+mark+`
case "$*" in
*"namespaces create"*) echo "$3" >>$dir/created ;;
*"containers info"*) echo '{"ID":"'${@: -1}'","Labels":{"io.kubernetes.container.name":"worker","io.kubernetes.pod.name":"p"}}' ;;
*events*)
	rm -f $dir/created # of the connection before
	until [ -e $dir/created ]; do sleep 0.1; done
	echo "2026-11-29 22:31:00.1 +0000 UTC x /namespaces/create {\"name\":\"$(head -1 $dir/created)\"}"
	echo '`+start+`'
	echo '`+exit+`' ;;
esac`)
	e.program(t, "jq", `cat >/dev/null; echo '{"id":"c1","labels":{"io.kubernetes.container.name":"worker","io.kubernetes.pod.name":"p"}}'`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var kinds []string
	err := (&Node{name: "n"}).Watch(ctx, func(e Event) {
		kinds = append(kinds, string(e.Kind))
		if len(kinds) == 8 {
			cancel()
		}
	})
	if want := "watching started exited interrupted watching started exited interrupted"; strings.Join(kinds, " ") != want {
		t.Errorf("got %q, %v", kinds, err)
	}
}
