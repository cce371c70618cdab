package faults

import (
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// method is a port method as fault targets name it, with the port that its calls go through.
type method struct {
	name string
	verb history.Verb
	port clusters.Port
}

// methods lists every port method in the order of history's verbs.
var methods = []method{
	{"submit", history.Submit, clusters.Store},
	{"cancel", history.Cancel, clusters.Store},
	{"resume", history.Resume, clusters.Store},
	{"read", history.Read, clusters.Store},
	{"now", history.Now, clusters.Store},
	{"lead", history.Lead, clusters.Store},
	{"confirm", history.Confirm, clusters.Store},
	{"claim", history.Claim, clusters.Store},
	{"launched", history.Launched, clusters.Store},
	{"unclaim", history.Unclaim, clusters.Store},
	{"reject", history.Reject, clusters.Store},
	{"scan", history.Scan, clusters.Store},
	{"observe", history.Observe, clusters.Store},
	{"requeue", history.Requeue, clusters.Store},
	{"conclude", history.Conclude, clusters.Store},
	{"cleaned", history.Cleaned, clusters.Store},
	{"postpone", history.Postpone, clusters.Store},
	{"start", history.Start, clusters.Store},
	{"heartbeat", history.Heartbeat, clusters.Store},
	{"finish", history.Finish, clusters.Store},
	{"create", history.Create, clusters.API},
	{"get", history.Get, clusters.API},
	{"list", history.List, clusters.API},
	{"delete", history.Delete, clusters.API},
	{"release", history.Release, clusters.API},
	{"node-exists", history.NodeExists, clusters.API},
	{"get-lease", history.GetLease, clusters.Lease},
	{"put-lease", history.PutLease, clusters.Lease},
}

// answers are the codes that a server can be made to answer with. Timeout is not one: a server that
// does not answer is a call dropped, or a reply lost.
var answers = []struct {
	name string
	code history.Code
}{
	{"unavailable", history.Unavailable},
	{"not-found", history.NotFound},
	{"exists", history.Exists},
	{"conflict", history.Conflict},
	{"fenced", history.Fenced},
	{"refused", history.Refused},
	{"throttled", history.Throttled},
	{"rejected", history.Rejected},
	{"expired", history.Expired},
	{"internal", history.Internal},
}

// VerbOf returns the port method of that name.
func VerbOf(name string) (history.Verb, bool) {
	m, ok := methodOf(name)
	return m.verb, ok
}

// Verbs lists the names of all port methods.
func Verbs() []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.name
	}
	return names
}

// Codes lists the names of the codes that a server can be made to answer with.
func Codes() []string {
	names := make([]string, len(answers))
	for i, a := range answers {
		names[i] = a.name
	}
	return names
}

// Actions lists what can become of a call.
func Actions() []clusters.Action {
	return []clusters.Action{clusters.Refuse, clusters.Drop, clusters.LoseReply, clusters.CutReply, clusters.CutCall,
		clusters.Late, clusters.Slow, clusters.Answer, clusters.CrashCaller}
}

// PortNames lists the ways that calls go.
func PortNames() []clusters.Port {
	return []clusters.Port{clusters.API, clusters.Lease, clusters.Store}
}

func methodOf(name string) (method, bool) {
	for _, m := range methods {
		if m.name == name {
			return m, true
		}
	}
	return method{}, false
}

func codeOf(name string) (history.Code, bool) {
	for _, a := range answers {
		if a.name == name {
			return a.code, true
		}
	}
	return history.NoCode, false
}
