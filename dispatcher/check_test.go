package dispatcher

import (
	"strings"
	"testing"
	"time"
)

func TestProfilesPass(t *testing.T) {
	for _, name := range Profiles() {
		s, _ := Profile(name)
		for _, f := range s.Check() {
			if f.Severity == SeverityError {
				t.Errorf("%s: %s", name, f)
			}
		}
	}
	if _, ok := Profile("none such"); ok {
		t.Error("an unknown profile was found")
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile string
		change  func(*Settings)
		rule    string
		says    []string
	}{
		{"http equals step", "tick-300s", func(s *Settings) { s.StepTimeout = s.HTTPTimeout }, "http-in-step", []string{"http_timeout 3m0s", "step_timeout 3m0s", "margin is 0s"}},
		{"step beyond workflow", "tick-300s", func(s *Settings) { s.StepTimeout = 250 * time.Second }, "step-in-workflow", []string{"-10s"}},
		{"workflow reaches the tick", "tick-300s", func(s *Settings) { s.Tick = 250 * time.Second }, "workflow-in-tick", []string{"margin is 10s", "30s or more"}},
		{"tick reaches the grace", "tick-300s", func(s *Settings) { s.Tick = 355 * time.Second }, "tick-in-grace", nil},
		{"grace too near the deadline", "tick-300s", func(s *Settings) { s.RecoveryGrace = 300 * time.Second }, "workflow-in-grace", []string{"two executions overlap"}},
		{"rule 1, heartbeat equals lease", "b0", func(s *Settings) { s.HeartbeatInterval = s.WorkerLease }, "heartbeat-in-lease", nil},
		{"rule 1, lease beyond grace", "b0", func(s *Settings) { s.WorkerLease = 55 * time.Second }, "lease-in-grace", nil},
		{"rule 2, renew equals lease", "b0", func(s *Settings) { s.RenewDeadline = s.LeaseTTL }, "renew-in-lease", nil},
		{"rule 2, no time for a retry", "b0", func(s *Settings) { s.RenewDeadline = 7 * time.Second }, "retry-in-renew", nil},
		{"rule 5 is a warning", "b0", func(s *Settings) { s.Tick = 2 * time.Second }, "recover-rate", nil},
		{"rule 6, slow nodes", "b0", func(s *Settings) { s.NodeProvisioning = 280 * time.Second }, "start", nil},
		{"rule 7, grace equals deadline", "b0", func(s *Settings) { s.RecoveryGrace = s.WorkflowDeadline }, "grace-not-deadline", []string{"runs again"}},
		{"rule 8, stacked retries", "b0", func(s *Settings) { s.PlatformRetries = 5 }, "retries", []string{"18"}},
		{"recovery batch below claim batch", "b0", func(s *Settings) { s.RecoverBatch = 5 }, "recover-batch", []string{"RECOVERY_BATCH_LIMIT", "CLAIM_BATCH_LIMIT"}},
		{"negative duration", "b0", func(s *Settings) { s.PodGrace = -time.Second }, "range", []string{"pod_grace", "-1s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := Profile(c.profile)
			c.change(&s)
			for _, f := range s.Check() {
				if f.Rule != c.rule {
					continue
				}
				for _, want := range c.says {
					if !strings.Contains(f.String(), want) {
						t.Errorf("the finding does not say %q: %s", want, f)
					}
				}
				return
			}
			t.Errorf("no finding of rule %s among %v", c.rule, s.Check())
		})
	}
}

func TestFindingsReadWell(t *testing.T) {
	for want, change := range map[string]func(*Settings){
		"RECOVERY_BATCH_LIMIT (recover_batch) 1 must not be below CLAIM_BATCH_LIMIT (claim_batch) 20: what": func(s *Settings) { s.ClaimBatch, s.RecoverBatch = 20, 1 },
		"recovery_grace must differ from workflow_deadline; both are 10m0s: a kill":                         func(s *Settings) { s.RecoveryGrace, s.WorkflowDeadline = 600*time.Second, 600*time.Second },
		"claim_batch is 0, the smallest allowed value is 1":                                                 func(s *Settings) { s.ClaimBatch = 0 },
		"worker_lease is -1s, the smallest allowed value is 0s":                                             func(s *Settings) { s.WorkerLease = -time.Second },
		"renew_deadline 15s must be below lease_ttl 15s: the old":                                           func(s *Settings) { s.RenewDeadline, s.LeaseTTL = 15*time.Second, 15*time.Second },
		"3 * heartbeat_interval 1m0s must not be above worker_lease 30s: one late":                          func(s *Settings) { s.HeartbeatInterval, s.WorkerLease = 20*time.Second, 30*time.Second },
		"(platform_retries + 1) * max_failures 18 must not be above agreed_executions 3: the":               func(s *Settings) { s.PlatformRetries = 5 },
	} {
		s, _ := Profile("b0")
		change(&s)
		var all []string
		for _, f := range s.Check() {
			all = append(all, f.String())
		}
		if text := strings.Join(all, "\n"); !strings.Contains("\n"+text, "\n"+want) {
			t.Errorf("want %q, got:\n%s", want, text)
		}
	}
}

func TestBound(t *testing.T) {
	// The value that the public incidents compute for the base profile and one deleted pod.
	if got := baseProfile().Bound(0, 1); got != 105*time.Second {
		t.Errorf("B = %s, want 105 s", got)
	}
	if got := baseProfile().Bound(0, 51); got != 135*time.Second {
		t.Errorf("two sweeps: B = %s, want 135 s", got)
	}
}
