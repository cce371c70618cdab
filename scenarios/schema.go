package scenarios

import (
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/strictyaml"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
)

// Schema returns the JSON schema (draft-07) of scenario files.
func Schema() ([]byte, error) {
	return schemaOf(&Scenario{}, "Squall scenario", choices)
}

// VariantSchema returns the JSON schema (draft-07) of settings files.
func VariantSchema() ([]byte, error) {
	return schemaOf(&Variant{}, "Squall settings", func(schema *jsonschema.Schema) {
		strictyaml.Limit(schema, "apiVersion", []string{APIVersion})
		strictyaml.Limit(schema, "kind", []string{VariantKind})
		strictyaml.Limit(schema, "profile", dispatcher.Profiles())
	})
}

// CalibrationSchema returns the JSON schema (draft-07) of the files that `squall calibrate` writes.
func CalibrationSchema() ([]byte, error) {
	return schemaOf(&Calibration{}, "Squall calibration", func(schema *jsonschema.Schema) {
		strictyaml.Limit(schema, "apiVersion", []string{APIVersion})
		strictyaml.Limit(schema, "kind", []string{CalibrationKind})
		schema.Required = []string{"apiVersion", "kind"} // a scenario may have one inside, without
	})
}

// schemaOf reflects a kind of file, and limits what has names to those that there are.
func schemaOf(file any, title string, choices func(*jsonschema.Schema)) ([]byte, error) {
	return strictyaml.Schema(file, title, mapped, func(schema *jsonschema.Schema) {
		schema.Extras = map[string]any{"definitions": map[string]*jsonschema.Schema{durationForm: durationSchema(), timesForm: distSchema()}}
		choices(schema)
	})
}

// The forms that many fields share are defined once. In draft-07 what stands beside a $ref is ignored, descriptions
// too, so a reference is wrapped.
const (
	durationForm = "duration"
	timesForm    = "distribution"
)

func reference(form string) *jsonschema.Schema {
	return &jsonschema.Schema{AllOf: []*jsonschema.Schema{{Ref: "#/definitions/" + form}}}
}

// durationPattern is what time.ParseDuration takes, and the bare 0.
const durationPattern = `^([-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$|^0$`

// mapped is the schema of types that files write in a form of their own.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case durationType:
		return reference(durationForm)
	case distType:
		return reference(timesForm)
	case overridesType:
		return settingsSchema()
	case amountType:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
	}
	return nil
}

func durationSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "string", Pattern: durationPattern, Examples: []any{"90s", "2m30s"}},
		{Const: 0},
	}}
}

func object(properties map[string]*jsonschema.Schema, order, required []string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: required,
		AdditionalProperties: jsonschema.FalseSchema}
	for _, name := range order {
		s.Properties.Set(name, properties[name])
	}
	return s
}

func distSchema() *jsonschema.Schema {
	two := uint64(2)
	uniform := &jsonschema.Schema{Type: "array", Items: reference(durationForm), MinItems: &two, MaxItems: &two}
	exponential := &jsonschema.Schema{OneOf: []*jsonschema.Schema{reference(durationForm),
		object(map[string]*jsonschema.Schema{"mean": reference(durationForm), "max": reference(durationForm)}, []string{"mean", "max"}, []string{"mean"})}}
	skewed := object(map[string]*jsonschema.Schema{"median": reference(durationForm), "p99": reference(durationForm)},
		[]string{"median", "p99"}, []string{"median", "p99"})
	forms := []*jsonschema.Schema{reference(durationForm)}
	for _, f := range []struct {
		name string
		form *jsonschema.Schema
	}{{"uniform", uniform}, {"exponential", exponential}, {"lognormal", skewed}, {"weibull", skewed}, {"percentiles", percentilesSchema()}} {
		forms = append(forms, object(map[string]*jsonschema.Schema{f.name: f.form}, []string{f.name}, []string{f.name}))
	}
	return &jsonschema.Schema{OneOf: forms}
}

