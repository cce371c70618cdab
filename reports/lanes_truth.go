package reports

import (
	"strconv"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports/figure"
)

// containersLane shows what truly ran: one row per container, the work inside it, and overlaps hatched.
func (s *scene) containersLane(numbers map[history.Seq]int) figure.Lane {
	lane := figure.Lane{Key: containerLane, Name: "Container", Sub: "ground truth", BarHeight: 20, Inside: true, MaxTracks: 3}
	for _, c := range s.own {
		lane.Items = append(lane.Items, s.containerItems(c, numbers)...)
	}
	for i, o := range s.overlaps {
		for _, c := range []container{o.First, o.Second} {
			lane.Items = append(lane.Items, figure.Item{ID: "overlap-" + strconv.Itoa(i+1) + "-" + dashed(c.Object), Row: c.Object,
				From: o.From, To: o.To, Class: "overlap",
				Title: "Two executions at once from " + seconds(o.From) + " to " + seconds(o.To) + " (" + seconds(o.To-o.From) + ")"})
		}
	}
	for _, o := range s.calls {
		if byWorker(o.Verb) {
			lane.Items = append(lane.Items, s.workerItem(o, numbers))
		}
	}
	lane.Items = s.visible(lane.Items)
	return lane
}

// containerItems are a container's life, the work in it and the results that came out of it.
func (s *scene) containerItems(c container, numbers map[history.Seq]int) []figure.Item {
	label := s.node(c.Node)
	if c.Token != 0 {
		label += " · token " + seed(c.Token)
	}
	end := "alive at the end of the record"
	if c.Ended {
		end = either(c.Exit, "ended") + " at " + seconds(c.To)
	}
	title := "Container of " + s.names.task(c.Task) + " on " + s.node(c.Node) + tokenWords(c.Token) + ": started " + seconds(c.From) + ", " + end
	items := []figure.Item{{Row: c.Object, From: c.From, To: c.To, Class: "container", Title: title}}
	if c.Worked {
		items = append(items, figure.Item{ID: "work-" + dashed(c.Object), Row: c.Object, From: c.WorkFrom, To: c.WorkTo, Class: "work",
			Label: label, Moment: numbers[c.WorkSeq], Title: title + "; its work ran from " + seconds(c.WorkFrom) + " to " + seconds(c.WorkTo)})
	} else {
		items[0].Label = label + ", never let in"
	}
	for _, e := range c.Effects {
		items = append(items, effectItem(c, e, numbers))
	}
	if c.Ended && !orderly(c.Exit) {
		items = append(items, figure.Item{Row: c.Object, From: c.To, To: c.To, Glyph: "cross", Class: "killed", Label: c.Exit,
			Moment: numbers[c.EndSeq], Title: "Container on " + s.node(c.Node) + " ends at " + seconds(c.To) + ": " + c.Exit})
	}
	return items
}

func effectItem(c container, e effect, numbers map[history.Seq]int) figure.Item {
	item := figure.Item{Row: c.Object, From: e.At, To: e.At, Moment: numbers[e.Seq], Glyph: "ring", Class: "effect refused",
		Label: "result refused", Title: "Result refused at " + seconds(e.At) + tokenWords(e.Token)}
	if e.Counted {
		item.Glyph, item.Class, item.Label = "dot", "effect counted", "result counted"
		item.Title = "Result counted at " + seconds(e.At) + tokenWords(e.Token)
	}
	if e.Lost {
		item.Label += ", then lost"
	}
	return item
}

// workerItem is a call from inside a container: on the row of the container that has its token.
func (s *scene) workerItem(o history.Operation, numbers map[history.Seq]int) figure.Item {
	item := s.callItem(o, numbers)
	item.Quiet = item.Moment == 0 && (item.Quiet || o.Outcome == history.OK)
	item.Class += " inner"
	for _, c := range s.own {
		if c.Token == o.Token && o.CalledAt >= c.From && o.CalledAt <= c.To {
			item.Row = c.Object
			return item
		}
	}
	item.Row = "workers"
	return item
}

// deadlinesLane shows from when to when each timeout counts, so that one that should lie inside
// another is seen to reach out of it.
func (s *scene) deadlinesLane() figure.Lane {
	lane := figure.Lane{Key: "deadlines", Name: "Deadlines", Sub: "from start to due", BarHeight: 8, MaxTracks: 2}
	for _, d := range s.deadlines() {
		lane.Items = append(lane.Items, figure.Item{Row: d.Row, From: d.From, To: d.Due, Class: "deadline " + d.Class, Dimension: true, Label: d.Label(), Title: d.Title()})
	}
	lane.Items = s.visible(lane.Items)
	return lane
}

// deadline is a timeout at work.
type deadline struct {
	Name, Row, Class string
	From, Due        time.Duration
}

// Label names the deadline and its length.
func (d deadline) Label() string { return d.Name + " " + seconds(d.Due-d.From) }

// Title adds when it counts and when it is due.
func (d deadline) Title() string {
	return d.Label() + ": counts from " + seconds(d.From) + ", due at " + seconds(d.Due)
}

