package reports

import (
	"sort"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// moment is one numbered step of what happened.
type moment struct {
	Number int
	At     time.Duration
	Seq    history.Seq
	Text   string
	Bad    bool
	weight int // what the list is cut by when it is too long
}

// mostMoments is how many steps a reader follows.
const mostMoments = 14

// moments lists the steps that led to the violation, in order.
func (s *scene) moments() []moment {
	var all []moment
	for _, o := range s.calls {
		if m, ok := s.callMoment(o); ok {
			all = append(all, m)
		}
	}
	for _, e := range s.events {
		if m, ok := s.eventMoment(e); ok {
			all = append(all, m)
		}
	}
	for _, f := range s.faults {
		at, seq := f.felt()
		all = append(all, moment{At: at, Seq: seq, Text: "Fault: " + f.What + ".", weight: 9})
	}
	return number(all)
}

// number cuts the list to the weightiest and numbers what is left in the order of the record.
func number(all []moment) []moment {
	if len(all) > mostMoments {
		sort.SliceStable(all, func(i, j int) bool { return all[i].weight > all[j].weight })
		all = all[:mostMoments]
	}
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].At != all[j].At {
			return all[i].At < all[j].At
		}
		return all[i].Seq < all[j].Seq
	})
	for i := range all {
		all[i].Number = i + 1
	}
	return all
}

// callMoment says in a sentence what a call did; routine calls and repetitions are no moments, unless the
// violation rests on them.
func (s *scene) callMoment(o history.Operation) (moment, bool) {
	proof := s.proves(o.Call, o.Return, o.Effect)
	if !proof && (routine(o) || s.again(o) || o.Verb == history.Launched && o.Outcome == history.OK) {
		return moment{}, false
	}
	m := moment{At: o.CalledAt, Seq: o.Call, weight: 4}
	who := s.process(o.Process)
	switch {
	case o.Outcome == history.Unknown:
		m.Text, m.weight, m.Bad = who+": "+o.Verb.String()+", outcome "+outcomeWords(o), 8, true
		if o.Verb == history.Heartbeat {
			m.weight = 4
		}
	case o.Outcome == history.Fail:
		m.Text, m.weight = who+": "+o.Verb.String()+" answered “"+outcomeWords(o)+"”", 5
	default:
		m.Text, m.weight = s.did(who, o)
		if m.Text == "" && !proof {
			return m, false
		}
		m.Text = strings.TrimSuffix(either(m.Text, who+": "+o.Verb.String()+", "+outcomeWords(o)), ".")
	}
	if times := s.timesWord(o); times != "" {
		m.Text += ";" + times[1:] + " times until " + seconds(s.series[o.Call].Last)
		m.Text = strings.Replace(m.Text, ";× ", "; ", 1)
	}
	m.Text += "."
	if proof {
		m.weight = 11
	}
	if s.decides(o.Call, o.Return, o.Effect) {
		m.Bad = true
		m.Text += " This violates " + s.broken.Invariant + "."
	}
	return m, true
}

