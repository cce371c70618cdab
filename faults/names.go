package faults

import (
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// portOf is the way that calls of a verb go.
func portOf(v history.Verb) clusters.Port {
	switch v {
	case history.Create, history.Get, history.List, history.Delete, history.Release, history.NodeExists, history.Watch:
		return clusters.API
	case history.GetLease, history.PutLease:
		return clusters.Lease
	}
	return clusters.Store
}

// Verbs lists the names of all port methods.
func Verbs() []string {
	var names []string
	for _, v := range history.Verbs() {
		names = append(names, v.String())
	}
	return names
}

// Codes lists what a server can be made to answer with. Timeout is not among it: a server that does not
// answer is a call dropped, or a reply lost.
func Codes() []string {
	var names []string
	for c := history.Unavailable; c <= history.Internal; c++ {
		names = append(names, c.String())
	}
	return names
}

// appliedCodes are what an answer can say although the request took effect: what comes from something in between, or from a server that
// gave up waiting for itself. The other codes are what the request itself was found to be.
func appliedCodes() []string {
	return []string{history.Throttled.String(), history.Internal.String()}
}

// retryCodes are the answers that may say when to ask again: 429, and 5xx (RFC 9110, section 10.2.3; RFC 6585, section 4).
func retryCodes() []string { return appliedCodes() }

// Actions lists what can become of a call.
func Actions() []clusters.Action {
	return []clusters.Action{clusters.Refuse, clusters.Drop, clusters.LoseReply, clusters.CutReply, clusters.CutCall,
		clusters.Late, clusters.Slow, clusters.Answer, clusters.CrashCaller}
}

// PortNames lists the ways that calls go.
func PortNames() []clusters.Port {
	return []clusters.Port{clusters.API, clusters.Lease, clusters.Store}
}
