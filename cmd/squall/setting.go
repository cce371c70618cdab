package main

import (
	"fmt"
	"reflect"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// setting is one timeout or limit of the protocol, and what it is for.
type setting struct{ name, does string }

// settingTexts are in the order of dispatcher.Settings.
var settingTexts = []setting{
	{"http_timeout", "one call that the work makes"},
	{"step_timeout", "one step of the work, kept by the worker itself"},
	{"workflow_deadline", "activeDeadlineSeconds of the pod, kept by the kubelet"},
	{"tick", "period of the dispatcher's claims"},
	{"recovery_grace", "silence after which an attempt that cannot be seen counts as dead"},
	{"claim_batch", "CLAIM_BATCH_LIMIT: the most claims of one tick"},
	{"recover_batch", "RECOVERY_BATCH_LIMIT: the most requeues of one sweep"},
	{"recover_interval", "period of the reconciler's sweeps"},
	{"max_in_flight", "the most running tasks at once; 0: no limit"},
	{"launch_rate", "the most creates per second; 0: no limit"},
	{"create_timeout", "one call to the API server"},
	{"store_timeout", "one call to the database"},
	{"lease_ttl", "a lease that is not renewed for this long may be taken"},
	{"renew_deadline", "a leader that could not renew for this long stops by itself"},
	{"retry_period", "between two looks at the lease"},
	{"start_timeout", "from the claim to the worker's start"},
	{"pod_grace", "from SIGTERM to SIGKILL"},
	{"termination_timeout", "a deletion that takes longer than pod_grace plus this is stuck"},
	{"heartbeat_interval", "between two heartbeats of a worker; 0, with worker_lease 0: none"},
	{"worker_lease", "a worker without an accepted heartbeat for this long kills itself"},
	{"max_failures", "failed executions until a person must look"},
	{"max_disruptions", "lost or disrupted attempts until a person must look"},
	{"backoff", "wait after the first failure, doubled by each further one"},
	{"max_backoff", "the longest wait after a failure"},
	{"ttl_after_finished", "how long finished workloads are kept; 0: not at all"},
	{"node_grace", "from a kubelet's silence to NotReady"},
	{"unreachable_toleration", "from NotReady to eviction"},
	{"node_provisioning", "worst time until a new node is ready"},
	{"cold_pull", "worst time of an image pull"},
	{"max_clock_skew", "between any two clocks"},
	{"platform_retries", "restarts by the platform inside one attempt"},
	{"agreed_executions", "most executions of failing work that its owner accepts; 0: max_failures"},
}

// in is the setting's value in a profile.
func (s setting) in(profile string) string {
	settings, _ := dispatcher.Profile(profile)
	v := reflect.ValueOf(settings)
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") != s.name {
			continue
		}
		if d, ok := v.Field(i).Interface().(time.Duration); ok {
			return short(d)
		}
		return fmt.Sprint(v.Field(i).Interface())
	}
	return ""
}

type listedSetting struct {
	Name   string            `json:"name"`
	Does   string            `json:"does"`
	Values map[string]string `json:"values"` // by profile
}

func listSettings() []listedSetting {
	all := make([]listedSetting, len(settingTexts))
	for i, s := range settingTexts {
		all[i] = listedSetting{Name: s.name, Does: s.does, Values: map[string]string{}}
		for _, profile := range dispatcher.Profiles() {
			all[i].Values[profile] = s.in(profile)
		}
	}
	return all
}

// settings has one column per profile.
func (t *tables) settings(all []listedSetting) {
	head := []string{"SETTING"}
	for _, profile := range dispatcher.Profiles() {
		head = append(head, "IN "+profile)
	}
	t.head(append(head, "WHAT IT IS")...)
	for _, s := range all {
		row := []string{s.Name}
		for _, profile := range dispatcher.Profiles() {
			row = append(row, s.Values[profile])
		}
		t.row(append(row, s.Does)...)
	}
}
