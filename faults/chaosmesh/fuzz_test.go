package chaosmesh

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/squall-chaos/squall/faults"
)

// FuzzFlags: whatever is read as a place is printed as it was written, and makes objects that Chaos Mesh takes, or refuses with an error.
func FuzzFlags(f *testing.F) {
	for _, seed := range []string{"app=postgres", "a.b/c=d,e=f", "db.example.com", "10.0.0.0/24", "api=app=gateway:8080/jobs*", "api=app=x:-1", "=", ":", "a=,b="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := everything()
		if d, err := ParseDatabase(text); err == nil {
			if s.Database = d; d.String() == "" {
				t.Errorf("%q is nowhere", text)
			}
		}
		if port, server, err := ParseHTTP(text); err == nil {
			s.HTTP[port] = server
		}
		plan := faults.Plan{sample(faults.StoreOutage, ""), sample(faults.Call, "cut-reply")}
		if r, err := s.Render(plan, WorkflowForm); err == nil {
			if _, err := r.YAML(s, text); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

// FuzzStand: a status of any shape is read or refused, never a panic.
func FuzzStand(f *testing.F) {
	f.Add("NetworkChaos", "{"+state("TTFF")+", experiment: {containerRecords: [{id: a, phase: Injected, injectedCount: 1, events: [{type: Failed, operation: Apply, timestamp: null}]}]}}")
	f.Add("Schedule", "{time: null, active: [{name: x}]}")
	f.Add("Workflow", "{startTime: \"2026-11-29T10:00:01Z\", conditions: [{type: Accomplished, status: \"True\"}]}")
	f.Add("PodChaos", "{experiment: {containerRecords: [null]}}")
	f.Add("PodChaos", "{conditions: 7}")
	f.Fuzz(func(t *testing.T, kind, text string) {
		var status any
		if yaml.Unmarshal([]byte(text), &status) != nil {
			return
		}
		u := &unstructured.Unstructured{Object: map[string]any{"kind": kind, "status": status, "spec": map[string]any{"action": "pod-kill"}}}
		if st, err := Stand(u); err == nil && st.String() == "" {
			t.Errorf("%s %q says nothing", kind, text)
		}
	})
}
