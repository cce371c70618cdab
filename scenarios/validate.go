package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
)

// Limits of what a scenario may ask for: more is a slip of the finger, and would eat the machine.
const (
	maxReplicas = 64
	maxNodes    = 10_000
	maxTasks    = 100_000
	maxTimes    = 10_000
	maxPods     = 100     // of one launcher
	maxSteps    = 100_000 // calls of clients, repetitions and patterns counted
	maxStrikes  = 10_000  // of faults, repetitions counted
	maxSeeds    = 1_000_000
)

// validate reports what is well formed but makes no sense.
func (s *Scenario) validate() {
	if s.source.full() {
		return
	}
	s.validateHead()
	s.validateSettings()
	s.validateNodes()
	s.validateTasks()
	s.validateClients()
	s.validateFaults()
	s.validateTimes()
	s.validateExpect()
	s.validateControl()
	s.validateVariants()
}

// bad reports a problem with the field of that path, unless it could not even be read.
func (s *Scenario) bad(path, code, fix, format string, args ...any) {
	if !s.source.broken[path] {
		s.source.add(s.source.place(path), code, fix, format, args...)
	}
}

// empty reports a structure in which nothing is set; where a field of it was misspelt, that is reported already.
func (s *Scenario) empty(path, code, fix, format string, args ...any) {
	if !s.source.misread[path] {
		s.bad(path, code, fix, format, args...)
	}
}

// set tells whether the file sets the field: what is missing but required is reported already.
func (s *Scenario) set(path string) bool { return s.source.has(path) }

// oneOf reports a name that is not among the known ones.
func (s *Scenario) oneOf(path, code, what, name string, known []string) bool {
	if !s.set(path) || slices.Contains(known, name) {
		return true
	}
	s.bad(path, code, nearest(name, known, "there are "), "unknown %s %q", what, brief(name))
	return false
}

