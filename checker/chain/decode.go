package chain

import (
	"reflect"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

var (
	expressionType = reflect.TypeFor[Expression]()
	namesType      = reflect.TypeFor[Names]()
)

// decode fills the value from the node, and notes where each field stands. It reports what does not fit and goes on, so that all
// independent problems are found at once.
func (n *notes) decode(node ast.Node, to reflect.Value, path string) {
	n.spots[path] = strictyaml.Of(node)
	switch {
	case n.full():
	case to.Type() == expressionType:
		if text, ok := scalarText(node); ok {
			to.SetString(text)
		} else {
			strictyaml.Wrong(node, "a formula, a duration or a number", n.sink())
		}
	case to.Type() == namesType:
		n.names(node, to, path)
	case to.Kind() == reflect.Struct:
		strictyaml.Structure(node, strictyaml.Fields(to.Type()), path, n.sink(), func(f strictyaml.Field, value ast.Node) {
			n.decode(value, to.FieldByIndex(f.Index), strictyaml.Join(path, f.Name))
		})
	case to.Kind() == reflect.Slice:
		strictyaml.List(node, to, path, n.sink(), n.decode)
	case to.Kind() == reflect.Pointer:
		v := reflect.New(to.Type().Elem())
		n.decode(node, v.Elem(), path)
		to.Set(v)
	default:
		strictyaml.Scalar(node, to, n.sink())
	}
}

// names reads one name, or a list of them.
func (n *notes) names(node ast.Node, to reflect.Value, path string) {
	if text, ok := strictyaml.Text(node); ok {
		to.Set(reflect.ValueOf(Names{text}))
		return
	}
	if _, ok := node.(*ast.SequenceNode); !ok {
		strictyaml.Wrong(node, "a file name, or a list of them", n.sink())
		return
	}
	var all []string
	n.decode(node, reflect.ValueOf(&all).Elem(), path)
	to.Set(reflect.ValueOf(Names(all)))
}

// scalarText is text as it is written, a number's too.
func scalarText(node ast.Node) (string, bool) {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return node.GetToken().Value, true
	}
	return strictyaml.Text(node)
}

// suggestion names what was probably meant, or lists all that there is.
func suggestion(name string, known []string, all string) string {
	const most = 60
	return strictyaml.Suggest(name, known, all, most)
}
