package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// Setting is what a plan is judged against.
type Setting struct {
	Nodes                    []clusters.NodeGroup
	Tasks                    []string
	Dispatchers, Reconcilers int
	Horizon                  time.Duration // 0: not judged
	Can                      Capabilities  // nil: not judged
	World                    string        // for messages
}

// Problem is one reason why a plan cannot be run. Its Code is explained by `squall explain`.
type Problem struct {
	Index   int // of the fault in the plan
	Field   Field
	Code    string
	Message string
	Name    string   // the name that is not known, if that is the problem
	Valid   []string // what it could have been
}

// Error makes a Problem an error.
func (p Problem) Error() string {
	return fmt.Sprintf("fault %d: %s: %s %s", p.Index+1, p.Field, p.Code, p.Message)
}

// The codes of problems with faults.
const (
	CodeUnknownKind  = "SQ301" // no such kind of fault
	CodeNeedsField   = "SQ302" // the kind means nothing without the field
	CodeUnusedField  = "SQ303" // the kind does not look at the field
	CodeUnknownName  = "SQ304" // no such action, verb, port or code
	CodeWorldCannot  = "SQ305" // the chosen world cannot do that
	CodeNoSuchTarget = "SQ306" // no such node, task or process
	CodePastHorizon  = "SQ307" // strikes or heals when everything is over
	CodeOutOfRange   = "SQ308" // a value outside what is possible
	CodeMatchesNone  = "SQ309" // a selection that no call can match
	CodeChaosMesh    = "SQ310" // Chaos Mesh refuses the object that the fault becomes
)

// FieldAt and FieldKind are the fields that every kind has.
const (
	FieldAt   Field = "at"
	FieldKind Field = "kind"
)

// Validate returns everything that is wrong with the plan in that setting.
func (p Plan) Validate(in Setting) []Problem {
	var found []Problem
	for i, f := range p {
		v := validation{fault: f, index: i, in: in}
		v.run()
		found = append(found, v.found...)
	}
	return found
}

type validation struct {
	fault Fault
	index int
	in    Setting
	found []Problem
}

