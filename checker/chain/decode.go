package chain

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/squall-chaos/squall/checker/history"
)

var (
	expressionType = reflect.TypeFor[Expression]()
	namesType      = reflect.TypeFor[Names]()
)

// decode fills the value from the node, and notes where each field stands. It reports what does not fit and goes on, so that all
// independent problems are found at once.
func (n *notes) decode(node ast.Node, to reflect.Value, path string) {
	n.spots[path] = spotOf(node)
	switch {
	case n.full():
	case to.Type() == expressionType:
		if text, ok := scalarText(node); ok {
			to.SetString(text)
		} else {
			n.wrong(node, "a formula, a duration or a number")
		}
	case to.Type() == namesType:
		n.names(node, to, path)
	case to.Kind() == reflect.Struct:
		n.structure(node, to, path)
	case to.Kind() == reflect.Slice:
		n.list(node, to, path)
	case to.Kind() == reflect.Pointer:
		v := reflect.New(to.Type().Elem())
		n.decode(node, v.Elem(), path)
		to.Set(v)
	case to.Kind() == reflect.Bool:
		if b, ok := node.(*ast.BoolNode); ok {
			to.SetBool(b.Value)
		} else {
			n.wrong(node, "true or false")
		}
	default:
		if text, ok := textOf(node); ok {
			to.SetString(text)
		} else {
			n.wrong(node, "text (quote it if it looks like something else)")
		}
	}
}

func (n *notes) structure(node ast.Node, to reflect.Value, path string) {
	entries, ok := entriesOf(node)
	if !ok {
		n.wrong(node, "a mapping")
		return
	}
	known, required := fieldsOf(to.Type())
	first := map[string]int{}
	var misspelt []string
	for _, e := range entries {
		if e == nil || e.Key == nil || e.Key.GetToken() == nil {
			continue
		}
		key := e.Key.GetToken()
		name, at := key.Value, spotAt(key)
		if line, twice := first[name]; twice {
			n.add(at, CodeDuplicate, "remove one of them", "%q is given twice, first in line %d", brief(name), line)
			continue
		}
		first[name] = at.line
		i := slices.Index(known, name)
		if i < 0 {
			near := history.Nearest(name, known)
			misspelt = append(misspelt, near)
			n.add(at, CodeField, suggestion(name, known, "the fields here are "), "unknown field %q%s", brief(name), in(path))
			continue
		}
		n.decode(e.Value, to.Field(i), joined(path, name))
	}
	var missing []string
	for _, name := range required {
		if first[name] == 0 && !slices.Contains(misspelt, name) {
			missing = append(missing, strconv.Quote(name))
		}
	}
	if len(missing) > 0 {
		n.add(spotOf(node), CodeMissing, "", "missing%s: %s", in(path), strings.Join(missing, ", "))
	}
}

// fieldsOf lists the fields of a struct by their index, and those that must be given.
func fieldsOf(t reflect.Type) (names, required []string) {
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		names = append(names, name)
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	return names, required
}

func (n *notes) list(node ast.Node, to reflect.Value, path string) {
	seq, ok := node.(*ast.SequenceNode)
	if !ok {
		n.wrong(node, "a list")
		return
	}
	out := reflect.MakeSlice(to.Type(), len(seq.Values), len(seq.Values))
	for i, item := range seq.Values {
		n.decode(item, out.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	to.Set(out)
}

// names reads one name, or a list of them.
func (n *notes) names(node ast.Node, to reflect.Value, path string) {
	if text, ok := textOf(node); ok {
		to.Set(reflect.ValueOf(Names{text}))
		return
	}
	if _, ok := node.(*ast.SequenceNode); !ok {
		n.wrong(node, "a file name, or a list of them")
		return
	}
	var all []string
	n.list(node, reflect.ValueOf(&all).Elem(), path)
	to.Set(reflect.ValueOf(Names(all)))
}

func (n *notes) wrong(node ast.Node, want string) {
	n.add(spotOf(node), CodeType, "", "expected %s, found %s", want, describe(node))
}

func describe(node ast.Node) string {
	switch node := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode, nil:
		return "nothing"
	case *ast.StringNode:
		return fmt.Sprintf("the text %q", brief(node.Value))
	case *ast.LiteralNode:
		return "a block of text"
	}
	return brief(node.GetToken().Value)
}

// brief is the beginning of a text, without what a terminal would obey.
func brief(text string) string {
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

func entriesOf(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch node := node.(type) {
	case *ast.MappingNode:
		return node.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{node}, true
	}
	return nil, false
}

func textOf(node ast.Node) (string, bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.LiteralNode:
		if node.Value != nil {
			return strings.TrimSpace(node.Value.Value), true
		}
	}
	return "", false
}

// scalarText is text as it is written, a number's too.
func scalarText(node ast.Node) (string, bool) {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return node.GetToken().Value, true
	}
	return textOf(node)
}

// spotOf is where a node begins: for a mapping its first key, not the colon that the parser names.
func spotOf(node ast.Node) spot {
	switch node := node.(type) {
	case *ast.MappingValueNode:
		return spotAt(node.Key.GetToken())
	case *ast.MappingNode:
		if !node.IsFlowStyle && len(node.Values) > 0 {
			return spotAt(node.Values[0].Key.GetToken())
		}
	case nil:
		return spot{1, 1, 1}
	}
	return spotAt(node.GetToken())
}

func spotAt(t *token.Token) spot {
	if t == nil || t.Position == nil {
		return spot{1, 1, 1}
	}
	return spot{max(t.Position.Line, 1), max(t.Position.Column, 1), max(len([]rune(t.Value)), 1)}
}

func in(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

func joined(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// suggestion names what was probably meant, or lists all that there is.
func suggestion(name string, known []string, all string) string {
	if near := history.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 || len(known) > 60 {
		return ""
	}
	return all + strings.Join(known, ", ")
}
