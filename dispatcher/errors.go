package dispatcher

import "errors"

// Adapters wrap these; callers ask with errors.Is or the predicates below and never
// look at an error's text.
var (
	// ErrUnknown: the call may or may not have taken effect. Never read as failure or absence.
	ErrUnknown = errors.New("outcome unknown")
	// ErrUnavailable: nothing reached the server, so nothing happened.
	ErrUnavailable = errors.New("unavailable")
	// ErrNotFound: proof, by a live read, that it is not there.
	ErrNotFound = errors.New("not found")
	// ErrExists: the name is taken.
	ErrExists = errors.New("already exists")
	// ErrConflict: the row or object is not as the caller read it.
	ErrConflict = errors.New("conflict")
	// ErrFenced: the caller's term is over.
	ErrFenced = errors.New("fenced: a newer term leads")
	// ErrRefused: the worker's ticket is not, or no longer, the current one.
	ErrRefused = errors.New("refused: superseded or cancelled")
	// ErrThrottled: 429, or a spent quota; nothing happened, try later.
	ErrThrottled = errors.New("throttled")
	// ErrRejected: refused for good (a plain 4xx); nothing happened, do not try again.
	ErrRejected = errors.New("rejected")
	// ErrExpired: 410 Gone, the watch or continue token is too old; list again.
	ErrExpired = errors.New("resource version expired")
)

// Unknown tells whether the call behind err may have taken effect: every error that is
// not a definite refusal counts, so a new kind of error is safe by default.
func Unknown(err error) bool {
	return err != nil && !Definite(err)
}

// Definite tells whether err proves that the call changed nothing.
func Definite(err error) bool {
	for _, known := range []error{ErrUnavailable, ErrNotFound, ErrExists, ErrConflict, ErrFenced,
		ErrRefused, ErrThrottled, ErrRejected, ErrExpired} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
