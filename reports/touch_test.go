package reports

import (
	"testing"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
)

// TestStoryBlamesWhatTouchedTheTask: a fault on another node, process or call is no cause, and one on calls is told at its
// first hit, not when it was armed.
func TestStoryBlamesWhatTouchedTheTask(t *testing.T) {
	const plain = "task-1 ended wrongly."
	for _, c := range []struct {
		name, what      string
		armed, observed float64
		want            string
	}{
		{"its node", "node spot-1 is reclaimed with 30s notice", 20, 25, "At 20 s node spot-1 is reclaimed with 30s notice; "},
		{"another node", "node spot-3 is reclaimed with 30s notice", 20, 25, ""},
		{"a node that it left", "node spot-2 is switched off for 30s", 36, 37, ""},
		{"its process", "dispatcher-1 is paused for 30s", 20, 20, "At 20 s dispatcher-1 is paused for 30s; "},
		{"another process", "dispatcher-2 is paused for 30s", 20, 20, ""},
		{"itself", "the pod of task-1 is evicted", 20, 20, "At 20 s the pod of task-1 is evicted; "},
		{"another task", "the pod of task-2 is evicted", 20, 20, ""},
		{"everybody", "the database refuses every call for 30s", 20, 21, "At 20 s the database refuses every call for 30s; "},
		{"its call", "the 1st create by dispatcher* is refused", 1, 10.05, "At 10.05 s the 1st create by dispatcher* is refused; "},
		{"another's call", "the 1st create by dispatcher* is refused", 1, 12.05, ""},
		{"its calls", "all create calls are refused for 30s", 1, 10.05, "At 10.05 s all create calls are refused for 30s; "},
		{"calls that it does not make", "all delete calls are refused for 30s", 1, 10.05, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tape := newTape("sample")
			for _, node := range []string{"spot-1", "spot-2", "spot-3"} {
				tape.table.nodes.ID(node)
			}
			tape.table.processes.ID("dispatcher-2")
			tape.attempt(attempt{task: "task-1", node: "spot-2", leader: "dispatcher-1", token: 1, claim: 10, start: 11, end: 35})
			tape.attempt(attempt{task: "task-2", node: "spot-3", leader: "dispatcher-2", token: 2, claim: 12, start: 13, end: 60})
			tape.attempt(attempt{task: "task-1", node: "spot-1", leader: "dispatcher-1", token: 3, claim: 15, start: 16, end: 60})
			tape.event(c.armed, history.Event{Kind: history.FaultStruck, Fault: 1, Detail: c.what})
			tape.event(c.observed, history.Event{Kind: history.FaultObserved, Fault: 1, Detail: c.what})
			r := &Run{History: tape.history(), Judged: checker.Invalid, Report: sampleReport(checker.Invalid)}
			r.Report.Violations = []checker.Violation{{Invariant: "I8-truth", Task: "task-1", At: sec(40), Message: "task-1 ended wrongly"}}
			if got := r.Story(); got != c.want+plain {
				t.Errorf("got  %q\nwant %q", got, c.want+plain)
			}
		})
	}
}