func (v *validation) add(field Field, code, format string, args ...any) {
	v.found = append(v.found, Problem{Index: v.index, Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (v *validation) unknown(field Field, code, what, name string, valid []string) {
	v.found = append(v.found, Problem{Index: v.index, Field: field, Code: code,
		Message: fmt.Sprintf("unknown %s %q", what, name), Name: name, Valid: valid})
}

func (v *validation) run() {
	f, ok := v.fault.Kind.form()
	if !ok {
		v.unknown(FieldKind, CodeUnknownKind, "kind of fault", string(v.fault.Kind), kindNames())
		return
	}
	if v.in.Can != nil && !v.in.Can.Has(f.need) {
		v.add(FieldKind, CodeWorldCannot, "world %s cannot do %s: it has no faults of %s", v.in.World, f.kind, f.need)
	}
	v.fields(f)
	v.names()
	v.targets()
	v.answers()
	v.times()
	v.ranges()
}

func kindNames() []string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = string(f.kind)
	}
	return names
}

// fields checks that what must be set is set and that nothing else is.
func (v *validation) fields(f form) {
	set := v.fault.set()
	must, may := f.must, f.may
	if f.kind == Call {
		switch v.fault.Action {
		case clusters.Slow, clusters.Late:
			must = append(slices.Clone(must), FieldDelay)
		case clusters.Answer:
			must = append(slices.Clone(must), FieldCode)
		case clusters.CrashCaller: // a client that crashed would never submit its tasks
			must = append(slices.Clone(must), FieldProcess)
		}
		may = v.callFields(may)
	}
	for _, field := range must {
		if !slices.Contains(set, field) {
			v.add(field, CodeNeedsField, "%s needs %s", v.what(), field)
		}
	}
	for _, field := range set {
		if !slices.Contains(must, field) && !slices.Contains(may, field) {
			v.add(field, CodeUnusedField, "%s does not use %s", v.what(), field)
		}
	}
}

// callFields leaves out what the action does not look at.
func (v *validation) callFields(may []Field) []Field {
	return slices.DeleteFunc(slices.Clone(may), func(field Field) bool {
		switch field {
		case FieldCode, FieldApplied, FieldRetry:
			return v.fault.Action != clusters.Answer
		case FieldDelay:
			a := v.fault.Action
			return a != clusters.Slow && a != clusters.Late && a != clusters.CrashCaller
		}
		return false
	})
}

func (v *validation) what() string {
	if v.fault.Kind == Call && v.fault.Action != "" {
		return fmt.Sprintf("a call fault with action %s", v.fault.Action)
	}
	return fmt.Sprintf("a %s fault", v.fault.Kind)
}

// set lists the fields that have a value, in a fixed order.
func (f Fault) set() []Field {
	t := f.Target
	var set []Field
	for _, x := range []struct {
		field Field
		has   bool
	}{
		{FieldProcess, t.Process != ""}, {FieldNode, t.Node != ""}, {FieldTask, t.Task != ""},
		{FieldPort, t.Port != ""}, {FieldVerb, t.Verb != ""}, {FieldNth, t.Nth != 0}, {FieldShare, t.Share != 0},
		{FieldFor, f.For != 0}, {FieldAction, f.Action != ""}, {FieldCode, f.Code != ""},
		{FieldApplied, f.Applied}, {FieldRetry, f.RetryAfter != 0},
		{FieldDelay, f.Delay.Shape != clusters.NotSet}, {FieldNotice, f.Notice != 0}, {FieldRun, f.Run != 0},
		{FieldBy, f.By != 0}, {FieldLag, f.Lag != 0}, {FieldLost, f.Lost != 0}, {FieldPorts, len(f.Ports) > 0},
	} {
		if x.has {
			set = append(set, x.field)
		}
	}
	return set
}

// names checks the words that come from a fixed list.
func (v *validation) names() {
	f := v.fault
	if f.Action != "" && !slices.Contains(Actions(), f.Action) {
		v.unknown(FieldAction, CodeUnknownName, "action", string(f.Action), texts(Actions()))
	}
	if f.Code != "" {
		if !slices.Contains(Codes(), f.Code) {
			v.unknown(FieldCode, CodeUnknownName, "code", f.Code, Codes())
		}
	}
	if f.Target.Port != "" && !slices.Contains(PortNames(), f.Target.Port) {
		v.unknown(FieldPort, CodeUnknownName, "port", string(f.Target.Port), texts(PortNames()))
	}
	for _, p := range f.Ports {
		if p != clusters.API && p != clusters.Store {
			v.unknown(FieldPorts, CodeUnknownName, "port of a node", string(p), []string{"api", "store"})
		}
	}
	if f.Target.Verb == "" {
		return
	}
	verb, err := history.ParseVerb(f.Target.Verb)
	switch {
	case err != nil:
		v.unknown(FieldVerb, CodeUnknownName, "verb", f.Target.Verb, Verbs())
	case f.Target.Port != "" && f.Target.Port != portOf(verb):
		v.add(FieldVerb, CodeMatchesNone, "%s calls go through port %s, never %s: nothing would match", verb, portOf(verb), f.Target.Port)
	}
}

// answers checks what only some answers can be.
func (v *validation) answers() {
	f := v.fault
	if f.Action != clusters.Answer || !slices.Contains(Codes(), f.Code) {
		return
	}
	for _, x := range []struct {
		field Field
		set   bool
		codes []string
	}{{FieldApplied, f.Applied, appliedCodes()}, {FieldRetry, f.RetryAfter != 0, retryCodes()}} {
		switch port := f.CallPort(); {
		case !x.set:
		case port != clusters.API && port != clusters.Lease:
			v.add(x.field, CodeUnusedField, "only an answer of the API server can be %s: set target.port to api or lease", x.field.means())
		case !slices.Contains(x.codes, f.Code):
			v.add(x.field, CodeUnusedField, "an answer that is %s says %s, never %s", x.field.means(), strings.Join(x.codes, " or "), f.Code)
		}
	}
}

// means is what an answer with the field is.
func (f Field) means() string {
	if f == FieldApplied {
		return "given after the effect"
	}
	return "an invitation to ask again"
}

func texts[S ~string](values []S) []string {
	names := make([]string, len(values))
	for i, x := range values {
		names[i] = string(x)
	}
	return names
}

// targets checks that what the fault is aimed at exists.
func (v *validation) targets() {
	t := v.fault.Target
	if t.Process != "" {
		v.process(t.Process)
	}
	if t.Node != "" {
		v.node(t.Node)
	}
	if v.fault.Kind == SpotReclaim && v.onDemand(t.Node) {
		v.add(FieldNode, CodeNoSuchTarget, "node %s is on-demand: only a spot node is reclaimed", t.Node)
	}
	if t.Task != "" && !(t.Task == "any:running" && v.fault.Kind != Call) {
		v.task(FieldTask, t.Task)
	}
}

func (v *validation) task(field Field, name string) {
	if !slices.Contains(v.in.Tasks, name) {
		v.unknown(field, CodeNoSuchTarget, "task", name, v.in.Tasks)
	}
}

func (v *validation) process(name string) {
	known := v.processes()
	prefix, pattern := strings.CutSuffix(name, "*")
	for _, k := range known {
		if k == name || pattern && strings.HasPrefix(k, prefix) {
			return
		}
	}
	if v.fault.Kind == Call && (strings.HasPrefix(name, "worker") || strings.HasPrefix(name, "client") || name == "*") {
		return // these come and go; their names are the world's
	}
	v.unknown(FieldProcess, CodeNoSuchTarget, "process", name, known)
}

// processes lists what a fault of processes can be aimed at.
func (v *validation) processes() []string {
	names := v.in.replicas()
	return append(names, "dispatcher*", "reconciler*", "leader:dispatcher", "leader:reconciler")
}

func (in Setting) replicas() []string {
	var names []string
	for i := range in.Dispatchers {
		names = append(names, fmt.Sprintf("dispatcher-%d", i+1))
	}
	for i := range in.Reconcilers {
		names = append(names, fmt.Sprintf("reconciler-%d", i+1))
	}
	return names
}

// onDemand tells whether the target can only be an on-demand node.
func (v *validation) onDemand(name string) bool {
	if name == "any:"+string(clusters.OnDemand) {
		return true
	}
	for _, g := range v.in.Nodes {
		if g.CapacityType != clusters.OnDemand {
			continue
		}
		for i := range max(g.Count, g.Max) {
			if name == fmt.Sprintf("%s-%d", g.Name, i+1) {
				return true
			}
		}
	}
	return false
}

func (v *validation) node(name string) {
	if id, ok := strings.CutPrefix(name, "task:"); ok {
		v.task(FieldNode, id)
		return
	}
	if name == "any" {
		return
	}
	if kind, ok := strings.CutPrefix(name, "any:"); ok {
		for _, g := range v.in.Nodes {
			if string(g.CapacityType) == kind {
				return
			}
		}
		v.add(FieldNode, CodeNoSuchTarget, "there is no %s node", kind)
		return
	}
	var known []string
	for _, g := range v.in.Nodes {
		for i := range max(g.Count, g.Max) {
			known = append(known, fmt.Sprintf("%s-%d", g.Name, i+1))
		}
	}
	if !slices.Contains(known, name) {
		v.unknown(FieldNode, CodeNoSuchTarget, "node", name, append(known, "any", "any:spot", "any:on-demand"))
	}
}

// times checks that the fault begins and ends before everything heals.
func (v *validation) times() {
	f := v.fault
	if f.At < 0 {
		v.add(FieldAt, CodeOutOfRange, "at %s is before the run begins", f.At)
	}
	if f.For < 0 {
		v.add(FieldFor, CodeOutOfRange, "for %s is negative", f.For)
	}
	if v.in.Horizon == 0 {
		return
	}
	if f.At >= v.in.Horizon {
		v.add(FieldAt, CodePastHorizon, "strikes at %s, but everything heals at the horizon of %s", words(f.At), words(v.in.Horizon))
	} else if f.For > 0 && f.At+f.For > v.in.Horizon {
		v.add(FieldFor, CodePastHorizon, "heals at %s, after the horizon of %s: leave `for` out to hold it until everything heals",
			words(f.At+f.For), words(v.in.Horizon))
	}
}

func (v *validation) ranges() {
	f := v.fault
	for _, x := range []struct {
		field Field
		value time.Duration
	}{{FieldNotice, f.Notice}, {FieldRun, f.Run}, {FieldLag, f.Lag}, {FieldLost, f.Lost}, {FieldRetry, f.RetryAfter}} {
		if x.value < 0 {
			v.add(x.field, CodeOutOfRange, "%s %s is negative", x.field, x.value)
		}
	}
	if f.Target.Nth < 0 {
		v.add(FieldNth, CodeOutOfRange, "nth counts from 1, not %d", f.Target.Nth)
	}
	if f.Target.Share < 0 || f.Target.Share > 1 {
		v.add(FieldShare, CodeOutOfRange, "share %v is not between 0 and 1", f.Target.Share)
	}
	if f.Target.Nth != 0 && f.Target.Share != 0 {
		v.add(FieldShare, CodeUnusedField, "nth picks one call, so a share of it means nothing")
	}
}
