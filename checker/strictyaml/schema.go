package strictyaml

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"
)

// Schema is the JSON schema of a form, as draft-07, which editors' YAML language servers understand. Descriptions are those of the fields'
// doc tags. mapped gives the schema of types that files write in a form of their own, adjust may change the whole.
func Schema(form any, title string, mapped func(reflect.Type) *jsonschema.Schema, adjust func(*jsonschema.Schema)) ([]byte, error) {
	r := &jsonschema.Reflector{FieldNameTag: "yaml", Anonymous: true, DoNotReference: true, Mapper: mapped, LookupComment: described}
	schema := r.Reflect(form)
	schema.Version = "http://json-schema.org/draft-07/schema#"
	schema.Title = title
	adjust(schema)
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

// Property is the schema of a field. The field is there: its name is the caller's own.
func Property(s *jsonschema.Schema, name string) *jsonschema.Schema {
	p, ok := s.Properties.Get(name)
	if !ok {
		panic(fmt.Sprintf("strictyaml: the schema of %q has no %s", s.Title, name))
	}
	return p
}

// Items is the schema of what a field's list has.
func Items(s *jsonschema.Schema, name string) *jsonschema.Schema { return Property(s, name).Items }

// Limit lets a field have these values only.
func Limit(s *jsonschema.Schema, name string, values []string) { enumerate(Property(s, name), values) }

// LimitItems lets a field's list have these values only.
func LimitItems(s *jsonschema.Schema, name string, values []string) {
	enumerate(Items(s, name), values)
}

func enumerate(s *jsonschema.Schema, values []string) {
	s.Enum = nil
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
}
