package chain

import (
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// Schema returns the JSON schema (draft-07) of chain files.
func Schema() ([]byte, error) {
	return strictyaml.Schema(&File{}, "Squall chain", mapped, func(schema *jsonschema.Schema) {
		strictyaml.Limit(schema, "apiVersion", []string{APIVersion})
		strictyaml.Limit(schema, "kind", []string{Kind})
		links := strictyaml.Items(schema, "links")
		strictyaml.Limit(links, "setting", SettingNames())
		strictyaml.Limit(links, "unit", unitNames())
	})
}

// mapped is the schema of types that files write in a form of their own.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case expressionType:
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}}}
	case namesType:
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}}}}
	}
	return nil
}
