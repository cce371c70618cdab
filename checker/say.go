package checker

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// clock is a moment or a duration in messages: seconds, to the millisecond.
func clock(d time.Duration) string {
	seconds := math.Round(d.Seconds()*1000) / 1000
	return strconv.FormatFloat(seconds, 'f', -1, 64) + " s"
}

func (r *run) task(id history.ID) string    { return name(r.Tasks, id) }
func (r *run) process(id history.ID) string { return name(r.Processes, id) }

func name(names []string, id history.ID) string {
	if id == 0 {
		return ""
	}
	return names[id-1]
}

// try names an attempt: "attempt 1 (token 17)".
func (r *run) try(task history.ID, token uint64) string {
	if number := r.attempt(task, token); number > 0 {
		return fmt.Sprintf("attempt %d (token %d)", number, token)
	}
	return fmt.Sprintf("an attempt with token %d", token)
}

// where says on which node something was, when that is known.
func (r *run) where(e *history.Event) string {
	if e.Node == 0 {
		return ""
	}
	return " on " + name(r.Nodes, e.Node)
}

// until says when an execution ended.
func (r *run) until(x *execution) string {
	if x.end < 0 {
		return "until after the end of the run"
	}
	return "until " + clock(r.Events[x.end].At)
}

// plural is "1 task", "2 tasks".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
