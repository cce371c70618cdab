package dispatcher

import (
	"fmt"
	"time"
)

// Severity of a Finding.
type Severity string

// Errors stop a run before it starts; warnings are reported.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Value is one setting by its YAML name, or an expression of several, and its value.
type Value struct {
	Name  string
	Value string
}

// Finding is one way in which settings do not fit together.
type Finding struct {
	Severity Severity
	Rule     string // short name of the rule, stable
	Left     Value  // what must be smaller
	Right    Value  // what must be larger
	Margin   string // what lies between them now
	Need     string // what must lie between them
	Harm     string // what would happen
}

// String is the finding in one sentence.
func (f Finding) String() string {
	left, right := f.Left.Name+" "+f.Left.Value, f.Right.Name+" "+f.Right.Value
	switch f.Rule {
	case ruleRange:
		return fmt.Sprintf("%s is %s, %s is %s", f.Right.Name, f.Right.Value, f.Left.Name, f.Left.Value)
	case ruleGraceNotDeadline:
		return fmt.Sprintf("%s must differ from %s; both are %s: %s", f.Right.Name, f.Left.Name, f.Right.Value, f.Harm)
	case ruleRecoverBatch, ruleRecoverRate:
		return fmt.Sprintf("%s %s not be below %s: %s", right, f.must(), left, f.Harm)
	case ruleRetries, ruleHeartbeatInLease:
		return fmt.Sprintf("%s %s not be above %s: %s", left, f.must(), right, f.Harm)
	}
	if f.Need == anyMargin {
		return fmt.Sprintf("%s %s be below %s: %s", left, f.must(), right, f.Harm)
	}
	return fmt.Sprintf("%s %s be below %s by %s, but the margin is %s: %s", left, f.must(), right, f.Need, f.Margin, f.Harm)
}

func (f Finding) must() string {
	if f.Severity == SeverityWarning {
		return "should"
	}
	return "must"
}

// The rules that are not about a margin between two values.
const (
	ruleRange            = "range"
	ruleGraceNotDeadline = "grace-not-deadline"
	ruleRecoverBatch     = "recover-batch"
	ruleRecoverRate      = "recover-rate"
	ruleRetries          = "retries"
	ruleHeartbeatInLease = "heartbeat-in-lease"
)

// anyMargin is the need of a link that any margin satisfies.
const anyMargin = "more than 0s"

// Check applies every rule that settings must keep. The rules are numbered as in section 3 of the
// public incidents; chain.go has those of the nested timeouts.
func (s Settings) Check() []Finding {
	if bad := s.checkRanges(); len(bad) > 0 {
		return bad // the rules below mean nothing for such values
	}
	var found []Finding
	for _, rule := range []func() []Finding{
		s.checkChain, s.checkSilence, s.checkLease, s.checkBatches, s.checkStart, s.checkRetries,
	} {
		found = append(found, rule()...)
	}
	return found
}

func (s Settings) checkRanges() []Finding {
	var found []Finding
	atLeast := func(name string, value, least int64, text func(int64) string) {
		if value < least {
			found = append(found, Finding{Severity: SeverityError, Rule: ruleRange,
				Left: Value{"the smallest allowed value", text(least)}, Right: Value{name, text(value)},
				Margin: text(value - least), Need: "0 or more", Harm: "the setting has no meaning"})
		}
	}
	duration := func(d int64) string { return time.Duration(d).String() }
	number := func(n int64) string { return fmt.Sprint(n) }
	for _, d := range s.durations() {
		least := int64(0)
		if !d.mayBeZero {
			least = 1
		}
		atLeast(d.name, int64(d.value), least, duration)
	}
	for _, n := range s.counts() {
		atLeast(n.name, int64(n.value), int64(n.least), number)
	}
	return found
}

type namedDuration struct {
	name      string
	value     time.Duration
	mayBeZero bool
}

func (s Settings) durations() []namedDuration {
	return []namedDuration{
		{"http_timeout", s.HTTPTimeout, false},
		{"step_timeout", s.StepTimeout, false},
		{"workflow_deadline", s.WorkflowDeadline, false},
		{"tick", s.Tick, false},
		{"recovery_grace", s.RecoveryGrace, false},
		{"recover_interval", s.RecoverInterval, false},
		{"create_timeout", s.CreateTimeout, false},
		{"store_timeout", s.StoreTimeout, false},
		{"lease_ttl", s.LeaseTTL, false},
		{"renew_deadline", s.RenewDeadline, false},
		{"retry_period", s.RetryPeriod, false},
		{"start_timeout", s.StartTimeout, false},
		{"pod_grace", s.PodGrace, false},
		{"termination_timeout", s.TerminationTimeout, false},
		{"heartbeat_interval", s.HeartbeatInterval, true},
		{"worker_lease", s.WorkerLease, true},
		{"backoff", s.Backoff, false},
		{"max_backoff", s.MaxBackoff, false},
		{"ttl_after_finished", s.TTLAfterFinished, true},
		{"node_grace", s.NodeGrace, false},
		{"unreachable_toleration", s.UnreachableToleration, false},
		{"node_provisioning", s.NodeProvisioning, true},
		{"cold_pull", s.ColdPull, true},
		{"max_clock_skew", s.MaxClockSkew, true},
	}
}

type namedCount struct {
	name         string
	value, least int
}

func (s Settings) counts() []namedCount {
	return []namedCount{
		{"claim_batch", s.ClaimBatch, 1},
		{"recover_batch", s.RecoverBatch, 1},
		{"max_in_flight", s.MaxInFlight, 0},
		{"launch_rate", s.LaunchRate, 0},
		{"max_failures", s.MaxFailures, 1},
		{"max_disruptions", s.MaxDisruptions, 0},
		{"platform_retries", s.PlatformRetries, 0},
		{"agreed_executions", s.AgreedExecutions, 0},
	}
}
