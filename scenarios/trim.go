package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// trim leaves groups of more tasks than most with that many, or with as many as the scenario speaks of: a task by its number, or the
// nth call of a fault. They arrive over the same time as all would have.
func (s *Scenario) trim(most int) {
	if most == 0 {
		return
	}
	for i := range s.Tasks {
		g := &s.Tasks[i]
		have := max(most, 2, s.spokenOf(g.Name)) // one alone would have another name
		if g.Count <= have {
			continue
		}
		s.fitted = append(s.fitted, fmt.Sprintf("group %s has %d tasks instead of %d", g.Name, have, g.Count))
		batch := max(1, (have*g.Arrive.Batch+g.Count-1)/g.Count)
		stretch := float64(gaps(g.Count, g.Arrive.Batch)) / float64(max(1, gaps(have, batch)))
		g.Arrive.Every = g.Arrive.Every.Each(func(d time.Duration) time.Duration {
			return time.Duration(float64(d) * stretch).Round(time.Millisecond)
		})
		if g.Count = have; g.Arrive.Batch > 0 {
			g.Arrive.Batch = batch
		}
	}
}

// gaps is how often tasks that arrive in batches are waited for.
func gaps(count, batch int) int { return (count - 1) / max(1, batch) }

// spokenOf is the largest number by which the scenario knows a task of the group.
func (s *Scenario) spokenOf(group string) int {
	largest := 0
	for _, f := range s.Faults {
		largest = max(largest, numberIn(group, f.Target.Task), numberIn(group, strings.TrimPrefix(f.Target.Node, "task:")), f.Target.Nth)
	}
	for _, c := range s.Clients {
		for _, task := range []string{c.Cancel, c.Read, c.Resume, c.Submit} {
			largest = max(largest, numberIn(group, task))
		}
	}
	expected := []*Expectation{s.Expect.Reference, s.Expect.Naive}
	for i := range s.Expect.Planted {
		expected = append(expected, &s.Expect.Planted[i].Expectation)
	}
	for _, e := range slices.DeleteFunc(expected, func(e *Expectation) bool { return e == nil }) {
		for _, t := range e.Tasks {
			largest = max(largest, numberIn(group, t.Task))
		}
		for _, c := range e.Calls {
			largest = max(largest, numberIn(group, c.Task))
		}
	}
	return largest
}

// numberIn is 7 for task-7 of the group task, and 0 for what is no task of it.
func numberIn(group, task string) int {
	text, ok := strings.CutPrefix(task, group+"-")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
