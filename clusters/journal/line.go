package journal

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// version is the version of the lines. A reader takes no other.
const version = 1

// line is one line of a journal: its header, the begin or the end of a call, or an event. What is empty is left out.
type line struct {
	Journal int    `json:"journal,omitempty"` // header: version
	Process string `json:"process,omitempty"` // header: of all that follows; event: another one
	Call    uint64 `json:"call,omitempty"`    // number of the call that begins
	Return  uint64 `json:"return,omitempty"`  // number of the call that ends
	Event   string `json:"event,omitempty"`   // kind

	At        int64 `json:"at,omitempty"` // CLOCK_REALTIME in nanoseconds
	Monotonic int64 `json:"mono,omitempty"`

	Verb        string        `json:"verb,omitempty"`
	Outcome     string        `json:"outcome,omitempty"`
	Code        string        `json:"code,omitempty"`
	Epoch       uint64        `json:"epoch,omitempty"`
	Detail      string        `json:"detail,omitempty"`
	Object      string        `json:"object,omitempty"`
	Expected    uint64        `json:"expected,omitempty"`
	Rows        []rowLine     `json:"rows,omitempty"`
	Spec        *history.Spec `json:"spec,omitempty"`
	Task        string        `json:"task,omitempty"`
	Node        string        `json:"node,omitempty"`
	Phase       string        `json:"phase,omitempty"`
	Cancelling  bool          `json:"cancelling,omitempty"`
	Cleanup     bool          `json:"cleanup,omitempty"`
	Fault       int32         `json:"fault,omitempty"`
	Failures    int32         `json:"failures,omitempty"`
	Disruptions int32         `json:"disruptions,omitempty"`
	Token       uint64        `json:"token,omitempty"`
	Due         int64         `json:"due,omitempty"`
	Delay       time.Duration `json:"delay,omitempty"`
	Write       *Write        `json:"write,omitempty"`
}

type rowLine struct {
	Task       string `json:"task,omitempty"`
	Token      uint64 `json:"token,omitempty"`
	Phase      string `json:"phase,omitempty"`
	Cancelling bool   `json:"cancelling,omitempty"`
	Version    uint64 `json:"version,omitempty"`
}

func beginLine(number uint64, c *Call) line {
	return line{Call: number, At: c.Called.UnixNano(), Monotonic: int64(c.CalledMonotonic), Verb: c.Verb.String(), Epoch: c.Epoch,
		Detail: c.Detail, Object: c.Object, Expected: c.Expected, Rows: rowLines(c.Rows), Spec: c.Spec}
}

// endLine repeats what the answer may have changed.
func endLine(number uint64, c *Call) line {
	return line{Return: number, At: c.Returned.UnixNano(), Monotonic: int64(c.ReturnedMonotonic), Outcome: c.Outcome.String(),
		Code: c.Code.String(), Epoch: c.Epoch, Detail: c.Detail, Rows: rowLines(c.Rows)}
}

func rowLines(rows []Row) []rowLine {
	if len(rows) == 0 {
		return nil
	}
	lines := make([]rowLine, len(rows))
	for i, r := range rows {
		lines[i] = rowLine{r.Task, r.Token, r.Phase.String(), r.Cancelling, r.Version}
	}
	return lines
}

func eventLine(e *Event, process string) line {
	l := line{Event: e.Kind.String(), At: e.At.UnixNano(), Monotonic: int64(e.Monotonic), Task: e.Task, Node: e.Node, Object: e.Object,
		Detail: e.Detail, Phase: e.Phase.String(), Cancelling: e.Cancelling, Cleanup: e.Cleanup, Fault: e.Fault, Failures: e.Failures,
		Disruptions: e.Disruptions, Token: e.Token, Epoch: e.Epoch, Delay: e.Delay, Write: e.Write}
	if e.Process != process {
		l.Process = e.Process
	}
	if !e.Due.IsZero() {
		l.Due = e.Due.UnixNano()
	}
	return l
}
