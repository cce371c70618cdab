package kind

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
)

func TestALifeThatOnlyTheWorkerToldOfEndsWithItsMachine(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0) }
	w := &World{machines: machines{
		{name: "od-1", offAt: []time.Time{at(5), at(50)}},
		{name: "od-2"},
	}}
	worker := func(object, node string, s int) journal.Event {
		return journal.Event{Kind: history.ContainerStarted, Process: "worker-" + object, Object: object, Node: node, At: at(s), Monotonic: 7}
	}
	for _, c := range []struct {
		name   string
		events []journal.Event
		want   []time.Time // of start and end
	}{
		{"unseen on a machine that died", []journal.Event{worker("a", "od-1", 10)}, []time.Time{at(10), at(50)}},
		{"seen", []journal.Event{worker("a", "od-1", 10), {Kind: history.ContainerEnded, Process: journal.Runtime, Object: "a", At: at(11)}}, nil},
		{"unseen on a machine that lives", []journal.Event{worker("a", "od-2", 10)}, nil},
		{"unseen and begun after the last death", []journal.Event{worker("a", "od-1", 60)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			lives := w.Complete(c.events)
			if len(lives) != len(c.want) {
				t.Fatalf("%d events added, want %d: %v", len(lives), len(c.want), lives)
			}
			for i, e := range lives {
				if e.Process != journal.Runtime || !e.At.Equal(c.want[i]) {
					t.Errorf("event %d is of %s at %s, want %s", i, e.Process, e.At, c.want[i])
				}
			}
			if len(lives) == 2 && (lives[0].Kind != history.ContainerStarted || lives[1].Kind != history.ContainerEnded || lives[1].Detail != "killed") {
				t.Errorf("added %v and %v", lives[0], lives[1])
			}
		})
	}
}
