package scenarios

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/history"
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
	s.values[to.path] = s.spot(n)
	before := len(s.problems)
	s.read(n, to)
	if s.full() {
		return
	}
	composed := to.value.Kind() == reflect.Struct && to.value.Type() != distType || to.value.Kind() == reflect.Slice
	for _, p := range s.problems[before:] {
		if here := s.values[to.path]; !composed || p.Line == here.line && p.Col == here.col {
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
		if text, ok := textOf(n); ok && text == measuredWord && strings.HasPrefix(to.path, "tasks[") && strings.HasSuffix(to.path, ".run") {
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
		s.list(n, to)
	case reflect.Pointer:
		v := reflect.New(to.value.Type().Elem())
		s.decode(n, slot{value: v.Elem(), path: to.path})
		to.value.Set(v)
	default:
		s.scalar(n, to)
	}
}

// spot is where a node begins: for a mapping its first key, not the colon that the parser names.
func (s *source) spot(n ast.Node) spot {
	switch n := n.(type) {
	case *ast.MappingValueNode:
		return at(n.Key.GetToken())
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return at(n.Values[0].Key.GetToken())
		}
	}
	if n == nil {
		return spot{1, 1, 1}
	}
	return at(n.GetToken())
}

func (s *source) wrong(n ast.Node, want string) {
	s.add(s.spot(n), CodeType, "", "expected %s, found %s", want, describe(n))
}

func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.StringNode:
		return fmt.Sprintf("the text %q", brief(n.Value))
	case *ast.LiteralNode:
		return "a block of text"
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return brief(n.GetToken().Value)
	case nil:
		return "nothing"
	}
	return "a " + strings.ToLower(n.Type().String())
}

func brief(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return text
}

// entries returns the entries of a mapping, and false when the node is none.
func entries(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// field is a field of a struct as files name it.
type field struct {
	name     string
	index    []int
	required bool
	signed   bool
}

// fieldsOf lists the fields of a struct type in order, those of inlined structs included.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("yaml")
		if !ok {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if options == "inline" {
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields = append(fields, inner)
			}
			continue
		}
		fields = append(fields, field{name: name, index: []int{i}, required: options != "omitempty", signed: f.Tag.Get("sign") == "any"})
	}
	return fields
}

func fieldNames(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

func (s *source) structure(n ast.Node, to slot) {
	values, ok := entries(n)
	if !ok {
		s.wrong(n, "a mapping")
		return
	}
	fields := fieldsOf(to.value.Type())
	seen := s.keys(values)
	var misspelt []string
	for _, e := range values {
		name, ok := seen[e]
		if !ok {
			continue
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			s.unknownField(e, name, fieldNames(fields), to.path)
			s.misread[to.path] = true
			if !s.full() {
				misspelt = append(misspelt, history.Nearest(name, fieldNames(fields)))
			}
			continue
		}
		s.decode(e.Value, slot{value: to.value.FieldByIndex(fields[i].index), path: join(to.path, name), signed: fields[i].signed})
	}
	var missing []string
	for _, f := range fields {
		if f.required && !s.has(join(to.path, f.name)) && !slices.Contains(misspelt, f.name) {
			missing = append(missing, strconv.Quote(f.name))
		}
	}
	if len(missing) > 0 {
		s.add(s.spot(n), CodeMissing, "", "missing%s: %s", in(to.path), strings.Join(missing, ", "))
	}
}

func in(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

// keys reads the keys of a mapping; those given twice are reported and left out.
func (s *source) keys(values []*ast.MappingValueNode) map[*ast.MappingValueNode]string {
	names := map[*ast.MappingValueNode]string{}
	first := map[string]int{}
	for _, e := range values {
		if e == nil || e.Key == nil || e.Key.GetToken() == nil {
			continue
		}
		name, where := e.Key.GetToken().Value, at(e.Key.GetToken())
		if line, twice := first[name]; twice {
			s.add(where, CodeDuplicate, "remove one of them", "%q is given twice, first in line %d", brief(name), line)
			continue
		}
		first[name] = where.line
		names[e] = name
	}
	return names
}

func (s *source) unknownField(e *ast.MappingValueNode, name string, known []string, path string) {
	if s.full() {
		s.more++
		return
	}
	s.add(at(e.Key.GetToken()), CodeField, nearest(name, known, "the fields here are "),
		"unknown field %s", quoteIn(brief(name), path))
}

// nearest suggests a name, or lists all that there are.
func nearest(name string, known []string, all string) string {
	const most = 30
	return nearestOf(name, known, all, most)
}

// nearestOf is nearest, with a list of at most so many names.
func nearestOf(name string, known []string, all string, most int) string {
	known = known[:min(len(known), 1000)] // of a hundred thousand tasks the first thousand tell as much
	if near := history.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 || len(known) > most {
		return ""
	}
	return all + strings.Join(known, ", ")
}

func quoteIn(name, path string) string { return strconv.Quote(name) + in(path) }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (s *source) list(n ast.Node, to slot) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		s.wrong(n, "a list")
		return
	}
	out := reflect.MakeSlice(to.value.Type(), len(seq.Values), len(seq.Values))
	for i, item := range seq.Values {
		s.decode(item, slot{value: out.Index(i), path: fmt.Sprintf("%s[%d]", to.path, i)})
	}
	to.value.Set(out)
}

func (s *source) scalar(n ast.Node, to slot) {
	switch to.value.Kind() {
	case reflect.String:
		if text, ok := textOf(n); ok {
			to.value.SetString(text)
		} else {
			s.wrong(n, "text (quote it if it looks like something else)")
		}
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			to.value.SetBool(b.Value)
		} else {
			s.wrong(n, "true or false")
		}
	case reflect.Int:
		to.value.SetInt(int64(s.integer(n)))
	case reflect.Float64:
		s.number(n, to)
	default:
		panic("scenarios: no decoding for " + to.value.Type().String())
	}
}

func textOf(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		if n.Value != nil {
			return strings.TrimSpace(n.Value.Value), true
		}
	}
	return "", false
}

func (s *source) integer(n ast.Node) int {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		s.wrong(n, "a whole number")
		return 0
	}
	value, err := strconv.Atoi(strings.TrimPrefix(i.Token.Value, "+"))
	if err != nil || value > math.MaxInt32 || value < 0 {
		s.add(s.spot(n), CodeRange, "", "expected a whole number from 0 to %d, found %s", math.MaxInt32, brief(i.Token.Value))
		return 0
	}
	return value
}

func (s *source) number(n ast.Node, to slot) {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		s.wrong(n, "a number")
		return
	}
	value, err := strconv.ParseFloat(n.GetToken().Value, 64)
	if err != nil {
		s.wrong(n, "a number")
		return
	}
	to.value.SetFloat(value)
}
