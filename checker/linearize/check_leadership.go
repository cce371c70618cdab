package linearize

import (
	"slices"

	"github.com/squall-chaos/squall/checker/history"
)

// roleCheck is the search of one role. It is fed while the history is read: nothing is copied.
type roleCheck struct {
	role     string
	model    leadership
	search   search[term]
	progress progress
	added    int
	referred bool // porcupine decided
	// The last operation's, to tell the further ones of the same Claim.
	call    uint64
	verb    history.Verb
	process history.ID
}

// leadershipCheck finds the roles as they turn up.
type leadershipCheck struct {
	h       *history.History
	narrow  bool
	leads   []int32
	meter   meter
	roles   []*roleCheck
	finding Finding
}

func checkLeadership(h *history.History, o Options, p *partitions) Finding {
	c := &leadershipCheck{h: h, narrow: o.Narrow, leads: p.leads, meter: meter{ctx: o.Context, budget: o.Budget}}
	c.meter.budget.Steps = max(o.Budget.Steps, 16*uint64(len(h.Operations))) // one partition may be the whole history
	c.meter.begin()
	for i := range h.Operations {
		o, r := c.translate(int32(i))
		if r != nil && r.progress == going {
			r.progress = r.search.add(&o)
			r.added++
		}
	}
	for _, r := range c.roles {
		c.decide(r)
	}
	c.finding.Steps = c.meter.steps
	return c.finding.conclude()
}

// translate returns one operation with its role, if the model can learn from it: it was accepted under
// its epoch, or it was fenced. What failed otherwise, or may not have happened, says nothing about the epoch.
func (c *leadershipCheck) translate(i int32) (o op, r *roleCheck) {
	from := &c.h.Operations[i]
	if from.Epoch == 0 && from.Verb != history.Lead || from.Outcome == history.Fail && from.Code != history.Fenced {
		return o, nil
	}
	o = op{index: i, verb: from.Verb, number: numbered(from.Epoch), choices: 1, looks: from.Verb != history.Lead}
	if from.Outcome == history.Fail {
		o.answer, o.looks = fenced, true
	}
	if !o.timing(from, c.narrow) || o.optional && o.looks {
		return o, nil
	}
	r = c.of(from)
	if r == nil || r.same(&o, from.Process) {
		return o, nil
	}
	if o.optional {
		o.number = 0
	}
	if o.verb == history.Lead && o.number == 0 {
		o.choices = uint16(len(r.model.epochs)) + 1
	}
	return o, r
}

// same tells that the operation belongs to the same call as the one before: a Claim is one operation per task.
func (r *roleCheck) same(o *op, process history.ID) bool {
	if r.call == o.call && r.verb == o.verb && r.process == process {
		return true
	}
	r.call, r.verb, r.process = o.call, o.verb, process
	return false
}

// of returns the search of the operation's role, nil if it has none.
func (c *leadershipCheck) of(from *history.Operation) *roleCheck {
	role := roleOf(from.Verb)
	if from.Verb == history.Lead || from.Verb == history.Confirm {
		role = from.Detail
	}
	if role == "" {
		return nil
	}
	for _, r := range c.roles {
		if r.role == role {
			return r
		}
	}
	r := &roleCheck{role: role}
	r.model.epochs = c.epochs(role)
	r.search = search[term]{step: r.model.step, hash: hashTerm, meter: &c.meter}
	r.search.begin(0)
	c.roles = append(c.roles, r)
	return r
}

// epochs are those that a lost Lead of the role may have been granted: none where no Lead was lost.
func (c *leadershipCheck) epochs(role string) []uint64 {
	lost := slices.ContainsFunc(c.leads, func(i int32) bool {
		o := &c.h.Operations[i]
		return o.Outcome == history.Unknown && o.Detail == role && !(c.narrow && o.Applied != history.Unknown)
	})
	if !lost {
		return nil
	}
	var epochs []uint64
	for i := range c.h.Operations {
		o := &c.h.Operations[i]
		if o.Epoch != 0 && (roleOf(o.Verb) == role || o.Detail == role && (o.Verb == history.Lead || o.Verb == history.Confirm)) {
			epochs = append(epochs, numbered(o.Epoch))
		}
	}
	slices.Sort(epochs)
	return slices.Compact(epochs)
}

// decide ends a role's search.
func (c *leadershipCheck) decide(r *roleCheck) {
	c.finding.Partitions++
	c.finding.Operations += r.added
	if r.progress == going {
		r.progress = r.search.finish()
	}
	if r.referred = r.progress == crowded; r.referred {
		c.finding.Fallbacks++
		r.progress = c.fallback(r)
	}
	c.finding.file(r.progress, func() Failure { return c.explain(r) })
}

// operations are those of one role once more, for the reference: it cannot be fed one by one.
func (c *leadershipCheck) operations(of *roleCheck) (ops []op) {
	again := leadershipCheck{h: c.h, narrow: c.narrow, leads: c.leads}
	for i := range c.h.Operations {
		if o, r := again.translate(int32(i)); r != nil && r.role == of.role {
			ops = append(ops, o)
		}
	}
	return ops
}
