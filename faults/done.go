package faults

// Done tells that every fault of the plan has struck and healed.
func (in *Injector) Done() bool {
	for i := range in.strikes {
		if !in.strikes[i].healed {
			return false
		}
	}
	return true
}
