package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
)

// kind is a fault that the search can place at a call.
type kind struct {
	name string
	does string
	// usual kinds are placed unless others are asked for.
	usual bool
	at    func(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool)
}

// kinds are the faults that can be placed. Where a process dies between two of its calls makes no difference but to what its call had done by
// then; so a crash right after each effect is a crash anywhere.
var kinds = []kind{
	{"lost-reply", "the call takes effect, and its reply is lost", true, inCall(clusters.LoseReply)},
	{"crash", "the caller crashes when the call has taken effect; a replica is started again", true, inCall(clusters.CrashCaller)},
	{"lease-loss", "a replica cannot reach its lease, from this call on and until it must have lost it", true, leaseLoss},
	{"lost-request", "the call never arrives", false, inCall(clusters.Drop)},
	{"cut-reply", "the call takes effect, and its connection breaks", false, inCall(clusters.CutReply)},
	{"refused", "the server refuses the connection, for this call and all others of the caller for a while", false, refused},
	{"late", "the caller gives up, and then the call takes effect", false, late},
	{"pause", "a replica stands still when it has made the call, until it must have lost its lease", false, pause},
}

// Kinds are the names of the faults that a search can place.
func Kinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// UsualKinds are those that are placed unless others are asked for.
func UsualKinds() []string {
	var names []string
	for _, k := range kinds {
		if k.usual {
			names = append(names, k.name)
		}
	}
	return names
}

// Does says what a kind of fault does; empty for one that there is not.
func Does(name string) string {
	for _, k := range kinds {
		if k.name == name {
			return k.does
		}
	}
	return ""
}

// placements are the faults of the kinds at a call.
func placements(c *clusters.Called, names []string, s *dispatcher.Settings) []faults.Fault {
	var all []faults.Fault
	for _, k := range kinds {
		if !slices.Contains(names, k.name) {
			continue
		}
		if f, ok := k.at(c, s); ok {
			f.At = c.At - 1 // a nanosecond before it is made
			all = append(all, f)
		}
	}
	return all
}

// inCall is an action on this one call. It lasts until its caller has learned, or not, what became of it.
func inCall(action clusters.Action) func(*clusters.Called, *dispatcher.Settings) (faults.Fault, bool) {
	return func(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
		f := faults.Fault{Kind: faults.Call, Action: action, Target: of(c), For: c.Deadline - c.At + time.Second}
		client := !c.Replica && !strings.HasPrefix(c.Process, "worker-")
		return f, !(action == clusters.CrashCaller && client)
	}
}

func of(c *clusters.Called) faults.Target {
	return faults.Target{Process: c.Process, Port: c.Port, Verb: c.Verb, Nth: 1}
}

// lapse is how long it takes until a replica that cannot renew is sure to be replaced.
func lapse(s *dispatcher.Settings) time.Duration { return s.LeaseTTL + 3*s.RetryPeriod }

func leaseLoss(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	return faults.Fault{Kind: faults.LeaseUnreachable, Target: faults.Target{Process: c.Process}, For: lapse(s)},
		c.Port == clusters.Lease
}

func refused(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	t := of(c)
	t.Verb, t.Nth = "", 0
	return faults.Fault{Kind: faults.Call, Action: clusters.Refuse, Target: t, For: 5 * time.Second}, true
}

func late(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	verb, _ := history.ParseVerb(c.Verb)
	reads := verb == history.Get || verb == history.List || verb == history.Read || verb == history.Scan || verb == history.Now ||
		verb == history.GetLease || verb == history.NodeExists
	return faults.Fault{Kind: faults.Call, Action: clusters.Late, Target: of(c), For: lapse(s) + time.Second, Delay: clusters.Fixed(lapse(s))}, !reads
}

func pause(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	return faults.Fault{Kind: faults.ProcessPause, Target: faults.Target{Process: c.Process}, For: lapse(s)}, c.Replica
}
