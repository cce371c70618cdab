package dispatcher

import (
	"fmt"
	"time"
)

// link says that left must lie below right by at least need.
type link struct {
	rule        string
	left, right string
	leftValue   time.Duration
	rightValue  time.Duration
	need        time.Duration // what the margin must be at least; 0: any margin above nothing
	harm        string
	severity    Severity // zero: an error
	mayEqual    bool     // equality holds too
}

// check returns a finding when the link does not hold. Equality does not hold, unless the rule allows it: what ends
// at the same instant ends in either order.
func (l link) check() []Finding {
	margin := l.rightValue - l.leftValue
	if margin >= l.need && (margin > 0 || margin == 0 && l.mayEqual) {
		return nil
	}
	need := l.need.String() + " or more"
	if l.need == 0 {
		need = anyMargin
	}
	severity := l.severity
	if severity == "" {
		severity = SeverityError
	}
	return []Finding{{Severity: severity, Rule: l.rule,
		Left: Value{l.left, l.leftValue.String()}, Right: Value{l.right, l.rightValue.String()},
		Margin: margin.String(), Need: need, Harm: l.harm}}
}

func checkAll(links ...link) []Finding {
	var found []Finding
	for _, l := range links {
		found = append(found, l.check()...)
	}
	return found
}

// checkChain is rule 3, the work inside its deadline: HTTP call < step < workflow; and rule 7.
func (s Settings) checkChain() []Finding {
	found := checkAll(
		link{rule: "http-in-step", left: "http_timeout", leftValue: s.HTTPTimeout, right: "step_timeout", rightValue: s.StepTimeout,
			need: s.StoreTimeout, harm: "the step ends before its call does, and nobody records how the call went"},
		link{rule: "step-in-workflow", left: "step_timeout", leftValue: s.StepTimeout, right: "workflow_deadline", rightValue: s.WorkflowDeadline,
			need: s.StoreTimeout, harm: "the kubelet kills the container before its worker can record that the step timed out"},
	)
	if s.RecoveryGrace == s.WorkflowDeadline {
		found = append(found, Finding{Severity: SeverityError, Rule: ruleGraceNotDeadline,
			Left: Value{"workflow_deadline", s.WorkflowDeadline.String()}, Right: Value{"recovery_grace", s.RecoveryGrace.String()},
			Margin: "0s", Need: "anything but 0s",
			Harm: "a kill by deadline and a lost workload look alike, so overrunning work is requeued as lost and runs again"})
	}
	return found
}

// checkSilence is what makes it safe to replace an attempt that cannot be seen: either its kubelet has ended it
// (rule 3, no heartbeats), or it has ended itself (rule 1, heartbeats).
func (s Settings) checkSilence() []Finding {
	if !s.Heartbeats() {
		return checkAll(
			link{rule: "workflow-in-tick", left: "workflow_deadline", leftValue: s.WorkflowDeadline, right: "tick", rightValue: s.Tick,
				need: s.PodGrace, harm: "the next tick starts while work of the last one still runs"},
			link{rule: "tick-in-grace", left: "tick", leftValue: s.Tick, right: "recovery_grace", rightValue: s.RecoveryGrace,
				need: s.CreateTimeout + s.MaxClockSkew, harm: "a task that the last tick claimed is recovered while it is still being launched"},
			link{rule: "workflow-in-grace", left: "workflow_deadline", leftValue: s.WorkflowDeadline, right: "recovery_grace", rightValue: s.RecoveryGrace,
				need: s.PodGrace + s.RecoverInterval + s.MaxClockSkew,
				harm: "a container that the kubelet is still ending is replaced: two executions overlap"},
		)
	}
	return checkAll(
		link{rule: ruleHeartbeatInLease, left: "3 * heartbeat_interval", leftValue: 3 * s.HeartbeatInterval,
			right: "worker_lease", rightValue: s.WorkerLease, mayEqual: true, // rule 1 allows equality
			harm: "one late heartbeat ends healthy work"},
		link{rule: "lease-in-grace", left: "worker_lease", leftValue: s.WorkerLease, right: "recovery_grace", rightValue: s.RecoveryGrace,
			need: s.StoreTimeout + s.MaxClockSkew, harm: "a worker that is cut off is replaced before it has stopped itself: two executions overlap"},
	)
}

