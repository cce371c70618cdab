package linearize

import "github.com/squall-chaos/squall/checker/history"

// partitions is the ledger's operations by task: counted first and then placed, so that nothing is sorted.
type partitions struct {
	starts []int32 // of the task's indexes in index; one more than tasks
	index  []int32 // into History.Operations, by task, in order of Call
	// astray are the calls of lost claims of which not even the task is known.
	astray []history.Seq
	leads  []int32 // the Leads
}

// of returns the indexes of one task's operations.
func (p *partitions) of(task int) []int32 { return p.index[p.starts[task-1]:p.starts[task]] }

// tasks is how many tasks there may be.
func (p *partitions) tasks() int { return len(p.starts) - 1 }

func partition(h *history.History, narrow bool) *partitions {
	p := &partitions{starts: make([]int32, len(h.Tasks)+1)}
	total := p.count(h, narrow)
	sum := int32(0)
	for task, n := range p.starts {
		p.starts[task] = sum
		sum += n
	}
	p.index = make([]int32, total)
	for i := range h.Operations {
		if o := &h.Operations[i]; o.Task > 0 && inLedger[o.Verb] {
			p.index[p.starts[o.Task]] = int32(i)
			p.starts[o.Task]++
		}
	}
	return p
}

// count leaves in starts[t] the number of operations of task t, and notes what concerns no task alone. The
// placing then moves every start to the end of its task, which is where the next one begins.
func (p *partitions) count(h *history.History, narrow bool) (total int) {
	for i := range h.Operations {
		o := &h.Operations[i]
		switch {
		case o.Task > 0 && inLedger[o.Verb]:
			for int(o.Task) >= len(p.starts) {
				p.starts = append(p.starts, 0)
			}
			p.starts[o.Task]++
			total++
		case o.Verb == history.Lead:
			p.leads = append(p.leads, int32(i))
		case o.Verb == history.Claim && o.Outcome == history.Unknown && !(narrow && o.Applied != history.Unknown):
			p.astray = append(p.astray, o.Call)
		}
	}
	return total
}
