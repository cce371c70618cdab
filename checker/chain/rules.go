package chain

import (
	"reflect"
	"slices"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Rule is a built-in relation between settings of a dispatcher. It is checked where links say that they are these settings.
type Rule struct {
	Name     string
	Number   int    // of section 3 of the public incidents
	Left     string // a formula over settings
	Relation Comparison
	Right    string
	Margin   string // "": any margin
	Because  string
	Harm     string // what happens when it does not hold
	Equal    string // what equality leads to, where that is another thing
	Severity dispatcher.Severity
	Code     string // of its finding, where it is not about a margin
	// Silence: what proves a silent worker dead decides whether the rule applies.
	Silence Silence
}

// Comparison is how left and right must stand to each other.
type Comparison string

// The comparisons.
const (
	Below   Comparison = "below"
	AtMost  Comparison = "at most"
	Differs Comparison = "different from"
)

// Silence is what proves a silent worker dead.
type Silence string

// With heartbeats a lapsed lease is the proof, without them the deadline that a kubelet keeps.
const (
	AnySilence    Silence = ""
	ByDeadline    Silence = "without heartbeats"
	ByHeartbeats  Silence = "with heartbeats"
	heartbeatName         = "heartbeat_interval"
)

// equalGrace is what it leads to when the grace is over at the instant of the deadline.
const equalGrace = "a kill by deadline and a lost workload look alike, so overrunning work is requeued as lost and runs again"

// rules are those of section 3 of the public incidents, as package dispatcher applies them to its own settings, and those that
// concern settings that other dispatchers have.
var rules = []Rule{
	{Name: "http-in-step", Number: 3, Left: "http_timeout", Relation: Below, Right: "step_timeout", Margin: "store_timeout",
		Because: "the step must outlive its call by the time that it takes to record how the call went",
		Harm:    "the step ends before its call does, and nobody records how the call went"},
	{Name: "step-in-workflow", Number: 3, Left: "step_timeout", Relation: Below, Right: "workflow_deadline", Margin: "store_timeout",
		Because: "the worker must be able to record that its step timed out before the kubelet ends it",
		Harm:    "the kubelet kills the container before its worker can record that the step timed out"},
	{Name: "workflow-in-tick", Number: 3, Left: "workflow_deadline", Relation: Below, Right: "tick", Margin: "pod_grace", Silence: ByDeadline,
		Because: "a container that is ended at its deadline may live on for its termination grace",
		Harm:    "the next tick starts while work of the last one still runs"},
	{Name: "tick-in-grace", Number: 3, Left: "tick", Relation: Below, Right: "recovery_grace", Margin: "create_timeout + max_clock_skew", Silence: ByDeadline,
		Because: "what a tick has claimed may take a whole create call to appear, on a clock that differs",
		Harm:    "a task that the last tick claimed is recovered while it is still being launched"},
	{Name: "workflow-in-grace", Number: 3, Left: "workflow_deadline", Relation: Below, Right: "recovery_grace",
		Margin: "pod_grace + recover_interval + max_clock_skew", Silence: ByDeadline, Equal: equalGrace,
		Because: "silence proves death only once the kubelet has ended the container: deadline, termination grace, one sweep, and clocks that differ",
		Harm:    "a container that the kubelet is still ending is replaced: two executions overlap"},
	{Name: "workflow-in-dispatcher", Number: 3, Left: "workflow_deadline", Relation: Below, Right: "dispatcher_deadline", Margin: "pod_grace",
		Because: "the pod must end by its own deadline, with its termination grace, before the dispatcher gives it up",
		Harm:    "the dispatcher gives up an attempt that still runs, and cannot tell a deadline from a loss"},
	{Name: "dispatcher-in-grace", Number: 3, Left: "dispatcher_deadline", Relation: Below, Right: "recovery_grace",
		Margin:  "pod_grace + recover_interval + max_clock_skew",
		Because: "recovery may act only when the dispatcher itself has given the attempt up, and its container had time to end",
		Harm:    "recovery and the dispatcher act on the same attempt at the same time: it is started twice"},
	{Name: "lease-in-grace", Number: 3, Left: "worker_lease", Relation: Below, Right: "recovery_grace", Margin: "store_timeout + max_clock_skew",
		Silence: ByHeartbeats,
		Because: "a worker that is cut off must have ended itself before it is replaced",
		Harm:    "a worker that is cut off is replaced before it has stopped itself: two executions overlap"},
	{Name: "grace-not-deadline", Number: 7, Left: "workflow_deadline", Relation: Differs, Right: "recovery_grace", Code: CodeEqual,
		Because: "a kill by deadline must be told apart from a loss", Harm: equalGrace},
	{Name: "heartbeat-in-lease", Number: 1, Left: "3 * heartbeat_interval", Relation: AtMost, Right: "worker_lease",
		Because: "a late heartbeat or two must not end healthy work",
		Harm:    "one late heartbeat ends healthy work"},
	{Name: "renew-in-lease", Number: 2, Left: "renew_deadline", Relation: Below, Right: "lease_ttl",
		Because: "a leader that cannot renew must have stopped by itself before another one may lead",
		Harm:    "the old leader still acts when the new one begins"},
	{Name: "retry-in-renew", Number: 2, Left: "retry_period * 1.2 + store_timeout", Relation: Below, Right: "renew_deadline",
		Because: "there must be time for a second try, jitter and a slow call included",
		Harm:    "one slow call costs the leadership"},
	{Name: "redelivery-in-expiry", Number: 4, Left: "redelivery", Relation: Below, Right: "stale_expiry",
		Because: "work that was lost must come back before it counts as stale",
		Harm:    "lost work expires before it is delivered again, and fails with its other attempts unused"},
	{Name: "step-in-redelivery", Number: 4, Left: "step_timeout", Relation: Below, Right: "redelivery",
		Because: "work that is still within its limit must not be delivered again",
		Harm:    "work is delivered a second time while the first execution is still within its limit"},
	{Name: "redelivery", Number: 4, Left: "recovery_grace + recover_interval + tick", Relation: Below, Right: "start_deadline",
		Severity: dispatcher.SeverityWarning,
		Because:  "a lost attempt must be found while there is still time to start another",
		Harm:     "one lost attempt is found only after the start deadline, so the task fails with its other attempts unused"},
	{Name: "recover-batch", Number: 5, Left: "claim_batch", Relation: AtMost, Right: "recover_batch", Code: CodeLimit,
		Because: "RECOVERY_BATCH_LIMIT >= CLAIM_BATCH_LIMIT: one sweep must be able to take back what one tick can lose",
		Harm:    "what one tick can lose, one sweep cannot recover: a backlog of stranded tasks builds up"},
	{Name: "recover-rate", Number: 5, Left: "claim_batch / tick", Relation: AtMost, Right: "recover_batch / recover_interval", Code: CodeRate,
		Severity: dispatcher.SeverityWarning,
		Because:  "recovery must keep up with claiming",
		Harm:     "after a total loss recovery is slower than claiming; the bound B counts with the real rate"},
	{Name: "start", Number: 6, Left: "node_provisioning + cold_pull", Relation: Below, Right: "start_timeout",
		Because: "a new node and a cold image must fit into the time that a start may take",
		Harm:    "an attempt is given up while its node or image is still on the way, and every retry starts as cold"},
	{Name: "retries", Number: 8, Left: "(platform_retries + 1) * max_failures", Relation: AtMost, Right: "agreed_executions", Code: CodeRetries,
		Because: "the platform's retries multiply with the dispatcher's",
		Harm:    "failing work runs more often than its owner agreed to"},
}

// Rules lists the built-in rules.
func Rules() []Rule { return slices.Clone(rules) }

// elsewhere are settings that rules know and the reference dispatcher does not have.
var elsewhere = []struct{ name, does string }{
	{"dispatcher_deadline", "how long the dispatcher itself waits for an attempt to end"},
	{"redelivery", "after how long work that nobody finished is delivered again"},
	{"stale_expiry", "after how long work counts as stale and is dropped"},
	{"start_deadline", "by when after its arrival a task must have started"},
}

// ExplainSetting says what a setting is that rules know and the reference dispatcher does not have.
func ExplainSetting(name string) (string, bool) {
	for _, s := range elsewhere {
		if s.name == name {
			return s.name + " (setting of a link, for dispatchers that have it): " + s.does + ".", true
		}
	}
	return "", false
}

// settingKinds are the settings that a link may be, and whether each is a count.
var settingKinds = func() map[string]bool {
	kinds := map[string]bool{}
	t := reflect.TypeFor[dispatcher.Settings]()
	for i := range t.NumField() {
		kinds[t.Field(i).Tag.Get("yaml")] = t.Field(i).Type != reflect.TypeFor[time.Duration]()
	}
	for _, s := range elsewhere {
		kinds[s.name] = false
	}
	return kinds
}()

// SettingNames lists the settings that a link may be, in order.
func SettingNames() []string {
	var names []string
	t := reflect.TypeFor[dispatcher.Settings]()
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("yaml"))
	}
	for _, s := range elsewhere {
		names = append(names, s.name)
	}
	return names
}
