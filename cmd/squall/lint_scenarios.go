package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/scenarios"
)

// candidate is a scenario in which a finding may show.
type candidate struct {
	name string
	text []byte
}

// fromLibrary are the scenarios of the library that are about a built-in rule.
var fromLibrary = map[string][]string{
	"http-in-step":       {"deadline-overrun"},
	"step-in-workflow":   {"deadline-overrun"},
	"tick-in-grace":      {"create-applied-late", "lease-unreachable"},
	"heartbeat-in-lease": {"heartbeats-throttled"},
	"renew-in-lease":     {"lease-unreachable", "hung-renewal", "paused-in-mid-batch"},
	"retry-in-renew":     {"hung-renewal", "lease-unreachable"},
	"recover-batch":      {"node-kill-and-return"},
	"recover-rate":       {"node-kill-and-return"},
	"retries":            {"poison-task"},
}

// candidates are the scenarios to try, those that are about the finding first, a mix of all faults last.
func (x pair) candidates() []candidate {
	var all []candidate
	if text := x.unseen(); text != "" {
		all = append(all, candidate{"unseen-work", []byte(text)})
	}
	if x.finding.Relation == "start" {
		all = append(all, candidate{"cold-start", []byte(x.coldStart())})
	}
	mix := "swarm-standard"
	if x.wrong.Heartbeats() {
		mix = "swarm-b0"
	}
	for _, name := range append(fromLibrary[x.finding.Relation], mix) {
		if text, ok := scenarios.LibraryFile(name); ok {
			all = append(all, candidate{name, text})
		}
	}
	return all
}

// unseen is a scenario about what the recovery grace relies on: work that cannot be seen any more, its node cut off and its object
// gone, has ended by the time that silence counts as death. Its times follow the settings. Empty: the settings leave no room for it.
func (x pair) unseen() string {
	s := x.wrong
	if !x.about("recovery_grace") {
		return ""
	}
	delay := min(s.RecoverInterval*5/6, s.WorkflowDeadline/4) // of the container's begin, which the margin has to allow for
	claimed := s.Tick                                         // tasks arrive after the first tick
	if s.Tick <= 10*time.Second {
		claimed = 10*time.Second + s.Tick
	}
	settled := min(15*time.Second, s.WorkflowDeadline/6) // containers run by then
	cut := claimed + delay + settled
	run, work := 5*s.WorkflowDeadline/2, ", work: {ignore_timeouts: true, ignore_term: true}"
	if s.Heartbeats() {
		run, work = min(3*(s.RecoveryGrace+s.WorkerLease), s.WorkflowDeadline*9/10), ", work: {ignore_timeouts: true}"
	}
	if s.WorkflowDeadline < 10*time.Second || run <= delay+2*settled {
		return ""
	}
	lasts := max(s.RecoveryGrace, s.WorkflowDeadline+s.PodGrace, s.WorkerLease) + delay + time.Minute
	var b strings.Builder
	x.head(&b, "unseen-work", "Work that cannot be seen any more is over by the time that silence counts as death.")
	fmt.Fprintf(&b, `nodes:
  - {name: od, capacity_type: on-demand, count: 3, pods: 20}
platform: {scheduling: {uniform: [%s, %s]}, image_pull: 1s}
tasks:
  - {name: blind, count: 6, arrive: {at: 10s}, run: %s%s}
horizon: %s
faults:
`, min(time.Second, delay), delay, run, work, cut+lasts+2*s.RecoveryGrace+s.Tick)
	for node := 1; node <= 3; node++ {
		fmt.Fprintf(&b, "  - {at: %s, kind: node-partition, target: {node: od-%d}, for: %s}\n", cut, node, lasts)
	}
	for task := 1; task <= 6; task++ {
		fmt.Fprintf(&b, "  - {at: %s, kind: pod-remove, target: {task: blind-%d}}\n", cut+settled/3, task)
	}
	return b.String()
}

// about tells whether the finding compares the setting.
func (x pair) about(setting string) bool {
	return slices.ContainsFunc(x.compared, func(o scenarios.Override) bool { return o.Name == setting })
}

// coldStart is a scenario in which every node is new and every image cold, as slow as the chain says that they may be.
func (x pair) coldStart() string {
	s := x.wrong
	var b strings.Builder
	x.head(&b, "cold-start", "Nodes are new and images cold, as slow as they may be.")
	fmt.Fprintf(&b, `nodes:
  - {name: od, capacity_type: on-demand, count: 0, max: 3, pods: 4}
platform: {provisioning: {uniform: [%s, %s]}, image_pull: {uniform: [%s, %s]}}
tasks:
  - {name: task, count: 12, run: {uniform: [%s, %s]}}
horizon: %s
`, s.NodeProvisioning*9/10, s.NodeProvisioning, s.ColdPull*9/10, s.ColdPull, s.StepTimeout/2, s.StepTimeout*4/5,
		4*(s.NodeProvisioning+s.ColdPull+s.WorkflowDeadline)+s.RecoveryGrace+s.Tick)
	return b.String()
}

// head begins a scenario file that says by itself all that it was run with.
func (x pair) head(b *strings.Builder, name, summary string) {
	fmt.Fprintf(b, "# Made by squall lint --prove for the finding %s.\napiVersion: %s\nkind: %s\nname: %s\nsummary: %s\nprofile: %s\n",
		x.finding.Relation, scenarios.APIVersion, scenarios.Kind, name, summary, x.profile)
	profile, _ := dispatcher.Profile(x.profile)
	var settings []string
	for _, o := range scenarios.OverridesTo(x.wrong) {
		if (scenarios.Overrides{o}).Apply(profile) == profile {
			continue
		}
		value := o.Duration.String()
		if o.Number != 0 {
			value = fmt.Sprint(o.Number)
		}
		settings = append(settings, o.Name+": "+value)
	}
	if len(settings) > 0 {
		fmt.Fprintf(b, "settings: {%s}\n", strings.Join(settings, ", "))
	}
	for _, f := range x.wrong.Check() {
		if f.Severity == dispatcher.SeverityError {
			b.WriteString("unsafe_settings: a finding of squall lint\n")
			break
		}
	}
}
