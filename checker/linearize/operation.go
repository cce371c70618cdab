package linearize

import (
	"math"

	"github.com/squall-chaos/squall/checker/history"
)

// never is the return of an operation whose outcome its caller never learned.
const never = math.MaxUint64

// answer is what the server said.
type answer uint8

const (
	accepted    answer = iota // done, or for Read: this is the row
	missing                   // no such row
	refused                   // the worker may not
	conflicting               // a Submit of another spec, or a Resume of what is not stopped
	fenced                    // a newer term leads
)

// op is an operation as both searches see it: small, without pointers, one size for both models.
type op struct {
	call, ret uint64
	number    uint64 // the token or the epoch, as numbered writes it; 0: not known
	index     int32  // in History.Operations
	choices   uint16 // how many outcomes step has to be asked for
	workload  uint32 // number of the workload's UID within the partition; 0: not known
	ticket    uint32 // Finish: number of the token, workload and result within the partition
	verb      history.Verb
	answer    answer
	phase     history.Phase // right after; NoPhase: not known
	detail    detail
	// cancelling is only meaningful when phase is known.
	cancelling bool
	optional   bool // may not have happened
	looks      bool // changes nothing, whatever the state
}

// alike tells whether two operations differ in their interval only.
func (o *op) alike(p *op) bool {
	a, b := *o, *p
	a.call, a.ret, a.index = 0, 0, 0
	b.call, b.ret, b.index = 0, 0, 0
	return a == b
}

// before tells whether the operation is settled before the other: it returns first, or neither ever does and it alone must
// have happened.
func (o *op) before(p *op) bool {
	return o.ret < p.ret || o.ret == p.ret && p.optional && !o.optional
}

// detail is what Operation.Detail says, as far as a model asks.
type detail uint8

const (
	noDetail detail = iota
	succeeded
	failed
	cancelled
)

// numbered doubles a token or epoch, so that the odd numbers are free for those that nobody saw:
// the number of an unseen one lies just above the last seen.
func numbered(n uint64) uint64 { return n << 1 }

// unseen is the number that a lost grant leaves behind when nobody saw it.
func unseen(after uint64) uint64 { return after | 1 }

// timing sets the interval, and whether the operation must have happened; false leaves it out.
func (o *op) timing(from *history.Operation, narrow bool) bool {
	o.call, o.ret, o.optional = uint64(from.Call), never, false
	if from.Outcome != history.Unknown {
		if from.Return != 0 {
			o.ret = uint64(from.Return)
		}
		return true
	}
	switch {
	case narrow && from.Applied == history.Fail:
		return false
	case narrow && from.Applied == history.OK:
		if seen := max(from.Effect, from.Visible); seen != 0 {
			o.ret = uint64(seen)
		}
	default:
		o.optional = true
	}
	return true
}