// did is the sentence for a call that succeeded.
func (s *scene) did(who string, o history.Operation) (string, int) {
	if o.Task == 0 && o.Verb != history.Lead {
		return "", 0
	}
	task := s.taskWord()
	switch o.Verb {
	case history.Submit:
		return who + " submits " + task + ".", 3
	case history.Cancel:
		return who + " asks for " + task + " to be cancelled.", 8
	case history.Resume:
		return who + " resumes " + task + ".", 6
	case history.Lead:
		if o.Epoch == 1 { // somebody has to be the first
			return "", 0
		}
		return who + " opens a new term" + epochWords(o.Epoch) + ".", 6
	case history.Claim:
		return who + " claims " + task + tokenWords(o.Token) + ".", 7
	case history.Create:
		return who + " creates the API object.", 3
	case history.Unclaim:
		return who + " gives " + task + " back.", 6
	case history.Requeue:
		return who + " requeues " + task + because(o.Detail) + ".", 9
	case history.Conclude:
		return who + " ends " + task + because(o.Detail) + ".", 8
	case history.Reject:
		return who + " stops " + task + ": the API server refuses its object.", 7
	case history.Delete:
		return who + " deletes the API object.", 5
	}
	return "", 0
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func tokenWords(token uint64) string {
	if token == 0 {
		return ""
	}
	return ", token " + seed(token)
}

func epochWords(epoch uint64) string {
	if epoch == 0 {
		return ""
	}
	return ", epoch " + seed(epoch)
}

// eventMoment says in a sentence what happened by itself.
func (s *scene) eventMoment(e history.Event) (moment, bool) {
	m := moment{At: e.At, Seq: e.Seq, weight: 5}
	if e.Process != 0 && s.byFault(e) {
		return m, false
	}
	switch e.Kind {
	case history.WorkStarted:
		m.Text, m.weight = "The container on "+s.node(e.Node)+" begins the work"+tokenWords(e.Token), 8
		if o, ok := s.overlapFrom(e); ok {
			m.Text += ": from here two executions are alive at once, for " + seconds(o.To-o.From)
			m.weight, m.Bad = 10, true
		}
		m.Text += "."
	case history.ContainerEnded:
		if orderly(e.Detail) {
			return m, false
		}
		m.Text, m.weight = "The container on "+s.node(e.Node)+" ends: "+e.Detail+".", 7
	case history.EffectCounted:
		m.Text, m.weight, m.Bad = "A result is counted"+tokenWords(e.Token)+".", 8, s.counted(e.Seq) > 1
	case history.EffectRefused:
		m.Text, m.weight = "A result is refused"+tokenWords(e.Token)+".", 7
	case history.EffectLost:
		m.Text, m.weight, m.Bad = "A counted result is lost.", 9, true
	case history.ProcessCrashed:
		m.Text, m.weight = s.process(e.Process)+" crashes.", 7
	case history.ProcessPaused:
		m.Text, m.weight = s.process(e.Process)+" is paused.", 7
	case history.ProcessResumed:
		m.Text, m.weight = s.process(e.Process)+" goes on.", 6
	case history.NodeNotReady:
		m.Text, m.weight = s.node(e.Node)+" is not ready.", 6
	case history.NodeGone:
		m.Text, m.weight = s.node(e.Node)+" is gone.", 7
	case history.Row:
		return s.rowMoment(m, e)
	default:
		return m, false
	}
	if s.proves(e.Seq) {
		m.weight = 11
	}
	if s.decides(e.Seq) {
		m.Bad = true
		m.Text += " This violates " + s.broken.Invariant + "."
	}
	return m, true
}

// orderly tells whether a container ended as it should.
func orderly(exit string) bool { return exit == "" || exit == "exit 0" }

// overlapFrom is the overlap that the event begins.
func (s *scene) overlapFrom(e history.Event) (overlap, bool) {
	for _, o := range s.overlaps {
		if o.Second.WorkSeq == e.Seq {
			return o, true
		}
	}
	return overlap{}, false
}

// byFault tells whether what befell a process is a fault that is a moment already.
func (s *scene) byFault(e history.Event) bool {
	switch e.Kind {
	case history.ProcessPaused, history.ProcessCrashed:
	default:
		return false
	}
	for _, f := range s.faults {
		if at, _ := f.felt(); (at == e.At || f.StruckAt == e.At) && strings.Contains(f.What, s.process(e.Process)) {
			return true
		}
	}
	return false
}

func (s *scene) on(e history.Event) string {
	if e.Node == 0 {
		return ""
	}
	return " on " + s.node(e.Node)
}

// rowMoment tells of the row's end; its other changes are the calls that made them.
func (s *scene) rowMoment(m moment, e history.Event) (moment, bool) {
	switch e.Phase {
	case history.Failed, history.Cancelled, history.NeedsAttention, history.Succeeded:
	default:
		return m, false
	}
	if s.phaseBefore(e.Seq) == e.Phase {
		return m, false
	}
	why := because(e.Detail)
	if e.Detail == e.Phase.String() {
		why = ""
	}
	m.Text, m.weight = "The row says "+e.Phase.String()+why+".", 5
	return m, true
}

// phaseBefore is the phase of the task's row right before seq.
func (s *scene) phaseBefore(seq history.Seq) history.Phase {
	phase := history.NoPhase
	for _, e := range s.h.Events {
		if e.Seq >= seq {
			break
		}
		if e.Kind == history.Row && e.Task == s.task {
			phase = e.Phase
		}
	}
	return phase
}

// counted is how many results of the task were counted up to seq.
func (s *scene) counted(seq history.Seq) int {
	n := 0
	for _, c := range s.own {
		for _, e := range c.Effects {
			if e.Counted && e.Seq <= seq {
				n++
			}
		}
	}
	return n
}
