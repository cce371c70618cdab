package strictyaml

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Spot is a place in a file, counted from 1, and how many characters stand there.
type Spot struct{ Line, Col, Width int }

// Start is where a file begins.
var Start = Spot{1, 1, 1}

// At is where a token stands.
func At(t *token.Token) Spot {
	if t == nil || t.Position == nil {
		return Start
	}
	return Spot{max(t.Position.Line, 1), max(t.Position.Column, 1), max(utf8.RuneCountInString(t.Value), 1)}
}

// Of is where a node begins: for a mapping its first key, not the colon that the parser names.
func Of(n ast.Node) Spot {
	switch n := n.(type) {
	case *ast.MappingValueNode:
		return At(n.Key.GetToken())
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return At(n.Values[0].Key.GetToken())
		}
	case nil:
		return Start
	}
	return At(n.GetToken())
}

// Spots are where the values of fields stand, by path: links[0].extract.field.
type Spots map[string]Spot

// Of is where the field of that path stands; for one that is not in the file, where its parent does.
func (s Spots) Of(path string) Spot {
	for {
		if at, ok := s[path]; ok {
			return at
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return Start
		}
		path = path[:cut]
	}
}

// mostShown is how much of a long line is shown.
const mostShown = 100

// Excerpt is the line of a place, with a caret below; empty for a place that is not in the file.
func Excerpt(lines []string, at Spot) string {
	if at.Line < 1 || at.Line > len(lines) {
		return ""
	}
	line := []rune(strings.ToValidUTF8(lines[at.Line-1], "\uFFFD"))
	from := 0
	if at.Col > mostShown-20 {
		from = min(at.Col-20, len(line))
	}
	shown := line[from:min(len(line), from+mostShown)]
	for i, r := range shown {
		if r < ' ' { // a tab would put the caret elsewhere
			shown[i] = ' '
		}
	}
	indent := max(at.Col-1-from, 0)
	width := max(min(at.Width, len(shown)-indent), 1)
	number := fmt.Sprintf("%5d | ", at.Line)
	return number + strings.TrimRight(string(shown), " ") + "\n" +
		strings.Repeat(" ", utf8.RuneCountInString(number)-2) + "| " + strings.Repeat(" ", indent) + strings.Repeat("^", width)
}
