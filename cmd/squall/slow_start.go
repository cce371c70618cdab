package main

import (
	"fmt"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// slowStart is how long a container may take to begin, once its pod has a node, before a machine looks too slow for the times of a run.
const slowStart = 5 * time.Second

// slowStarts says that containers of a live run began late, which ends work that is sound by its deadlines; "" if none did.
func slowStarts(h *history.History) string {
	bound, slow, most, began := map[string]time.Duration{}, 0, time.Duration(0), 0
	for _, e := range h.Events {
		switch e.Kind {
		case history.ObjectBound:
			bound[e.Object] = e.At
		case history.ContainerStarted:
			at, told := bound[e.Object]
			if !told {
				continue
			}
			delete(bound, e.Object) // one that is started again is not meant
			began++
			if took := e.At - at; took >= slowStart {
				slow, most = slow+1, max(most, took)
			}
		}
	}
	if slow == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s began %s or more after their pods had a node, the slowest after %s: where no fault did that, the machine is busy, or too slow "+
		"for these times; a smaller --scale leaves it room", slow, count(began, "container", "containers"), slowStart, most.Round(100*time.Millisecond))
}
