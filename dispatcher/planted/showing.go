package planted

// Showing is where an invariant is seen broken.
type Showing struct {
	Invariant  string
	Dispatcher string // of a defect
	Scenario   string // of the library
	Seeds      int    // within how many seeds, counted from 1
}

// Showings lists, for each invariant that a planted dispatcher breaks reliably, the one that shows it best: alone if
// possible. Invariants that are not among them are put to the test by the checkers' own tests only.
func Showings() []Showing {
	return []Showing{
		{"I1-overlap", "random-names", "lost-create-reply", 1},
		{"I1-effect", "absence-is-todo", "lost-create-reply", 1},
		{"I2-stranded", "rollback-inside", "node-kill-and-return", 1},
		{"I3-loss", "create-error-is-failure", "lost-create-reply", 1},
		{"I4-cancel", "cancel-row-only", "cancel-while-running", 1},
		{"I5-budget", "crash-not-charged", "poison-task", 1},
		{"I5-rate", "no-backoff-on-refusal", "spent-quota", 1},
		{"I5-false-death", "age-alone", "slow-start-long-run", 1},
		{"I6-fence", "no-epoch", "paused-with-write-in-flight", 1},
		{"I7-progress", "counter-by-events", "watch-silent", 1},
		{"I7-limit", "unbounded-claims", "spent-quota", 1},
		{"I8-truth", "exit-code-is-result", "exit-without-result", 1},
		{"I8-terminal", "terminal-overwritten", "finished-while-replica-lags", 1},
		{"I8-leak", "finalizer-never-released", "demo", 1},
		{"L1-ledger", "result-by-state", "late-result", 20},
		{"L2-leadership", "leadership-in-a-boolean", "lease-lapsed-unnoticed", 1},
	}
}

// ShowingOf returns where the invariant is seen broken.
func ShowingOf(invariant string) (Showing, bool) {
	for _, s := range Showings() {
		if s.Invariant == invariant {
			return s, true
		}
	}
	return Showing{}, false
}
