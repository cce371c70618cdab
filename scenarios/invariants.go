package scenarios

// Invariants lists the names of everything that a verdict can find violated.
func Invariants() []string {
	return []string{"I1-overlap", "I1-effect", "I2-stranded", "I3-loss", "I4-cancel", "I5-budget", "I5-rate", "I5-false-death",
		"I6-fence", "I7-progress", "I7-limit", "I8-truth", "I8-terminal", "I8-leak", "L1-ledger", "L2-leadership"}
}