// percentilesSchema is a mapping from percentiles to durations; that both rise, a schema cannot say.
func percentilesSchema() *jsonschema.Schema {
	two := uint64(2)
	return &jsonschema.Schema{Type: "object", MinProperties: &two, Required: []string{"0", "100"}, AdditionalProperties: jsonschema.FalseSchema,
		PatternProperties: map[string]*jsonschema.Schema{`^(100|[0-9]{1,2}(\.[0-9]+)?)$`: reference(durationForm)}}
}

// settingsSchema has every setting of the dispatcher.
func settingsSchema() *jsonschema.Schema {
	t := reflect.TypeFor[dispatcher.Settings]()
	s := object(nil, nil, nil)
	for _, f := range fieldsOf(t) {
		if t.FieldByIndex(f.Index).Type == durationType {
			s.Properties.Set(f.Name, reference(durationForm))
		} else {
			s.Properties.Set(f.Name, &jsonschema.Schema{Type: "integer", Minimum: "0"})
		}
	}
	return s
}

// choices limits fields to the names that there are.
func choices(root *jsonschema.Schema) {
	strictyaml.Limit(root, "apiVersion", []string{APIVersion})
	strictyaml.Limit(root, "kind", []string{Kind})
	calibrated(root)
	strictyaml.Limit(root, "family", texts(faults.Families()))
	strictyaml.Limit(root, "dispatcher", planted.Names())
	strictyaml.Limit(root, "profile", dispatcher.Profiles())
	strictyaml.Limit(root, "swarm", faults.Swarms())
	strictyaml.Limit(strictyaml.Items(root, "nodes"), "capacity_type", texts([]clusters.CapacityType{clusters.OnDemand, clusters.Spot}))
	fault := strictyaml.Items(root, "faults")
	strictyaml.Limit(fault, "kind", texts(faults.Kinds()))
	strictyaml.Limit(fault, "action", texts(faults.Actions()))
	strictyaml.Limit(fault, "code", faults.Codes())
	strictyaml.LimitItems(fault, "ports", []string{string(clusters.API), string(clusters.Store)})
	target := strictyaml.Property(fault, "target")
	strictyaml.Limit(target, "port", texts(faults.PortNames()))
	strictyaml.Limit(target, "verb", faults.Verbs())
	expect := strictyaml.Property(root, "expect")
	strictyaml.LimitItems(expect, "tolerate", checker.Names())
	strictyaml.Limit(strictyaml.Items(expect, "planted"), "defect", planted.Names())
	for _, e := range []*jsonschema.Schema{strictyaml.Property(expect, "reference"), strictyaml.Property(expect, "naive"), strictyaml.Items(expect, "planted")} {
		strictyaml.Limit(e, "verdict", []string{checker.Valid.String(), checker.Invalid.String()})
		strictyaml.LimitItems(e, "violates", checker.Names())
		strictyaml.LimitItems(e, "exercised", checker.Names())
		strictyaml.Limit(strictyaml.Items(e, "tasks"), "phase", phaseNames())
		strictyaml.Limit(strictyaml.Items(e, "tasks"), "reason", reasons)
		strictyaml.Limit(strictyaml.Items(e, "calls"), "verb", faults.Verbs())
	}
}

// calibrated lets a calibration be the name of a file, and a run what it has measured.
func calibrated(root *jsonschema.Schema) {
	c := strictyaml.Property(root, "calibration")
	strictyaml.Limit(c, "apiVersion", []string{APIVersion})
	strictyaml.Limit(c, "kind", []string{CalibrationKind})
	inside := *c
	inside.Description = ""
	*c = jsonschema.Schema{Description: c.Description, AnyOf: []*jsonschema.Schema{{Type: "string"}, &inside}}
	run := strictyaml.Property(strictyaml.Items(root, "tasks"), "run")
	run.AllOf, run.AnyOf = nil, []*jsonschema.Schema{{Const: measuredWord}, run.AllOf[0]}
}
