package faults

import (
	"strings"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// Refusal is one thing that a world cannot do although it has faults of that sort, and why. An empty selector is any.
type Refusal struct {
	Kind    Kind
	Action  clusters.Action
	Port    clusters.Port
	Verb    string
	Process string // name, or a prefix followed by *
	// CutFrom is a port of a node-partition.
	CutFrom clusters.Port
	Why     string
}

// Refusals are all that a world cannot do.
type Refusals []Refusal

// Of returns why the fault cannot be done, and the field that it fails by; false when it can.
func (rs Refusals) Of(f Fault) (why string, field Field, refused bool) {
	for _, r := range rs {
		if r.matches(f) {
			return r.Why, r.field(), true
		}
	}
	return "", "", false
}

func (r Refusal) matches(f Fault) bool {
	if r.Kind != "" && r.Kind != f.Kind || r.Action != "" && r.Action != f.Action || r.Verb != "" && r.Verb != f.Target.Verb {
		return false
	}
	if r.Port != "" && r.Port != f.CallPort() || r.Process != "" && !covers(r.Process, f.Target.Process) {
		return false
	}
	if r.CutFrom == "" {
		return true
	}
	for _, port := range f.cutPorts() {
		if port == r.CutFrom {
			return true
		}
	}
	return false
}

// covers tells whether the pattern means everything that the target, a name or a pattern itself, means.
func covers(pattern, target string) bool {
	prefix, many := strings.CutSuffix(pattern, "*")
	return pattern == target || many && strings.HasPrefix(target, prefix)
}

// CallPort is the way that the calls of a fault go, as far as it says.
func (f Fault) CallPort() clusters.Port {
	if f.Target.Port != "" || f.Target.Verb == "" {
		return f.Target.Port
	}
	verb, _ := history.ParseVerb(f.Target.Verb)
	return portOf(verb)
}

// field is the one that the refusal is about most of all.
func (r Refusal) field() Field {
	switch {
	case r.Verb != "":
		return FieldVerb
	case r.Process != "":
		return FieldProcess
	case r.CutFrom != "":
		return FieldPorts
	case r.Port != "":
		return FieldPort
	case r.Action != "":
		return FieldAction
	}
	return FieldKind
}

// String is what is refused, as a scenario file would ask for it.
func (r Refusal) String() string {
	words := []string{string(r.Kind)}
	for _, w := range []struct{ name, value string }{{"action", string(r.Action)}, {"port", string(r.Port)}, {"verb", r.Verb},
		{"process", r.Process}, {"ports", string(r.CutFrom)}} {
		if w.value != "" {
			words = append(words, w.name+" "+w.value)
		}
	}
	return strings.Join(words, ", ")
}
