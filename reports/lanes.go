package reports

import (
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports/figure"
)

// The keys of lanes that arrows point at.
const (
	rowLane       = "row"
	objectLane    = "object"
	containerLane = "container"
)

// lanes builds the lanes of the minimal timeline from top to bottom: who asked, who decided, what the
// records say, what truly ran, where, and what was broken on purpose.
func (s *scene) lanes(numbers map[history.Seq]int) []figure.Lane {
	var lanes []figure.Lane
	for _, role := range []string{"client", "dispatcher", "reconciler", ""} {
		for _, id := range s.actors {
			if roleOf(s.process(id)) == role {
				lanes = append(lanes, s.processLane(id, numbers))
			}
		}
	}
	lanes = append(lanes, s.rowsLane(numbers), s.objectsLane(), s.containersLane(numbers))
	if deadlines := s.deadlinesLane(); len(deadlines.Items) > 0 {
		lanes = append(lanes, deadlines)
	}
	if nodes := s.nodesLane(numbers); len(nodes.Items) > 0 {
		lanes = append(lanes, nodes)
	}
	if faults := s.faultsLane(numbers); len(faults.Items) > 0 {
		lanes = append(lanes, faults)
	}
	return lanes
}

// roleOf groups processes by their names; empty for what is neither.
func roleOf(process string) string {
	for _, role := range []string{"client", "dispatcher", "reconciler"} {
		if strings.HasPrefix(process, role) {
			return role
		}
	}
	return ""
}

// processLane shows one process: its terms and pauses behind, its calls in front.
func (s *scene) processLane(id history.ID, numbers map[history.Seq]int) figure.Lane {
	lane := figure.Lane{Key: "process-" + strconv.Itoa(int(id)), Name: s.process(id), BarHeight: 12, MaxTracks: 4}
	backdrops := append(s.terms(id), s.absences(id)...)
	lane.Items = append(lane.Items, backdrops...)
	for _, o := range s.calls {
		if o.Process == id && !byWorker(o.Verb) {
			lane.Items = append(lane.Items, s.callItem(o, numbers))
		}
	}
	for i := range lane.Items {
		lane.Items[i].Row = "calls"
	}
	for _, e := range s.events {
		if e.Process == id && numbers[e.Seq] > 0 && e.Kind != history.LeaseHeld {
			glyph := map[history.Kind]string{history.ProcessCrashed: "cross"}[e.Kind]
			lane.Items = append(lane.Items, figure.Item{Row: "calls", From: e.At, Glyph: either(glyph, "tick"), Class: "state",
				Label: processWords[e.Kind], Moment: numbers[e.Seq], Title: seconds(e.At) + ": " + s.process(id) + " " + processWords[e.Kind]})
		}
	}
	return lane
}

var processWords = map[history.Kind]string{
	history.ProcessStarted: "starts", history.ProcessCrashed: "crash",
	history.ProcessPaused: "paused", history.ProcessResumed: "goes on",
}

// callItem is a call as a bar from call to return.
func (s *scene) callItem(o history.Operation, numbers map[history.Seq]int) figure.Item {
	item := figure.Item{ID: "op-" + seed(uint64(o.Call)), From: o.CalledAt, To: returned(o, s.end), Class: "call",
		Label: o.Verb.String(), Moment: numbers[o.Call], Quiet: routine(o) || s.again(o), Title: s.callTitle(o)}
	switch o.Outcome {
	case history.Unknown:
		item.OpenEnd, item.Class = true, "call unknown"
		item.Label += ", " + either(o.Code.String(), "no reply")
		if o.Applied == history.OK {
			item.Label = o.Verb.String() + ", reply lost"
		}
	case history.Fail:
		item.Class = "call failed"
		item.Label += ": " + either(o.Code.String(), "failed")
	default:
		if o.Return == 0 {
			item.OpenEnd, item.Class = true, "call unknown"
		}
		if routine(o) {
			item.Class = "call quiet"
		}
	}
	item.Label += s.timesWord(o)
	if item.Moment > 0 {
		item.Quiet = false
	}
	return item
}

func (s *scene) callTitle(o history.Operation) string {
	title := s.process(o.Process) + ": " + o.Verb.String()
	if o.Task != 0 {
		title += " " + s.names.task(o.Task)
	}
	title += ", " + seconds(o.CalledAt) + " to " + seconds(returned(o, s.end)) + ", " + outcomeWords(o)
	if o.Token != 0 {
		title += tokenWords(o.Token)
	}
	if o.Epoch != 0 {
		title += epochWords(o.Epoch)
	}
	return title + because(o.Detail)
}

