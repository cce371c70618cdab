package chain

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON schema of chain files, as draft-07, which editors' YAML language servers understand.
func Schema() ([]byte, error) {
	r := &jsonschema.Reflector{FieldNameTag: "yaml", Anonymous: true, DoNotReference: true, Mapper: mapped, LookupComment: described}
	schema := r.Reflect(&File{})
	schema.Version = "http://json-schema.org/draft-07/schema#"
	schema.Title = "Squall chain"
	limit(schema, "apiVersion", []string{APIVersion})
	limit(schema, "kind", []string{Kind})
	links := property(schema, "links").Items
	limit(links, "setting", SettingNames())
	limit(links, "unit", unitNames())
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("print the schema: %w", err)
	}
	return append(data, '\n'), nil
}

// described takes a field's description from its doc tag.
func described(t reflect.Type, name string) string {
	if t.Kind() != reflect.Struct || name == "" {
		return ""
	}
	f, ok := t.FieldByName(name)
	if !ok {
		return ""
	}
	return f.Tag.Get("doc")
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

func property(s *jsonschema.Schema, name string) *jsonschema.Schema {
	p, ok := s.Properties.Get(name)
	if !ok {
		panic("chain: the schema has no " + name)
	}
	return p
}

func limit(s *jsonschema.Schema, name string, values []string) {
	p := property(s, name)
	p.Enum = nil
	for _, v := range values {
		p.Enum = append(p.Enum, v)
	}
}
