package scenarios

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/squall-chaos/squall/dispatcher"
)

var update = flag.Bool("update", false, "write golden files")

func compiled(t *testing.T) *validator.Schema {
	t.Helper()
	return compiledOf(t, Schema)
}

func compiledOf(t *testing.T, schema func() ([]byte, error)) *validator.Schema {
	t.Helper()
	text, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("scenario.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("scenario.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// document is a YAML text as a JSON validator wants it.
func document(t *testing.T, text []byte) any {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestTheLibraryKeepsTheSchema(t *testing.T) {
	s := compiled(t)
	for _, scenario := range Library() {
		text, _ := LibraryFile(scenario.Name)
		if err := s.Validate(document(t, text)); err != nil {
			t.Errorf("%s: %v", scenario.Name, err)
		}
	}
}

func TestTheSchemaRefusesWhatTheParserRefuses(t *testing.T) {
	s := compiled(t)
	if err := s.Validate(document(t, []byte(calm))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new string }{
		{"summary:", "sumary:"},
		{"pods: 10", "pods: many"},
		{"60s}", "60}"},
		{"60s}", "{normal: 60s}}"},
		{"60s}", "{uniform: [60s]}}"},
		{"on-demand", "ondemand"},
		{"v1alpha1", "v1"},
		{"horizon: 10m", "horizon: 10m\nsettings: {recover_grace: 6m}"},
		{"horizon: 10m", "horizon: 10m\nprofile: b1"},
		{"horizon: 10m", "horizon: 10m\nfaults: [{at: 0s, kind: node-kil}]"},
		{"horizon: 10m", "horizon: 10m\nfaults: [{at: 0s, kind: call, action: lose}]"},
		{"horizon: 10m", "horizon: 10m\nexpect: {reference: {exercised: [I9-luck]}}"},
	} {
		text := []byte(strings.Replace(calm, c.old, c.new, 1))
		if s.Validate(document(t, text)) == nil {
			t.Errorf("the schema accepts %q", c.new)
		}
		if _, err := Parse("x.yaml", text); err == nil {
			t.Errorf("the parser accepts %q", c.new)
		}
	}
}

func TestTheSchemaOfCalibrations(t *testing.T) {
	const good = "apiVersion: squall/v1alpha1\nkind: Calibration\nmeasured: \"x\"\nplatform:\n  startup: {uniform: [1s, 3s]}\n  spot: {provisioning: 70s}\n" +
		"settings: {node_grace: 41s}\nrun: {weibull: {median: 150s, p99: 200s}}\n"
	s := compiledOf(t, CalibrationSchema)
	for text, want := range map[string]bool{
		good: true,
		strings.Replace(good, "kind: Calibration\n", "", 1):      false,
		strings.Replace(good, "startup", "start", 1):             false,
		strings.Replace(good, "node_grace: 41s", "grace: 1s", 1): false,
		strings.Replace(good, "Calibration", "Scenario", 1):      false,
	} {
		bySchema := s.Validate(document(t, []byte(text)))
		_, byParser := ParseCalibration("measured.yaml", []byte(text))
		if (bySchema == nil) != want || (byParser == nil) != want {
			t.Errorf("schema: %v; parser: %v; want both to accept: %v\n%s", bySchema, byParser, want, text)
		}
	}
}

func TestTheSchemaHasEveryField(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	if root["$schema"] != "http://json-schema.org/draft-07/schema#" {
		t.Errorf("the schema calls itself %v", root["$schema"])
	}
	var compare func(at string, typ reflect.Type, schema map[string]any)
	compare = func(at string, typ reflect.Type, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		fields := fieldsOf(typ)
		if len(properties) != len(fields) {
			t.Errorf("%s: the schema has %d fields, the parser %d", at, len(properties), len(fields))
		}
		for _, f := range fields {
			sub, ok := properties[f.Name].(map[string]any)
			if !ok {
				t.Errorf("the schema lacks %s.%s", at, f.Name)
				continue
			}
			if sub["description"] == nil {
				t.Errorf("%s.%s is not described", at, f.Name)
			}
			inner := typ.FieldByIndex(f.Index).Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if forms, ok := sub["anyOf"].([]any); ok && inner == calibrationType { // the name of a file, or this
				sub = forms[1].(map[string]any)
			}
			switch {
			case inner == distType || inner == overridesType:
			case inner.Kind() == reflect.Struct:
				compare(at+"."+f.Name, inner, sub)
			case inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct:
				items, _ := sub["items"].(map[string]any)
				compare(at+"."+f.Name, inner.Elem(), items)
			}
		}
	}
	compare("scenario", reflect.TypeFor[Scenario](), root)
	settings := root["properties"].(map[string]any)["settings"].(map[string]any)["properties"].(map[string]any)
	for _, f := range fieldsOf(reflect.TypeFor[dispatcher.Settings]()) {
		if settings[f.Name] == nil {
			t.Errorf("the schema lacks setting %s", f.Name)
		}
	}
}

// TestSchemaFile keeps schema.json, which editors find through the first line of library files.
func TestSchemaFile(t *testing.T) {
	want, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("schema.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("schema.json is not what `squall schema` prints (%v): go test ./scenarios -run SchemaFile -update", err)
	}
}
