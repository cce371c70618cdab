package dispatcher

import "time"

// profiles are the settings that scenarios start from, in order of name.
var profiles = []struct {
	name     string
	settings Settings
}{
	{"b0", baseProfile()},
	{"tick-300s", tickProfile()},
}

// Profile returns the named settings.
func Profile(name string) (Settings, bool) {
	for _, p := range profiles {
		if p.name == name {
			return p.settings, true
		}
	}
	return Settings{}, false
}

// Profiles lists the names of all profiles.
func Profiles() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.name
	}
	return names
}

// baseProfile is the base profile B0 of the public incidents: short ticks, work that outlives
// them, and heartbeats to tell a live worker from a dead one.
func baseProfile() Settings {
	return Settings{
		HTTPTimeout:      540 * time.Second,
		StepTimeout:      570 * time.Second,
		WorkflowDeadline: 600 * time.Second,
		Tick:             5 * time.Second,
		RecoveryGrace:    60 * time.Second,

		ClaimBatch:      10,
		RecoverBatch:    50,
		RecoverInterval: 30 * time.Second,
		LaunchRate:      10,

		CreateTimeout: 10 * time.Second,
		StoreTimeout:  5 * time.Second,

		LeaseTTL:      15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,

		StartTimeout:       300 * time.Second,
		PodGrace:           30 * time.Second,
		TerminationTimeout: 60 * time.Second,

		HeartbeatInterval: 15 * time.Second,
		WorkerLease:       45 * time.Second,

		MaxFailures:    3,
		MaxDisruptions: 20,
		Backoff:        10 * time.Second,
		MaxBackoff:     60 * time.Second,

		TTLAfterFinished: time.Hour,

		NodeGrace:             40 * time.Second,
		UnreachableToleration: 300 * time.Second,
		NodeProvisioning:      120 * time.Second,
		ColdPull:              60 * time.Second,
		MaxClockSkew:          5 * time.Second,
	}
}

// tickProfile is the chain 180 < 200 < 240 < 300 < 360 s: every execution is over before the next tick, and
// no heartbeats are needed because past the grace the kubelet has ended whatever ran.
func tickProfile() Settings {
	s := baseProfile()
	s.HTTPTimeout = 180 * time.Second
	s.StepTimeout = 200 * time.Second
	s.WorkflowDeadline = 240 * time.Second
	s.Tick = 300 * time.Second
	s.RecoveryGrace = 360 * time.Second

	s.ClaimBatch = 50
	s.LaunchRate = 0

	s.LeaseTTL = 30 * time.Second
	s.RenewDeadline = 20 * time.Second
	s.RetryPeriod = 5 * time.Second

	s.StartTimeout = 210 * time.Second
	s.HeartbeatInterval = 0
	s.WorkerLease = 0
	s.TTLAfterFinished = 0
	return s
}
