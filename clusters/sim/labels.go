package sim

import (
	"fmt"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
)

// verbs are the port methods, by history.Verb.
var verbs = [...]string{
	"", "submit", "cancel", "resume", "read", "now", "lead", "confirm", "claim", "launched", "unclaim", "reject",
	"scan", "observe", "requeue", "conclude", "cleaned", "postpone", "health", "start", "heartbeat", "finish", "create", "get",
	"list", "delete", "release", "node-exists", "get-lease", "put-lease", "watch",
}

// stage is one of the three events of a call.
type stage int

const (
	submitted stage = iota
	effected
	replied
)

// callLabels are the names of all events of calls, made once for all simulations.
var callLabels = func() (names [len(verbs)][3]string) {
	for v, verb := range verbs {
		for s, stage := range [...]string{"call", "effect", "reply"} {
			names[v][s] = fmt.Sprintf("%s %s", verb, stage)
		}
	}
	return names
}()

// labels are the names of this world's events.
type labels struct {
	calls                                          [len(verbs)][3]kernel.Label
	sleep, supervise                               kernel.Label
	retry, work, crash, heartbeat, fence, shutdown kernel.Label
}

func newLabels(k *kernel.Kernel) (l labels) {
	for v := range callLabels[:history.Watch] { // watches are rare; see label
		for s, name := range callLabels[v] {
			l.calls[v][s] = k.Label(name)
		}
	}
	for _, it := range []struct {
		label *kernel.Label
		name  string
	}{
		{&l.sleep, "sleep"}, {&l.supervise, "supervisor restarts"},
		{&l.retry, "worker retries"}, {&l.work, "worker works"}, {&l.crash, "worker crashes"},
		{&l.heartbeat, "worker heartbeat"}, {&l.fence, "worker fence"}, {&l.shutdown, "worker shutdown"},
	} {
		*it.label = k.Label(it.name)
	}
	return l
}

// label names an event of the call.
func (c *call) label(s stage) kernel.Label {
	if c.verb == history.Watch {
		return c.world.kernel.Label(callLabels[c.verb][s]) // numbered when first used, so that all others keep their numbers
	}
	return c.world.labels.calls[c.verb][s]
}

// verbOf guards the table above against new verbs.
var _ = [1]struct{}{}[len(verbs)-1-int(history.Watch)]
