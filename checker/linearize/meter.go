package linearize

import "context"

// meter counts the work of one partition against its budget.
type meter struct {
	ctx     context.Context
	budget  Budget
	steps   uint64 // of all partitions
	begun   uint64 // where this partition's steps begin
	poll    uint64 // when to look at the context again
	expired bool   // the time for all partitions is over
	// exhausted is set when this partition's budget is used up.
	exhausted bool
}

// pollEvery is how many steps may pass between two looks at the context: some 50 microseconds.
const pollEvery = 4096

// begin starts a partition's budget; false when the time for all of them is over.
func (m *meter) begin() bool {
	m.begun, m.exhausted = m.steps, false
	return m.allows(0)
}

// allows tells whether the search may go on with so many configurations.
func (m *meter) allows(configs int) bool {
	if m.steps >= m.poll {
		m.poll = m.steps + pollEvery
		m.expired = m.expired || m.ctx.Err() != nil
	}
	if m.expired || m.steps-m.begun >= m.budget.Steps || configs > m.budget.Configurations {
		m.exhausted = true
	}
	return !m.exhausted
}
