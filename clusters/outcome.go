package clusters

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// All worlds record in the same words: what follows translates the protocol's.

// ErrReset is a connection that broke before a reply.
var ErrReset = fmt.Errorf("connection reset: %w", dispatcher.ErrUnknown)

var errServer = errors.New("internal server error")

// codes pairs the protocol's errors with the words of the history.
var codes = []struct {
	err  error
	code history.Code
}{
	{dispatcher.ErrUnavailable, history.Unavailable},
	{dispatcher.ErrNotFound, history.NotFound},
	{dispatcher.ErrExists, history.Exists},
	{dispatcher.ErrConflict, history.Conflict},
	{dispatcher.ErrFenced, history.Fenced},
	{dispatcher.ErrRefused, history.Refused},
	{dispatcher.ErrThrottled, history.Throttled},
	{dispatcher.ErrRejected, history.Rejected},
	{dispatcher.ErrExpired, history.Expired},
	{ErrReset, history.Reset}, // before ErrUnknown, which it is too
	{dispatcher.ErrUnknown, history.Timeout},
}

// broken are the errors of a real connection that ended before the reply.
var broken = []error{syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF}

// OutcomeOf is what a caller knows from an error.
func OutcomeOf(err error) (history.Outcome, history.Code) {
	if err == nil {
		return history.OK, history.NoCode
	}
	for _, c := range codes {
		if !errors.Is(err, c.err) {
			continue
		}
		if !dispatcher.Unknown(c.err) {
			return history.Fail, c.code
		}
		return history.Unknown, resetOr(c.code, err)
	}
	return history.Unknown, resetOr(history.Internal, err)
}

// resetOr tells a broken connection from any other unknown outcome.
func resetOr(code history.Code, err error) history.Code {
	for _, b := range broken {
		if errors.Is(err, b) {
			return history.Reset
		}
	}
	return code
}

// ErrorOf is the error that a code stands for.
func ErrorOf(code history.Code) error {
	for _, c := range codes {
		if c.code == code {
			return c.err
		}
	}
	return errServer
}

// PhaseOf translates a phase.
func PhaseOf(p dispatcher.Phase) history.Phase {
	switch p {
	case dispatcher.Pending:
		return history.Pending
	case dispatcher.Running:
		return history.Running
	case dispatcher.Succeeded:
		return history.Succeeded
	case dispatcher.Failed:
		return history.Failed
	case dispatcher.Cancelled:
		return history.Cancelled
	case dispatcher.NeedsAttention:
		return history.NeedsAttention
	}
	return history.NoPhase
}

// SpecOf is what checkers need to know about a submitted task.
func SpecOf(s dispatcher.Spec) history.Spec {
	return history.Spec{MaxFailures: s.MaxFailures, MaxDisruptions: s.MaxDisruptions, StartDeadline: s.StartDeadline, Deadline: s.Deadline}
}

// LimitsOf are the limits that the settings set; late is the longest that an effect came after its caller's deadline.
func LimitsOf(s dispatcher.Settings, late time.Duration) history.Limits {
	return history.Limits{
		ClaimBatch: s.ClaimBatch, MaxInFlight: s.MaxInFlight, RecoverBatch: s.RecoverBatch,
		MaxFailures: s.MaxFailures, MaxDisruptions: s.MaxDisruptions,
		Tick: s.Tick, RecoveryGrace: s.RecoveryGrace, RecoverInterval: s.RecoverInterval,
		CreateTimeout: s.CreateTimeout, PodGrace: s.PodGrace,
		Handover:     s.LeaseTTL + 2*s.RetryPeriod,
		CallMax:      s.CreateTimeout + late,
		StartTimeout: s.StartTimeout, Deadline: s.WorkflowDeadline,
	}
}