// terms are the stretches in which the store counted the process's writes: from its Lead to the next
// one of the same role.
func (s *scene) terms(id history.ID) []figure.Item {
	var items []figure.Item
	open := -1
	role := ""
	for _, o := range s.h.Operations {
		if o.Verb != history.Lead || o.Applied == history.Fail || o.Outcome == history.Fail {
			continue
		}
		if open >= 0 && o.Detail == role {
			items[open].To = returned(o, s.end)
			open = -1
		}
		if o.Process == id {
			role = o.Detail
			items = append(items, figure.Item{From: returned(o, s.end), To: s.end, Backdrop: true, Class: "term",
				Title: s.process(id) + " leads" + epochWords(o.Epoch)})
			open = len(items) - 1
		}
	}
	return s.visible(items)
}

// absences are the stretches in which the process was paused or down.
func (s *scene) absences(id history.ID) []figure.Item {
	var items []figure.Item
	open := false
	for _, e := range s.h.Events {
		if e.Process != id {
			continue
		}
		switch e.Kind {
		case history.ProcessPaused, history.ProcessCrashed:
			word := map[history.Kind]string{history.ProcessPaused: "paused", history.ProcessCrashed: "down"}[e.Kind]
			items = append(items, figure.Item{From: e.At, To: s.end, Backdrop: true, Class: "absent", Title: s.process(id) + " is " + word})
			open = true
		case history.ProcessResumed, history.ProcessStarted:
			if open {
				items[len(items)-1].To = e.At
				open = false
			}
		}
	}
	return s.visible(items)
}

// visible keeps what lies in the window, at least in part.
func (s *scene) visible(items []figure.Item) []figure.Item {
	var kept []figure.Item
	for _, item := range items {
		if s.within(item.From, max(item.From, item.To)) {
			kept = append(kept, item)
		}
	}
	return kept
}

// rowsLane shows what the database says of the task.
func (s *scene) rowsLane(numbers map[history.Seq]int) figure.Lane {
	lane := figure.Lane{Key: rowLane, Name: "Row", Sub: "what Postgres says", BarHeight: 20, Inside: true, MaxTracks: 3}
	var items []figure.Item
	for _, e := range s.h.Events {
		if e.Kind != history.Row || e.Task != s.task || s.task == 0 {
			continue
		}
		label := rowLabel(e)
		if last := len(items) - 1; last >= 0 {
			if items[last].Label == label {
				continue
			}
			items[last].To = e.At
		}
		items = append(items, figure.Item{Row: "row", From: e.At, To: s.end, Class: "phase phase-" + dashed(e.Phase.String()),
			Label: label, Moment: numbers[e.Seq], Title: "From " + seconds(e.At) + " the row says " + label + because(e.Detail)})
	}
	lane.Items = s.visible(items)
	return lane
}

func rowLabel(e history.Event) string {
	label := either(e.Phase.String(), "no phase")
	if e.Phase == history.Running {
		label += tokenWords(e.Token)
	}
	if e.Cancelling && e.Phase != history.Cancelled {
		label += ", cancel wanted"
	}
	return label
}

func dashed(s string) string { return strings.ReplaceAll(s, " ", "-") }

// objectsLane shows what the API server says of the task's objects.
func (s *scene) objectsLane() figure.Lane {
	lane := figure.Lane{Key: objectLane, Name: "API object", Sub: "what Kubernetes says", BarHeight: 16, Inside: true, MaxTracks: 3}
	var items []figure.Item
	at := map[string]int{}
	for _, e := range s.h.Events {
		if e.Task != s.task || s.task == 0 || e.Object == "" {
			continue
		}
		switch e.Kind {
		case history.ObjectCreated:
			at[e.Object] = len(items)
			items = append(items, objectItem(e, s.end, "object", either(e.Detail, e.Object)))
		case history.ObjectDeleting:
			if i, ok := at[e.Object]; ok {
				items[i].To = e.At
				at[e.Object] = len(items)
				items = append(items, objectItem(e, s.end, "object deleting", "terminating"))
			}
		case history.ObjectGone:
			if i, ok := at[e.Object]; ok {
				items[i].To = e.At
			}
		}
	}
	lane.Items = s.visible(items)
	return lane
}

func objectItem(e history.Event, end time.Duration, class, label string) figure.Item {
	return figure.Item{ID: "object-" + dashed(e.Object) + "-" + strings.Fields(class)[len(strings.Fields(class))-1],
		Row: e.Object, From: e.At, To: end, Class: class, Label: label,
		Title: "From " + seconds(e.At) + ": object " + e.Object + " " + label}
}
