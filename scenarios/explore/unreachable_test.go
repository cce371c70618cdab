package explore_test

import (
	"cmp"

	"github.com/squall-chaos/squall/dispatcher/planted"
)

// unseen says why one fault in the small worlds does not show a defect: what is known beforehand, or that all of them were searched to the end
// and it takes what happens in the defect's own scenario.
func unseen(d planted.Defect) string {
	return cmp.Or(unreachable[d.System.Name], "searched to the end; it takes what happens in "+d.Scenario)
}

// unreachable are those for which a search to the end is of no use, and why.
var unreachable = map[string]string{
	"counter-by-events": "it takes 25 tasks to fill its places",
	"catch-up-refused":  "it takes a hundred tasks that were missed",
	"worker-not-owned":  "it takes a launcher",
}
