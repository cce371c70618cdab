package linearize

import "context"

// meter counts the work of one partition against its budget.
type meter struct {
	ctx     context.Context
	budget  Budget
	steps   uint64 // of all partitions
	end     uint64 // where this partition's steps are used up
	poll    uint64 // when to look at the context again
	expired bool
}

// pollEvery is how many steps may pass between two looks at the context: some 50 microseconds.
const pollEvery = 4096

// begin starts a partition's budget; false when the time for all of them is over.
func (m *meter) begin() bool {
	m.end = m.steps + m.budget.Steps
	return m.allows(0)
}

// allows tells whether the search may go on with so many configurations.
func (m *meter) allows(configs int) bool {
	if m.steps >= m.poll {
		m.poll = m.steps + pollEvery
		m.expired = m.expired || m.ctx.Err() != nil
	}
	return !m.expired && m.steps < m.end && configs <= m.budget.Configurations
}
