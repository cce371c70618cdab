package strictyaml

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/history"
)

// Field is a field of a struct as files name it.
type Field struct {
	Name     string
	Index    []int
	Required bool
	Signed   bool // tagged `sign:"any"`: a duration may be negative
}

// Fields lists the fields of a struct type that have a yaml tag, in order, those of inlined structs included.
func Fields(t reflect.Type) []Field {
	var fields []Field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("yaml")
		if !ok {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if options == "inline" {
			for _, inner := range Fields(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				fields = append(fields, inner)
			}
			continue
		}
		fields = append(fields, Field{Name: name, Index: []int{i}, Required: options != "omitempty", Signed: f.Tag.Get("sign") == "any"})
	}
	return fields
}

// Names lists the names of fields.
func Names(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// mostFields is how many fields are listed for one that is not known.
const mostFields = 30

// Structure has each field of a mapping decoded, and reports what is unknown, given twice or missing. It returns false where a name was
// not known: that nothing is set then means nothing.
func Structure(n ast.Node, fields []Field, path string, to Sink, decode func(f Field, value ast.Node)) bool {
	entries, ok := Entries(n)
	if !ok {
		Wrong(n, "a mapping", to)
		return true
	}
	known, clear := Names(fields), true
	keys := Keys(entries, to)
	given := map[string]bool{} // or meant
	for _, e := range entries {
		name, ok := keys[e]
		if !ok {
			continue
		}
		if i := slices.Index(known, name); i >= 0 {
			given[name] = true
			decode(fields[i], e.Value)
			continue
		}
		clear = false
		if !to.Full() {
			given[history.Nearest(name, known)] = true
		}
		Unknown(e, name, known, path, to)
	}
	var missing []string
	for _, f := range fields {
		if f.Required && !given[f.Name] {
			missing = append(missing, strconv.Quote(f.Name))
		}
	}
	if len(missing) > 0 {
		to.Add(Of(n), CodeMissing, "", "missing%s: %s", In(path), strings.Join(missing, ", "))
	}
	return clear
}

// Unknown reports an entry whose name is not known.
func Unknown(e *ast.MappingValueNode, name string, known []string, path string, to Sink) {
	fix := ""
	if !to.Full() {
		fix = Suggest(name, known, "the fields here are ", mostFields)
	}
	to.Add(At(e.Key.GetToken()), CodeField, fix, "unknown field %q%s", Brief(name), In(path))
}

// List has each item of a list decoded to a slice.
func List(n ast.Node, slice reflect.Value, path string, to Sink, decode func(item ast.Node, value reflect.Value, path string)) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		Wrong(n, "a list", to)
		return
	}
	out := reflect.MakeSlice(slice.Type(), len(seq.Values), len(seq.Values))
	for i, item := range seq.Values {
		decode(item, out.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	slice.Set(out)
}

// Scalar decodes text, true or false, a whole number that is not negative, or a number.
func Scalar(n ast.Node, value reflect.Value, to Sink) {
	switch value.Kind() {
	case reflect.String:
		if text, ok := Text(n); ok {
			value.SetString(text)
		} else {
			Wrong(n, "text (quote it if it looks like something else)", to)
		}
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			value.SetBool(b.Value)
		} else {
			Wrong(n, "true or false", to)
		}
	case reflect.Int:
		value.SetInt(int64(Whole(n, to)))
	case reflect.Float64:
		number(n, value, to)
	default:
		panic("strictyaml: no decoding for " + value.Type().String())
	}
}

// Whole reads a whole number that is not negative.
func Whole(n ast.Node, to Sink) int {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		Wrong(n, "a whole number", to)
		return 0
	}
	value, err := strconv.Atoi(strings.TrimPrefix(i.Token.Value, "+"))
	if err != nil || value > math.MaxInt32 || value < 0 {
		to.Add(Of(n), CodeRange, "", "expected a whole number from 0 to %d, found %s", math.MaxInt32, Brief(i.Token.Value))
		return 0
	}
	return value
}

func number(n ast.Node, to reflect.Value, sink Sink) {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		Wrong(n, "a number", sink)
		return
	}
	value, err := strconv.ParseFloat(n.GetToken().Value, 64)
	if err != nil {
		Wrong(n, "a number", sink)
		return
	}
	to.SetFloat(value)
}
