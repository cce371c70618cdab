package scenarios

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of an input file. A scenario is a page of text; what is larger or deeper is an accident or an attack.
const (
	maxBytes = 1 << 20
	maxDepth = 16
	maxKeys  = 10_000 // the YAML reader's time grows with their square
)

// parse turns the text into the root node. It returns nil when something was reported.
func (s *source) parse(text string) ast.Node {
	if !s.readable(text) {
		return nil
	}
	tokens, ok := s.tokenize(text)
	if !ok || !s.plain(tokens) {
		return nil
	}
	file, err := guarded(func() (*ast.File, error) { return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) })
	if err != nil {
		s.syntax(err)
		return nil
	}
	var roots []ast.Node
	for _, doc := range file.Docs {
		if doc != nil && doc.Body != nil {
			roots = append(roots, doc.Body)
		}
	}
	switch {
	case len(roots) == 0:
		s.add(spot{1, 1, 1}, CodeEmpty, "begin with `apiVersion: "+APIVersion+"`", "the file holds no scenario")
	case len(roots) > 1:
		s.add(s.spot(roots[1]), CodeDocuments, "put it in a file of its own", "a second document begins here; a file holds one scenario")
	default:
		return roots[0]
	}
	return nil
}

// tooLarge is the problem with a file that no scenario needs, whether it was read or not.
func tooLarge(file string, size int64) Problem {
	return Problem{Code: CodeLimits, File: file, Line: 1, Col: 1, Fix: "split the scenario",
		Message: fmt.Sprintf("the file has %d bytes; the limit is %d", size, maxBytes), width: 1}
}

// readable refuses what no YAML reader should be given.
func (s *source) readable(text string) bool {
	switch {
	case len(text) > maxBytes:
		s.problems = append(s.problems, tooLarge(s.file, int64(len(text))))
		return false
	case strings.TrimSpace(text) == "":
		s.add(spot{1, 1, 1}, CodeEmpty, "begin with `apiVersion: "+APIVersion+"`", "the file is empty")
		return false
	}
	for i, line := range s.lines {
		if !utf8.ValidString(line) {
			s.add(spot{i + 1, 1, 1}, CodeSyntax, "save the file as UTF-8", "the line is not UTF-8")
			return false
		}
		for col, r := range []rune(line) {
			if r == '\t' && strings.TrimSpace(string([]rune(line)[:col])) == "" {
				s.add(spot{i + 1, col + 1, 1}, CodeSyntax, "indent with spaces", "a tab in the indentation")
				return false
			}
			if r < ' ' && r != '\t' || r == 0x7f {
				s.add(spot{i + 1, col + 1, 1}, CodeSyntax, "remove it", "a control character (%#x)", r)
				return false
			}
		}
	}
	return true
}

func (s *source) tokenize(text string) (token.Tokens, bool) {
	tokens, err := guarded(func() (token.Tokens, error) { return lexer.Tokenize(text), nil })
	if err != nil {
		s.syntax(err)
		return nil, false
	}
	if bad := tokens.InvalidToken(); bad != nil {
		s.add(at(bad), CodeSyntax, "", "%s", bad.Error)
		return nil, false
	}
	return tokens, true
}

// guarded keeps a panic of the YAML library from ending the program: whatever a file holds, the
// answer is an error.
func guarded[T any](do func() (T, error)) (result T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	return do()
}

// plain refuses, before the recursive parser sees it, what a scenario has no use for: anchors and aliases (with which
// ten lines become ten million), tags, directives, complex keys, and nesting without end.
func (s *source) plain(tokens token.Tokens) bool {
	flow, columns, line, keys := 0, []int{}, 0, 0
	for _, t := range tokens {
		if use, no := useless[t.Type]; no {
			s.add(at(t), CodeUseless, "write the value out", "%s are not part of the language", use)
			return false
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.MappingValueType:
			keys++
		}
		if keys > maxKeys {
			s.add(at(t), CodeLimits, "use count instead of a list of tasks", "more than %d keys", maxKeys)
			return false
		}
		if first := t.Position.Line != line; first || t.Type == token.SequenceEntryType {
			for len(columns) > 0 && columns[len(columns)-1] >= t.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns, line = append(columns, t.Position.Column), t.Position.Line
		}
		if flow+len(columns) > 2*maxDepth || flow > maxDepth || len(columns) > maxDepth {
			s.add(at(t), CodeLimits, "", "nested deeper than %d levels", maxDepth)
			return false
		}
	}
	return true
}

var useless = map[token.Type]string{
	token.AnchorType:     "anchors (&)",
	token.AliasType:      "aliases (*)",
	token.MergeKeyType:   "merge keys (<<)",
	token.TagType:        "tags (!)",
	token.DirectiveType:  "directives (%)",
	token.MappingKeyType: "complex keys (?)",
}

func (s *source) syntax(err error) {
	var bad *yaml.SyntaxError
	if errors.As(err, &bad) {
		where := at(bad.Token)
		s.add(where, CodeSyntax, s.colonFix(where), "%s", bad.Message)
		return
	}
	s.add(spot{1, 1, 1}, CodeSyntax, "", "%s", err)
}

// colonFix names the usual cause of a line that is no mapping: text with a colon in it.
func (s *source) colonFix(where spot) string {
	if where.line > len(s.lines) || strings.Count(s.lines[where.line-1], ": ") < 2 {
		return ""
	}
	return "put text that has a colon in it in quotes"
}

// at is where a token stands.
func at(t *token.Token) spot {
	if t == nil || t.Position == nil {
		return spot{1, 1, 1}
	}
	return spot{max(t.Position.Line, 1), max(t.Position.Column, 1), max(utf8.RuneCountInString(t.Value), 1)}
}
