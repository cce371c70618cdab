package faults

// Done tells that every fault of the plan has struck and that none has yet to heal by itself: whatever still lasts,
// lasts until HealAll, and a run in which nothing is left to do need not wait for that.
func (in *Injector) Done() bool {
	for i, s := range in.strikes {
		if !s.struck || !s.healed && (in.plan[i].For > 0 || in.plan[i].Kind == SpotReclaim) {
			return false
		}
	}
	return true
}
