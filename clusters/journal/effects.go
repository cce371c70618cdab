package journal

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// attempt is what an effect counts for.
type attempt struct {
	task  string
	token uint64
}

// refusal is one worker's, however often it asks.
type refusal struct {
	attempt
	process string
}

func attemptOf(c *Call) attempt { return attempt{c.Rows[0].Task, c.Rows[0].Token} }

// brings tells whether the call hands in a success.
func brings(c *Call) bool {
	return c.Verb == history.Finish && c.Detail == string(dispatcher.ResultSucceeded) && len(c.Rows) > 0
}

// count adds the effect that a change counted: the row became succeeded. The call says for whom; where no call is known the row does.
func (m *merger) count(w *write, at time.Duration) {
	if w.Write.Role != "" || w.before == nil || w.before.Phase == history.Succeeded || w.Phase != history.Succeeded {
		return
	}
	e := &Event{Kind: history.EffectCounted, Task: w.Task, Token: w.Write.Finished.Token, Object: w.Write.Finished.Workload}
	if w.call != unmatched && brings(&m.calls[w.call]) {
		c := &m.calls[w.call]
		e.Process, e.Token = c.Process, c.Rows[0].Token
		if c.Object != "" {
			e.Object = c.Object
		}
	}
	m.counted[attempt{e.Task, e.Token}] = true
	m.add(at, happened, 0, e)
}

// ownRefusals notes which workers wrote themselves that they were refused.
func (m *merger) ownRefusals() {
	for i := range m.events {
		if e := &m.events[i]; e.Kind == history.EffectRefused {
			m.refused[refusal{attempt{e.Task, e.Token}, e.Process}] = true
		}
	}
}

// kept tells whether a journal's own event belongs in the history: an effect that the log shows too is there already, and
// counts once, however often its worker was told.
func (m *merger) kept(e *Event) bool {
	if e.Kind != history.EffectCounted {
		return e.Kind != 0
	}
	key := attempt{e.Task, e.Token}
	if len(m.log) == 0 {
		return true
	}
	if m.counted[key] {
		return false
	}
	m.counted[key] = true
	return true
}

// derivedRefusal adds the refused effect of a worker that did not write it itself.
func (m *merger) derivedRefusal(call int, at time.Duration) {
	c := &m.calls[call]
	if c.Outcome != history.Fail || !brings(c) || c.Code == history.Unavailable || c.Code == history.Throttled {
		return
	}
	key := refusal{attemptOf(c), c.Process}
	if m.refused[key] || m.counted[key.attempt] {
		return
	}
	m.refused[key] = true
	m.add(at, happened, 0, &Event{Kind: history.EffectRefused, Process: c.Process, Task: key.task, Token: key.token, Object: c.Object})
}
