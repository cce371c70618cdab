package linearize

import "github.com/squall-chaos/squall/checker/history"

// ledgerCheck is what the check of all tasks shares.
type ledgerCheck struct {
	translator
	search  search[row]
	meter   meter
	finding Finding
	// referred is set when porcupine decided the present task.
	referred bool
}

func checkLedger(h *history.History, o Options, p *partitions) Finding {
	c := &ledgerCheck{translator: translator{h: h, narrow: o.Narrow, astray: p.astray}}
	c.meter = meter{ctx: o.Context, budget: o.Budget}
	c.search = search[row]{step: c.model.step, hash: hashRow, meter: &c.meter}
	for task := 1; task <= p.tasks(); task++ {
		index := p.of(task)
		if len(index) == 0 {
			continue
		}
		c.finding.Partitions++
		c.finding.Operations += len(index)
		found := c.decide(history.ID(task), index)
		c.finding.file(found, func() Failure { return c.explain(history.ID(task)) })
	}
	c.finding.Steps = c.meter.steps
	return c.finding.conclude()
}

// decide searches one task, at first without what may have happened unseen: that is rarely needed, and more cannot
// make a legal history illegal.
func (c *ledgerCheck) decide(task history.ID, index []int32) progress {
	if !c.meter.begin() {
		return spent
	}
	c.task(task, index)
	p := c.search.run(c.ops, row{})
	if p == stuck && c.widen() {
		p = c.search.run(c.ops, row{})
	}
	if c.referred = p == crowded; c.referred {
		c.finding.Fallbacks++
		p = c.fallback()
	}
	return p
}
