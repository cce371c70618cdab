package dispatcher

import "time"

// Settings is every timeout and limit of the protocol. Names in YAML are those of the field's
// incidents (see the yaml tags); durations must be positive unless a comment says otherwise.
type Settings struct {
	// The chain: each strictly inside the next, with the margins that Check computes.
	HTTPTimeout      time.Duration `yaml:"http_timeout"`      // one call that the work makes
	StepTimeout      time.Duration `yaml:"step_timeout"`      // one step of the work, kept by the worker itself
	WorkflowDeadline time.Duration `yaml:"workflow_deadline"` // activeDeadlineSeconds, kept by the kubelet
	Tick             time.Duration `yaml:"tick"`              // period of the dispatcher's claims
	RecoveryGrace    time.Duration `yaml:"recovery_grace"`    // silence after which an attempt that cannot be seen counts as dead

	ClaimBatch      int           `yaml:"claim_batch"`      // CLAIM_BATCH_LIMIT: claims of one tick
	RecoverBatch    int           `yaml:"recover_batch"`    // RECOVERY_BATCH_LIMIT: requeues of one sweep
	RecoverInterval time.Duration `yaml:"recover_interval"` // period of the reconciler's sweeps
	MaxInFlight     int           `yaml:"max_in_flight"`    // running tasks at once; 0: no limit
	LaunchRate      int           `yaml:"launch_rate"`      // creates per second; 0: no limit

	CreateTimeout time.Duration `yaml:"create_timeout"` // one call to the API server
	StoreTimeout  time.Duration `yaml:"store_timeout"`  // one call to the database

	LeaseTTL      time.Duration `yaml:"lease_ttl"`      // a lease not renewed for this long may be taken
	RenewDeadline time.Duration `yaml:"renew_deadline"` // a leader that could not renew for this long stops by itself
	RetryPeriod   time.Duration `yaml:"retry_period"`   // between two looks at the lease

	StartTimeout       time.Duration `yaml:"start_timeout"`       // claim to the worker's start
	PodGrace           time.Duration `yaml:"pod_grace"`           // SIGTERM to SIGKILL
	TerminationTimeout time.Duration `yaml:"termination_timeout"` // a deletion that takes longer than the grace plus this is stuck

	// Heartbeats, or none (0, 0): then only the workflow deadline proves a silent worker dead.
	HeartbeatInterval time.Duration `yaml:"heartbeat_interval"`
	WorkerLease       time.Duration `yaml:"worker_lease"` // a worker without an accepted heartbeat for this long kills itself

	MaxFailures    int           `yaml:"max_failures"`    // failed executions until a person must look
	MaxDisruptions int           `yaml:"max_disruptions"` // lost or disrupted attempts until a person must look
	Backoff        time.Duration `yaml:"backoff"`         // wait after the first failure, doubled by each further one
	MaxBackoff     time.Duration `yaml:"max_backoff"`

	TTLAfterFinished time.Duration `yaml:"ttl_after_finished"` // finished workloads are kept this long; 0: not at all

	// What the platform does, as far as the chain depends on it.
	NodeGrace             time.Duration `yaml:"node_grace"`             // silent kubelet to NotReady
	UnreachableToleration time.Duration `yaml:"unreachable_toleration"` // NotReady to eviction
	NodeProvisioning      time.Duration `yaml:"node_provisioning"`      // worst time until a new node is ready; may be 0
	ColdPull              time.Duration `yaml:"cold_pull"`              // worst time of an image pull; may be 0
	MaxClockSkew          time.Duration `yaml:"max_clock_skew"`         // between any two clocks; may be 0
	PlatformRetries       int           `yaml:"platform_retries"`       // restarts by the platform inside one attempt; may be 0
	AgreedExecutions      int           `yaml:"agreed_executions"`      // most executions of failing work that its owner accepts; 0: MaxFailures
}

// Heartbeats tells which discipline proves a silent worker dead: its lapsed lease, or its deadline.
func (s Settings) Heartbeats() bool { return s.HeartbeatInterval > 0 }
