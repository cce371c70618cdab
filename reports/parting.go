package reports

// PartingOf is the first step at which the abstract traces of a task part in two runs: the phases of its row, whatever their times;
// nil where they do not. The task is the one that parts first in the second run.
func PartingOf(first, second *Run) *Parting { return partingOf(first.record(), second.record()) }
