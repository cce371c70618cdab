package reports

import (
	"strconv"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports/figure"
)

// mostRows bounds the full timeline: beyond it the page grows and nobody reads on.
const mostRows = 150

// gantt is the timeline of all tasks.
type gantt struct {
	Drawing *figure.Drawing
	Tasks   int
	Shown   int
	Table   []tableRow
}

// mostTableRows bounds the table behind the full timeline.
const mostTableRows = 600

// fullTimeline draws the containers of every task, one row each, with the faults above.
func (s *scene) fullTimeline() gantt {
	rows := s.ganttRows()
	t := figure.Timeline{ID: "all-tasks", Label: "Containers of all tasks over the whole run, faults above", From: 0, To: s.end,
		Width: wideWidth, Gutter: wideGutter}
	lanes := []figure.Lane{s.allFaultsLane()}
	if len(lanes[0].Items) == 0 {
		lanes = nil
	}
	byTask := map[history.ID][]container{}
	for _, c := range s.containers {
		byTask[c.Task] = append(byTask[c.Task], c)
	}
	for _, id := range rows {
		lanes = append(lanes, s.ganttLane(id, byTask[id]))
	}
	t.Lanes = lanes
	if s.broken != nil {
		t.Focus = s.spotlight()
		t.Focus[0].ID = ""
	}
	g := gantt{Drawing: t.DrawDense(), Tasks: len(s.real), Shown: len(rows), Table: tableOf(lanes)}
	g.Table = g.Table[:min(len(g.Table), mostTableRows)]
	return g
}

// ganttRows chooses the tasks to show: all of them if there is room, else those that violations
// name first, then those with the most containers' worth of trouble, then the others; in order of the record.
func (s *scene) ganttRows() []history.ID {
	var rows []history.ID
	if len(s.real) <= mostRows {
		return s.real
	}
	chosen := map[history.ID]bool{}
	take := func(id history.ID) {
		if id != 0 && len(chosen) < mostRows {
			chosen[id] = true
		}
	}
	for _, v := range s.run.Report.Violations {
		take(find(s.h.Tasks, v.Task))
	}
	attempts := map[history.ID]int{}
	for _, c := range s.containers {
		if attempts[c.Task]++; attempts[c.Task] == 2 {
			take(c.Task)
		}
	}
	for _, id := range s.real {
		take(id)
	}
	for _, id := range s.real {
		if chosen[id] {
			rows = append(rows, id)
		}
	}
	return rows
}

func (s *scene) ganttLane(id history.ID, own []container) figure.Lane {
	name := s.names.task(id)
	lane := figure.Lane{Key: "task-" + strconv.Itoa(int(id)), Name: name, Search: name, BarHeight: 8}
	var free []time.Duration // when each row of the lane is free again
	for _, c := range own {
		lane.Search += " " + s.node(c.Node)
		row := firstFree(&free, c)
		class := "run"
		if !c.Worked {
			class = "run idle"
		}
		end := "alive at the end of the record"
		if c.Ended {
			end = either(c.Exit, "ended")
		}
		lane.Items = append(lane.Items, figure.Item{Row: row, From: c.From, To: c.To, Class: class,
			Title: name + " on " + s.node(c.Node) + tokenWords(c.Token) + ", " + seconds(c.From) + " to " + seconds(c.To) + ", " + end})
		for _, e := range c.Effects {
			if e.Counted {
				lane.Items = append(lane.Items, figure.Item{From: e.At, To: e.At, Glyph: "tick", Class: "counted", Row: row,
					Title: name + ": result counted at " + seconds(e.At)})
			}
		}
	}
	for _, v := range s.run.Report.Violations {
		if v.Task == name {
			lane.Marked = true
		}
	}
	for _, o := range overlaps(own) {
		lane.Items = append(lane.Items, figure.Item{From: o.From, To: o.To, Class: "overlap", Over: true,
			Title: "Two executions of " + name + " at once for " + seconds(o.To-o.From)})
	}
	return lane
}

// firstFree puts a container on the first row on which nothing runs any more.
func firstFree(free *[]time.Duration, c container) string {
	for i, at := range *free {
		if at <= c.From {
			(*free)[i] = c.To
			return strconv.Itoa(i)
		}
	}
	*free = append(*free, c.To)
	return strconv.Itoa(len(*free) - 1)
}

func (s *scene) allFaultsLane() figure.Lane {
	lane := figure.Lane{Key: "all-faults", Name: "Faults", BarHeight: 10}
	for _, f := range s.truth.faults {
		if !f.Struck {
			continue
		}
		lane.Items = append(lane.Items, figure.Item{From: f.StruckAt, To: f.until(s.end), Class: "fault",
			Title: "Fault " + strconv.Itoa(int(f.Number)) + ": " + f.What + ", " + seconds(f.StruckAt) + " to " + seconds(f.until(s.end))})
	}
	return lane
}
