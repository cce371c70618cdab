package scenarios

import (
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/strictyaml"
	"github.com/squall-chaos/squall/clusters"
)

var (
	durationType  = reflect.TypeFor[time.Duration]()
	distType      = reflect.TypeFor[clusters.Dist]()
	overridesType = reflect.TypeFor[Overrides]()
	amountType    = reflect.TypeFor[Amount]()
)

// slot is where a node is decoded to.
type slot struct {
	value  reflect.Value
	path   string
	signed bool // a duration may be negative
}

// decode fills the slot from the node. It reports what does not fit and goes on, so that all independent
// problems are found at once.
func (s *source) decode(n ast.Node, to slot) {
	s.values[to.path] = strictyaml.Of(n)
	before := len(s.problems)
	s.read(n, to)
	if s.full() {
		return
	}
	composed := to.value.Kind() == reflect.Struct && to.value.Type() != distType || to.value.Kind() == reflect.Slice
	for _, p := range s.problems[before:] {
		if here := s.values[to.path]; !composed || p.Line == here.Line && p.Col == here.Col {
			s.broken[to.path] = true
		}
	}
}

func (s *source) read(n ast.Node, to slot) {
	switch to.value.Type() {
	case durationType:
		to.value.SetInt(int64(s.duration(n, to.signed)))
		return
	case calibrationType:
		if to.path != "" {
			s.calibration(n, to)
			return
		}
	case distType:
		if text, ok := strictyaml.Text(n); ok && text == measuredWord && strings.HasPrefix(to.path, "tasks[") && strings.HasSuffix(to.path, ".run") {
			s.measured = append(s.measured, to.path)
			return
		}
		to.value.Set(reflect.ValueOf(s.dist(n)))
		return
	case overridesType:
		to.value.Set(reflect.ValueOf(s.overrides(n, to.path)))
		return
	case amountType:
		to.value.SetString(string(s.amount(n)))
		return
	}
	switch to.value.Kind() {
	case reflect.Struct:
		s.structure(n, to)
	case reflect.Slice:
		strictyaml.List(n, to.value, to.path, s.sink, func(item ast.Node, value reflect.Value, path string) {
			s.decode(item, slot{value: value, path: path})
		})
	case reflect.Pointer:
		v := reflect.New(to.value.Type().Elem())
		s.decode(n, slot{value: v.Elem(), path: to.path})
		to.value.Set(v)
	default:
		strictyaml.Scalar(n, to.value, s.sink)
	}
}

func (s *source) structure(n ast.Node, to slot) {
	if !strictyaml.Structure(n, fieldsOf(to.value.Type()), to.path, s.sink, func(f field, value ast.Node) {
		s.decode(value, slot{value: to.value.FieldByIndex(f.Index), path: join(to.path, f.Name), signed: f.Signed})
	}) {
		s.misread[to.path] = true
	}
}

// field is a field of a struct as files name it.
type field = strictyaml.Field

func fieldsOf(t reflect.Type) []field { return strictyaml.Fields(t) }

func brief(text string) string { return strictyaml.Brief(text) }

func join(path, name string) string { return strictyaml.Join(path, name) }

// nearest suggests a name, or lists all that there are.
func nearest(name string, known []string, all string) string {
	const most = 30
	return strictyaml.Suggest(name, known, all, most)
}
