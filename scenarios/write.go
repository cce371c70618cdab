package scenarios

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// Written is the scenario as a file, with what is set in the order of the schema; Parse reads the same scenario from it.
func (s *Scenario) Written() []byte {
	var b bytes.Buffer
	v := reflect.ValueOf(s).Elem()
	for _, f := range fieldsOf(v.Type()) {
		field := v.FieldByIndex(f.Index)
		if unset(field) && !f.Required {
			continue
		}
		if field.Kind() == reflect.Slice && field.Type() != overridesType && field.Type().Elem().Kind() == reflect.Struct {
			fmt.Fprintf(&b, "%s:\n", f.Name)
			for i := range field.Len() {
				fmt.Fprintf(&b, "  - %s\n", flow(field.Index(i)))
			}
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", f.Name, flow(field))
	}
	return b.Bytes()
}

// unset tells that a field says nothing.
func unset(v reflect.Value) bool {
	if d, ok := v.Interface().(clusters.Dist); ok {
		return d.Shape == clusters.NotSet
	}
	if v.Kind() == reflect.Struct {
		for _, f := range fieldsOf(v.Type()) {
			if !unset(v.FieldByIndex(f.Index)) {
				return false
			}
		}
		return true
	}
	return v.IsZero()
}

// flow is a value on one line.
func flow(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return DurationText(x)
	case clusters.Dist:
		if x.Shape == clusters.FixedShape {
			return DurationText(x.A)
		}
		return DistText(x)
	case Overrides:
		parts := make([]string, len(x))
		for i, o := range x {
			name, value, _ := strings.Cut(o.String(), "=")
			if isDuration(o.Name) {
				value = DurationText(o.Duration)
			}
			parts[i] = name + ": " + value
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	switch v.Kind() {
	case reflect.Pointer:
		return flow(v.Elem())
	case reflect.Struct:
		var parts []string
		for _, f := range fieldsOf(v.Type()) {
			if field := v.FieldByIndex(f.Index); f.Required || !unset(field) {
				parts = append(parts, f.Name+": "+flow(field))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = flow(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.String:
		return quoted(v.String())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

// plainWord is text that YAML takes for a string without quotes.
var plainWord = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9/_-]*$`)

func quoted(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(text)
	}
	if plainWord.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}

// DurationText is a time as people write it: 30m where Go says 30m0s.
func DurationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