// checkLease is rule 2.
func (s Settings) checkLease() []Finding {
	return checkAll(
		link{rule: "renew-in-lease", left: "renew_deadline", leftValue: s.RenewDeadline, right: "lease_ttl", rightValue: s.LeaseTTL,
			harm: "the old leader still acts when the new one begins"},
		link{rule: "retry-in-renew", left: "retry_period * 1.2 + store_timeout", leftValue: s.RetryPeriod*12/10 + s.StoreTimeout,
			right: "renew_deadline", rightValue: s.RenewDeadline, harm: "one slow call costs the leadership"},
	)
}

// checkBatches is rule 5, recovery keeps up with claiming: one sweep takes back what one tick can lose, and at its rate.
func (s Settings) checkBatches() []Finding {
	var found []Finding
	if s.RecoverBatch < s.ClaimBatch {
		found = append(found, Finding{Severity: SeverityError, Rule: ruleRecoverBatch,
			Left: Value{"CLAIM_BATCH_LIMIT (claim_batch)", fmt.Sprint(s.ClaimBatch)}, Right: Value{"RECOVERY_BATCH_LIMIT (recover_batch)", fmt.Sprint(s.RecoverBatch)},
			Margin: fmt.Sprint(s.RecoverBatch - s.ClaimBatch), Need: "0 or more",
			Harm: "what one tick can lose, one sweep cannot recover: a backlog of stranded tasks builds up"})
	}
	claimed := float64(s.ClaimBatch) / s.Tick.Seconds()
	recovered := float64(s.RecoverBatch) / s.RecoverInterval.Seconds()
	if recovered < claimed {
		found = append(found, Finding{Severity: SeverityWarning, Rule: ruleRecoverRate,
			Left: Value{"claim_batch / tick", fmt.Sprintf("%.2f/s", claimed)}, Right: Value{"recover_batch / recover_interval", fmt.Sprintf("%.2f/s", recovered)},
			Margin: fmt.Sprintf("%.2f/s", recovered-claimed), Need: "0.00/s or more",
			Harm: "after a total loss recovery is slower than claiming; the bound B counts with the real rate"})
	}
	return found
}

// checkStart is rule 6.
func (s Settings) checkStart() []Finding {
	return checkAll(link{rule: "start", left: "node_provisioning + cold_pull", leftValue: s.NodeProvisioning + s.ColdPull,
		right: "start_timeout", rightValue: s.StartTimeout,
		harm: "an attempt is given up while its node or image is still on the way, and every retry starts as cold"})
}

// checkRetries is rule 8.
func (s Settings) checkRetries() []Finding {
	executions := (s.PlatformRetries + 1) * s.MaxFailures
	agreed := s.AgreedExecutions
	if agreed == 0 {
		agreed = s.MaxFailures
	}
	if executions <= agreed {
		return nil
	}
	return []Finding{{Severity: SeverityError, Rule: ruleRetries,
		Left: Value{"(platform_retries + 1) * max_failures", fmt.Sprint(executions)}, Right: Value{"agreed_executions", fmt.Sprint(agreed)},
		Margin: fmt.Sprint(agreed - executions), Need: "0 or more",
		Harm: "the platform's retries multiply with the dispatcher's: failing work runs more often than its owner agreed to"}}
}

// Bound is B: how long a lost task may stay running, or a claimable one unclaimed, in undisturbed time.
// detect is what the fault itself imposes; lost is how many tasks were lost at once.
func (s Settings) Bound(detect time.Duration, lost int) time.Duration {
	rounds := time.Duration((max(lost, 1) + s.RecoverBatch - 1) / s.RecoverBatch)
	return detect + s.RecoveryGrace + s.RecoverInterval*rounds + s.Tick + s.CreateTimeout
}
