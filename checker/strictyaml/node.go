package strictyaml

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/history"
)

// Entries returns the entries of a mapping, and false when the node is none.
func Entries(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// Keys reads the keys of a mapping; those given twice are reported and left out.
func Keys(entries []*ast.MappingValueNode, to Sink) map[*ast.MappingValueNode]string {
	names := map[*ast.MappingValueNode]string{}
	first := map[string]int{}
	for _, e := range entries {
		if e == nil || e.Key == nil || e.Key.GetToken() == nil {
			continue
		}
		name, where := e.Key.GetToken().Value, At(e.Key.GetToken())
		if line, twice := first[name]; twice {
			to.Add(where, CodeDuplicate, "remove one of them", "%q is given twice, first in line %d", Brief(name), line)
			continue
		}
		first[name] = where.Line
		names[e] = name
	}
	return names
}

// Text is the text of a node, and false when it is something else.
func Text(n ast.Node) (string, bool) {
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

// Wrong reports a node that is not what was expected.
func Wrong(n ast.Node, want string, to Sink) {
	to.Add(Of(n), CodeType, "", "expected %s, found %s", want, describe(n))
}

func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode, nil:
		return "nothing"
	case *ast.StringNode:
		return fmt.Sprintf("the text %q", Brief(n.Value))
	case *ast.LiteralNode:
		return "a block of text"
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return Brief(n.GetToken().Value)
	}
	return "a " + strings.ToLower(n.Type().String())
}

// Brief is the beginning of a text, without what a terminal would obey.
func Brief(text string) string {
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

// In says in which part of a file; empty for the file itself.
func In(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

// Join is the path of a field.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Suggest names what was probably meant; otherwise it lists all that there is, unless that is more than so many.
func Suggest(name string, known []string, all string, most int) string {
	known = known[:min(len(known), 1000)] // of a hundred thousand the first thousand tell as much
	if near := history.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 || len(known) > most {
		return ""
	}
	return all + strings.Join(known, ", ")
}
