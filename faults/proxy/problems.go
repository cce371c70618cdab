package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
)

// Problem is what is wrong with a field of a rule.
type Problem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Problems are all of them: an error.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Field + ": " + one.Message
	}
	return strings.Join(lines, "; ")
}

func (p *Problems) add(field string, err error) { *p = append(*p, Problem{field, err.Error()}) }

func (p *Problems) addf(field, format string, args ...any) {
	*p = append(*p, Problem{field, fmt.Sprintf(format, args...)})
}

func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// unknown says that a word is none of the known ones, and which was probably meant.
func unknown(what, word string, known []string) error {
	if near := history.Nearest(word, known); near != "" {
		return fmt.Errorf("unknown %s %q; did you mean %q?", what, word, near)
	}
	return fmt.Errorf("unknown %s %q; known: %s", what, word, strings.Join(known, ", "))
}

// ruleFields are the names of Rule's fields in JSON, in their order, with the index of each.
var ruleFields = func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Rule]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// DecodeRule reads one rule, strictly: an unknown, repeated or ill-typed field is a problem like any other, and all are told.
func DecodeRule(text []byte) (Rule, error) {
	var r Rule
	var p Problems
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return Rule{}, Problems{{"", "the body is not a JSON object, such as {\"port\": \"store\", \"action\": \"cut-reply\"}"}}
	}
	fields := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return Rule{}, Problems{{"", "not JSON: " + err.Error()}}
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return Rule{}, Problems{{"", "not JSON: " + err.Error()}}
		}
		name := key.(string) // the decoder allows nothing else in an object
		decodeField(&r, name, value, fields[name], &p)
		fields[name] = true
	}
	if _, err := d.Token(); err != nil {
		return Rule{}, Problems{{"", "not JSON: " + err.Error()}}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Rule{}, Problems{{"", "more follows after the object"}}
	}
	var more Problems
	if err := r.Check(); errors.As(err, &more) {
		for _, one := range more { // a field that could not be read is not also called empty
			if !slices.ContainsFunc(p, func(known Problem) bool { return known.Field == one.Field }) {
				p = append(p, one)
			}
		}
	}
	return r, p.err()
}

func decodeField(r *Rule, name string, value json.RawMessage, again bool, p *Problems) {
	i := slices.Index(ruleFields, name)
	switch {
	case i < 0:
		p.add(name, unknown("field", name, ruleFields))
		return
	case again:
		p.addf(name, "given twice")
		return
	}
	target := reflect.ValueOf(r).Elem().Field(i)
	err := json.Unmarshal(value, target.Addr().Interface())
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		p.addf(name, "a %s is not a %s", kind.Value, plain(target.Type()))
	case err != nil:
		p.add(name, err)
	}
}

// plain is a type as a person calls it.
func plain(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Uint64:
		return "whole number"
	case reflect.Float64:
		return "number"
	}
	return "text"
}