// deadlines lists what was running against the clock within the window.
func (s *scene) deadlines() []deadline {
	var all []deadline
	set := s.run.Settings
	for i, c := range s.timed() {
		n := strconv.Itoa(i + 1)
		if set.WorkflowDeadline > 0 {
			all = append(all, deadline{"workflow deadline", "workflow" + n, "workflow", c.From, c.From + set.WorkflowDeadline})
		}
		from := s.lastSign(c)
		if set.Heartbeats() {
			all = append(all, deadline{"worker lease", "worker" + n, "worker", from, from + set.WorkerLease})
		}
		if set.RecoveryGrace > 0 {
			all = append(all, deadline{"recovery grace", "grace" + n, "grace", from, from + set.RecoveryGrace})
		}
	}
	return append(all, s.leaseDeadlines()...)
}

// timed are the containers whose deadlines are drawn: those that the violation is about, three at most.
func (s *scene) timed() []container {
	const most = 3
	timed := s.own
	if s.broken != nil {
		timed = s.involved(s.focus)
	}
	var visible []container
	for _, c := range timed {
		if s.within(c.From, c.To) && len(visible) < most {
			visible = append(visible, c)
		}
	}
	return visible
}

// lastSign is the last moment at which the store knew that the attempt was alive, before it was given
// up: its last accepted start or heartbeat, else its claim.
func (s *scene) lastSign(c container) time.Duration {
	at, until := s.claimed(c), s.end
	for _, o := range s.h.Operations {
		if o.Task == c.Task && o.Token == c.Token && o.Verb == history.Requeue && o.Outcome != history.Fail {
			until = min(until, o.CalledAt)
		}
	}
	for _, o := range s.h.Operations {
		if o.Task == c.Task && o.Token == c.Token && o.Outcome == history.OK && o.CalledAt <= until &&
			(o.Verb == history.Start || o.Verb == history.Heartbeat) {
			at = max(at, o.CalledAt)
		}
	}
	return at
}

// leaseDeadlines are the leases that ran out: from the holder's last renewal to when another may take it.
func (s *scene) leaseDeadlines() []deadline {
	ttl := s.run.Settings.LeaseTTL
	if ttl <= 0 {
		return nil
	}
	var all []deadline
	last := map[history.ID]time.Duration{}
	holder := map[string]history.ID{}
	for _, o := range s.h.Operations {
		if o.Verb == history.PutLease && o.Outcome == history.OK {
			last[o.Process] = o.CalledAt
		}
	}
	for _, e := range s.h.Events {
		if e.Kind != history.LeaseHeld {
			continue
		}
		before := holder[e.Detail]
		holder[e.Detail] = e.Process
		if before == 0 || before == e.Process || !s.acts(before) {
			continue
		}
		from := s.renewedBefore(before, e.At)
		if from == 0 {
			continue
		}
		all = append(all, deadline{"lease of " + s.process(before), "lease-" + s.process(before), "lease", from, from + ttl})
	}
	return all
}

// renewedBefore is when the process last renewed a lease before a moment; 0: never.
func (s *scene) renewedBefore(id history.ID, before time.Duration) time.Duration {
	var at time.Duration
	for _, o := range s.h.Operations {
		if o.Verb == history.PutLease && o.Process == id && o.Outcome == history.OK && o.CalledAt < before {
			at = o.CalledAt
		}
	}
	return at
}

// nodesLane shows the nodes that the task's containers ran on.
func (s *scene) nodesLane(numbers map[history.Seq]int) figure.Lane {
	lane := figure.Lane{Key: "nodes", Name: "Nodes", Sub: "what Kubernetes says", BarHeight: 14, Inside: true, MaxTracks: 3}
	open := map[history.ID]int{}
	used := map[history.ID]bool{}
	for _, c := range s.own {
		if s.within(c.From, c.To) {
			used[c.Node] = true
		}
	}
	var items []figure.Item
	for _, e := range s.h.Events {
		word := nodeWords[e.Kind]
		if word == "" || !used[e.Node] {
			continue
		}
		if i, ok := open[e.Node]; ok {
			if items[i].Class == "node node-"+dashed(word) {
				continue
			}
			items[i].To = e.At
		}
		open[e.Node] = len(items)
		items = append(items, figure.Item{Row: s.node(e.Node), From: e.At, To: s.end, Class: "node node-" + dashed(word),
			Label: s.node(e.Node) + " " + word, Moment: numbers[e.Seq], Title: "From " + seconds(e.At) + ": " + s.node(e.Node) + " " + word})
	}
	lane.Items = s.visible(items)
	return lane
}

var nodeWords = map[history.Kind]string{
	history.NodeAdded: "ready", history.NodeReady: "ready", history.NodeNotReady: "not ready", history.NodeGone: "gone",
}

// faultsLane shows what was broken on purpose, and for how long.
func (s *scene) faultsLane(numbers map[history.Seq]int) figure.Lane {
	lane := figure.Lane{Key: "faults", Name: "Faults", Sub: "injected", BarHeight: 14, Inside: true, MaxTracks: 3}
	for _, f := range s.faults {
		from, seq := f.felt()
		title := "Fault " + strconv.Itoa(int(f.Number)) + ": " + f.What + ", struck " + seconds(f.StruckAt)
		if from > f.StruckAt {
			title += ", first hit " + seconds(from)
		}
		if f.Healed {
			title += ", healed " + seconds(f.HealedAt)
		}
		lane.Items = append(lane.Items, figure.Item{Row: "fault" + strconv.Itoa(int(f.Number)), From: from, To: f.until(s.end),
			Class: "fault", Label: f.What, Moment: numbers[seq], Title: title})
	}
	return lane
}