// label is what Kubernetes accepts as part of a pod's name (RFC 1123), short enough for a prefix and a number.
var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,46}[a-z0-9])?$`)

func (s *Scenario) isLabel(path, name string) {
	if s.set(path) && !label.MatchString(name) {
		s.bad(path, CodeName, "", "%q is no name: use lower-case letters, digits and hyphens, at most 48", brief(name))
	}
}

func (s *Scenario) between(path string, value, least, most int) {
	if s.set(path) && (value < least || value > most) {
		s.bad(path, CodeRange, "", "expected a number from %d to %d, found %d", least, most, value)
	}
}

func (s *Scenario) validateHead() {
	if s.set("apiVersion") && s.APIVersion != APIVersion {
		s.bad("apiVersion", CodeVersion, "write "+APIVersion, "unknown apiVersion %q", brief(s.APIVersion))
	}
	if s.set("kind") && s.Kind != Kind {
		s.bad("kind", CodeVersion, "write "+Kind, "unknown kind %q", brief(s.Kind))
	}
	s.isLabel("name", s.Name)
	if s.set("summary") && s.Summary == "" {
		s.bad("summary", CodeMissing, "", "the summary is empty")
	}
	s.oneOf("family", CodeName, "family", string(s.Family), texts(faults.Families()))
	s.oneOf("dispatcher", CodeName, "dispatcher", s.Dispatcher, planted.Names())
	s.between("replicas.dispatchers", s.Replicas.Dispatchers, 1, maxReplicas)
	s.between("replicas.reconcilers", s.Replicas.Reconcilers, 1, maxReplicas)
	s.between("seeds", s.Seeds, 1, maxSeeds)
	s.between("from", s.From, 0, math.MaxInt)
}

func texts[S ~string](values []S) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return names
}

func (s *Scenario) validateNodes() {
	if s.set("nodes") && len(s.Nodes) == 0 {
		s.bad("nodes", CodeMissing, "", "a cluster needs at least one group of nodes")
	}
	total := 0
	for i, n := range s.Nodes {
		path := fmt.Sprintf("nodes[%d]", i)
		s.isLabel(path+".name", n.Name)
		for _, other := range s.Nodes[:i] {
			if other.Name == n.Name && n.Name != "" {
				s.bad(path+".name", CodeDuplicate, "", "there is a node group %q already", brief(n.Name))
			}
		}
		s.oneOf(path+".capacity_type", CodeName, "capacity type", string(n.CapacityType),
			[]string{string(clusters.OnDemand), string(clusters.Spot)})
		s.between(path+".count", n.Count, 0, maxNodes)
		s.between(path+".max", n.Max, 0, maxNodes)
		s.between(path+".pods", n.Pods, 1, maxNodes)
		if n.Count == 0 && n.Max == 0 {
			s.empty(path, CodeMissing, "set count, max, or both", "node group %q will never have a node", brief(n.Name))
		}
		if s.set(path+".max") && n.Max < n.Count {
			s.bad(path+".max", CodeRange, "", "max %d is below count %d", n.Max, n.Count)
		}
		total += max(n.Count, n.Max)
	}
	if total > maxNodes {
		s.bad("nodes", CodeRange, "", "%d nodes; the limit is %d", total, maxNodes)
	}
}

func (s *Scenario) validateTasks() {
	if s.set("tasks") && len(s.Tasks) == 0 {
		s.bad("tasks", CodeMissing, "", "a scenario needs at least one task")
	}
	total := 0
	for i := range s.Tasks {
		s.validateTask(i)
		total += max(s.Tasks[i].Count, 1)
		if s.Tasks[i].Count > maxTasks {
			s.Tasks = nil // nothing below may list them
			return
		}
	}
	if total > maxTasks {
		s.bad("tasks", CodeRange, "", "%d tasks; the limit is %d", total, maxTasks)
		s.Tasks = nil // nothing below may list them
		return
	}
	seen := map[string]bool{}
	for i, g := range s.Tasks {
		for _, name := range g.names() {
			s.source.tasks = append(s.source.tasks, name)
			if seen[name] && g.Name != "" {
				s.bad(fmt.Sprintf("tasks[%d].name", i), CodeDuplicate, "", "there is a task %q already", brief(name))
				break
			}
			seen[name] = true
		}
	}
}

func (s *Scenario) validateTask(i int) {
	g, path := s.Tasks[i], fmt.Sprintf("tasks[%d]", i)
	s.isLabel(path+".name", g.Name)
	s.between(path+".count", g.Count, 1, maxTasks)
	if g.Run.Max() == 0 && !g.Work.Hang && s.set(path+".run") && !slices.Contains(s.source.measured, path+".run") {
		s.bad(path+".run", CodeRange, "", "work must take some time")
	}
	if s.set(path+".arrive.every") && g.Count < 2 {
		s.bad(path+".arrive.every", CodeImpossible, "set count, or leave `every` out", "a single task has no distance to the next")
	}
	s.between(path+".max_failures", g.MaxFailures, 1, maxTimes)
	s.between(path+".max_disruptions", g.MaxDisruptions, 1, maxTimes)
	s.validateGroup(g.Work, path+".work")
	if g.StartDeadline > 0 && !slices.ContainsFunc(s.Nodes, func(n NodeGroup) bool { return n.CapacityType == clusters.OnDemand }) {
		s.bad(path+".start_deadline", CodeImpossible, "add on-demand nodes", "work with a start deadline runs on on-demand nodes, and there are none")
	}
}

// validateGroup judges the pods that a launcher makes.
func (s *Scenario) validateGroup(w Work, path string) {
	s.between(path+".pods", w.Pods, 1, maxPods)
	s.between(path+".stragglers", w.Stragglers, 1, max(w.Pods, 1))
	for _, field := range []string{".pods", ".stragglers"} {
		if s.set(path+field) && !w.Launcher {
			s.bad(path+field, CodeImpossible, "set `launcher: true`", "only a launcher makes pods")
		}
	}
}

func (s *Scenario) validateClients() {
	calls := 0
	for i, step := range s.Clients {
		path := fmt.Sprintf("clients[%d]", i)
		var set []string
		for _, verb := range []string{"cancel", "read", "resume", "submit"} {
			if s.set(path + "." + verb) {
				set = append(set, verb)
			}
		}
		if len(set) != 1 {
			s.empty(path, CodeMissing, "", "a client step does one of cancel, read, resume and submit; this one has %d", len(set))
			continue
		}
		_, pattern := step.call()
		s.task(path+"."+set[0], pattern)
		s.repeats(path, step.Every, step.Times)
		calls += min(max(step.Times, 1), maxTimes) * len(matching(pattern, s.source.tasks))
	}
	if calls > maxSteps {
		s.bad("clients", CodeRange, "", "clients make %d calls; the limit is %d", calls, maxSteps)
	}
}

// task reports a task, or a pattern of tasks, that is not in the scenario.
func (s *Scenario) task(path, pattern string) {
	if !s.set(path) || len(s.Tasks) == 0 {
		return
	}
	if len(matching(pattern, s.source.tasks)) == 0 {
		s.bad(path, CodeTask, nearest(pattern, s.source.tasks, "there are "), "there is no task %q", brief(pattern))
	}
}

func (s *Scenario) repeats(path string, every time.Duration, times int) {
	s.between(path+".times", times, 1, maxTimes)
	if times > 1 && every == 0 {
		s.bad(path+".times", CodeMissing, "", "times needs `every`, above 0")
	}
	if s.set(path+".every") && times < 2 {
		s.bad(path+".every", CodeMissing, "", "every needs `times`, above 1")
	}
}

func (s *Scenario) validateTimes() {
	if s.set("horizon") && s.Horizon == 0 {
		s.bad("horizon", CodeRange, "", "the horizon must be above 0")
		return
	}
	if s.Horizon == 0 {
		return
	}
	for i, g := range s.Tasks {
		if g.Arrive.Batch > 1 && g.Arrive.Every.Max() == 0 {
			s.bad(fmt.Sprintf("tasks[%d].arrive.batch", i), CodeMissing, "", "batch needs `every`, above 0: without it all arrive at once")
		}
		if g.Arrive.At.Max() > s.Horizon {
			s.bad(fmt.Sprintf("tasks[%d].arrive.at", i), CodePastHorizon, "", "arrives at %s, after the horizon of %s", g.Arrive.At.Max(), s.Horizon)
		}
	}
	for i, c := range s.Clients {
		if c.At.Max() > s.Horizon {
			s.bad(fmt.Sprintf("clients[%d].at", i), CodePastHorizon, "", "acts at %s, after the horizon of %s", c.At.Max(), s.Horizon)
		}
	}
}

func (s *Scenario) validateControl() {
	if s.Control == "" {
		if e := s.Expect.Naive; e != nil && e.Verdict == "invalid" {
			s.bad("expect.naive", CodeControl, "add `control:` with a twin of this scenario without its fault",
				"a scenario that must fail needs a control that must pass, or doing nothing wins")
		}
		return
	}
	if s.Control == s.Name {
		s.bad("control", CodeControl, "", "a scenario cannot be its own control")
	}
}

// validateFaults judges the plan at its worst: with every duration as long as it can get.
func (s *Scenario) validateFaults() {
	s.oneOf("swarm", CodeName, "swarm", s.Swarm, faults.Swarms())
	var plan faults.Plan
	var paths []string
	strikes := 0
	for i, f := range s.Faults {
		path := fmt.Sprintf("faults[%d]", i)
		s.repeats(path, f.Every, f.Times)
		if f.Times > maxTimes || !s.set(path+".kind") || !s.set(path+".at") {
			continue
		}
		strikes += max(f.Times, 1)
		series := f.series(clusters.Dist.Max, s.groups())
		plan = append(plan, series[len(series)-1])
		paths = append(paths, path)
	}
	if strikes > maxStrikes {
		s.bad("faults", CodeRange, "", "%d strikes; the limit is %d", strikes, maxStrikes)
	}
	setting := s.setting()
	for _, p := range plan.Validate(setting) {
		fix := ""
		if p.Valid != nil {
			fix = nearest(p.Name, p.Valid, "there are ")
		}
		s.bad(paths[p.Index]+"."+string(p.Field), p.Code, fix, "%s", p.Message)
	}
}

func (s *Scenario) setting() faults.Setting {
	return faults.Setting{Nodes: s.groups(), Tasks: s.source.tasks, Dispatchers: s.dispatchers(), Reconcilers: s.reconcilers(), Horizon: s.Horizon}
}

// validateSettings reports settings that do not nest, unless the scenario is about just that.
func (s *Scenario) validateSettings() {
	if !s.oneOf("profile", CodeProfile, "profile", s.Profile, dispatcher.Profiles()) {
		return
	}
	settings, err := s.DispatcherSettings()
	if err != nil || s.source.broken["settings"] {
		return // reported above
	}
	found := 0
	found += s.nest(settings, "settings")
	for i, g := range s.Tasks {
		if g.Deadline > 0 {
			own := settings
			own.WorkflowDeadline = g.Deadline
			found += s.nest(own, fmt.Sprintf("tasks[%d].deadline", i))
		}
	}
	if s.UnsafeSettings != "" && found == 0 {
		s.bad("unsafe_settings", CodeNeedlessly, "remove it", "the settings nest, so there is nothing to excuse")
	}
}

// nest reports the findings about settings, and returns how many there are.
func (s *Scenario) nest(settings dispatcher.Settings, path string) int {
	found := 0
	for _, f := range settings.Check() {
		if f.Severity != dispatcher.SeverityError {
			continue
		}
		found++
		if s.UnsafeSettings == "" && (s.source.strict || !s.measuredSetting(f)) {
			s.bad(s.settingPath(f, path), CodeNesting, "keep the margin, or say why not in `unsafe_settings`", "%s", f)
		}
	}
	return found
}

// settingPath is where the finding is best shown: at an override that takes part in it, else at the profile.
func (s *Scenario) settingPath(f dispatcher.Finding, path string) string {
	if strings.HasPrefix(path, "tasks") {
		return path
	}
	words := regexp.MustCompile(`[a-z_]+`).FindAllString(f.Left.Name+" "+f.Right.Name, -1)
	for _, w := range slices.Backward(words) {
		for _, in := range []string{"settings.", "calibration.settings."} {
			if s.set(in + w) {
				return in + w
			}
		}
	}
	return "profile"
}
