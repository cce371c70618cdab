package chaosmesh

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/squall-chaos/squall/faults"
)

// TestWhatIsSentFitsTheCRDs holds every golden object to the CRDs of Chaos Mesh v0.9.1-0.20260902003049-47411975a8cb, which are older than
// the module that we use: a field that they do not know would be dropped, and a value that they do not take refused. testdata/crds has
// their schemas of spec (github.com/chaos-mesh/chaos-mesh, config/crd/bases, Apache-2.0) without descriptions; those of Schedule and Workflow
// without the experiments in them, which are held to their own.
func TestWhatIsSentFitsTheCRDs(t *testing.T) {
	crds := readCRDs(t)
	held := map[string]int{}
	for name, g := range goldens() {
		r, err := everything().Render(g.plan, g.form)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.Objects {
			for _, problem := range crds.misfits(t, o.Sent.GetKind(), o.Sent.Object["spec"], held) {
				t.Errorf("%s: %s: %s", name, o, problem)
			}
		}
	}
	for kind := range plurals {
		if held[kind] == 0 {
			t.Errorf("no %s was held to its CRD", kind)
		}
	}
}

// TestACRDThatDoesNotFitIsNoticed plants what the CRDs do not take.
func TestACRDThatDoesNotFitIsNoticed(t *testing.T) {
	crds := readCRDs(t)
	o := only(t, faults.Fault{Kind: faults.LeaseHang, Target: faults.Target{Process: "reconciler-1"}})
	for field, value := range map[string]any{
		"partitionBehavior": "drop", // of the newer module's defaults
		"delay":             map[string]any{"latency": "1m30s"},
		"direction":         "sideways",
		"duration":          45,
	} {
		spec := o.Sent.DeepCopy().Object["spec"].(map[string]any)
		spec[field] = value
		if found := crds.misfits(t, "NetworkChaos", spec, map[string]int{}); len(found) == 0 || !strings.Contains(found[0], field) {
			t.Errorf("%s %v: %q", field, value, found)
		}
	}
}

// crdSet are the compiled schemas by kind.
type crdSet map[string]*jsonschema.Schema

func readCRDs(t *testing.T) crdSet {
	t.Helper()
	all := crdSet{}
	for kind := range plurals {
		text, err := os.ReadFile(filepath.Join("testdata", "crds", kind+".json"))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		tighten(doc)
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft4) // as OpenAPI 3.0 has exclusiveMinimum
		if err := c.AddResource(kind, doc); err != nil {
			t.Fatal(err)
		}
		if all[kind], err = c.Compile(kind); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// tighten refuses fields that a schema does not name, as a server with strict validation does.
func tighten(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	properties, _ := s["properties"].(map[string]any)
	if _, open := s["additionalProperties"]; len(properties) > 0 && !open {
		s["additionalProperties"] = false
	}
	for _, p := range properties {
		tighten(p)
	}
	tighten(s["items"])
}

// misfits is what of a spec the CRD does not take, and what of the experiments in it.
func (crds crdSet) misfits(t *testing.T, kind string, spec any, held map[string]int) []string {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	if err := crds[kind].Validate(value); err != nil {
		found = append(found, fmt.Sprint(err))
	}
	held[kind]++
	return append(found, crds.inside(t, value, held)...)
}

// inside looks for experiments that a Schedule or a Workflow holds.
func (crds crdSet) inside(t *testing.T, value any, held map[string]int) []string {
	t.Helper()
	var found []string
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			for kind := range plurals {
				if strings.HasSuffix(kind, "Chaos") && strings.EqualFold(key, kind) {
					found = append(found, crds.misfits(t, kind, inner, held)...)
				}
			}
			found = append(found, crds.inside(t, inner, held)...)
		}
	case []any:
		for _, inner := range v {
			found = append(found, crds.inside(t, inner, held)...)
		}
	}
	return found
}
