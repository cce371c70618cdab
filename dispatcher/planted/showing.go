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
		{"I1-effect", "naive", "swarm-b0", 20},
		{"I2-stranded", "rollback-inside", "node-kill-and-return", 1},
		{"I3-loss", "create-error-is-failure", "lost-create-reply", 1},
		{"I4-cancel", "cancel-row-only", "cancel-while-running", 1},
		{"I5-budget", "naive", "swarm-b0", 20},
		{"I5-false-death", "age-alone", "slow-start-long-run", 1},
		{"I6-fence", "no-epoch", "paused-with-write-in-flight", 1},
		{"I8-leak", "naive", "swarm-b0", 20},
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
