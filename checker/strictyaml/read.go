// Package strictyaml reads files of one known form that people write: nothing in them is ignored, whatever is wrong is told with its
// line and column, and all of it at once. What a form has no use for, anchors and aliases above all, is refused before the recursive
// parser sees it.
//
// The forms have types of their own, so each has its own decoder; what they do alike, down to the messages, is here.
package strictyaml

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

// Limits of a file. It is a page of text; what is larger or deeper is an accident or an attack.
const (
	MaxBytes = 1 << 20
	maxDepth = 16
	MaxKeys  = 10_000 // the YAML reader's time grows with their square
)

// The codes of what can be wrong with a file of any form.
const (
	CodeSyntax    = "SQ101"
	CodeLimits    = "SQ102"
	CodeField     = "SQ104"
	CodeType      = "SQ105"
	CodeDuplicate = "SQ106"
	CodeMissing   = "SQ107"
	CodeRange     = "SQ110"
	CodeEmpty     = "SQ113"
	CodeDocuments = "SQ114"
	CodeUseless   = "SQ115"
)

// Sink is told what is wrong.
type Sink struct {
	// Add takes a problem: its code, what to write instead (may be empty), and what it is.
	Add func(at Spot, code, fix, format string, args ...any)
	// Full tells that looking for more is not worth the time.
	Full func() bool
}

// Form is a kind of file in the words of its problems.
type Form struct {
	Noun     string // what a file holds one of: a scenario
	Empty    string // what to do with a file that holds none
	TooLarge string
	TooMany  string // what to do with one of too many keys
	Useless  string // what to do instead of anchors, tags and the like
}

// Plain is the text of a file without a byte order mark, and with line ends as on Unix.
func Plain(data []byte) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
}

// Read turns a text, and its lines, into the root node of its one document. It returns nil when something was added to the sink.
func (f Form) Read(text string, lines []string, to Sink) ast.Node {
	if !f.readable(text, lines, to) {
		return nil
	}
	tokens, err := guarded(func() (token.Tokens, error) { return lexer.Tokenize(text), nil })
	if err != nil {
		syntax(err, lines, to)
		return nil
	}
	if bad := tokens.InvalidToken(); bad != nil {
		to.Add(At(bad), CodeSyntax, "", "%s", bad.Error)
		return nil
	}
	if !f.plain(tokens, to) {
		return nil
	}
	file, err := guarded(func() (*ast.File, error) { return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) })
	if err != nil {
		syntax(err, lines, to)
		return nil
	}
	return f.only(file, to)
}

// only is the root of the one document.
func (f Form) only(file *ast.File, to Sink) ast.Node {
	var roots []ast.Node
	for _, doc := range file.Docs {
		if doc != nil && doc.Body != nil {
			roots = append(roots, doc.Body)
		}
	}
	switch {
	case len(roots) == 0:
		to.Add(Start, CodeEmpty, f.Empty, "the file holds no %s", f.Noun)
		return nil
	case len(roots) > 1:
		to.Add(Of(roots[1]), CodeDocuments, "put it in a file of its own", "a second document begins here; a file holds one %s", f.Noun)
		return nil
	}
	return roots[0]
}

// Oversized says that a file has too many bytes.
func Oversized(size int64) string {
	return fmt.Sprintf("the file has %d bytes; the limit is %d", size, MaxBytes)
}

// readable refuses what no YAML reader should be given.
func (f Form) readable(text string, lines []string, to Sink) bool {
	switch {
	case len(text) > MaxBytes:
		to.Add(Start, CodeLimits, f.TooLarge, "%s", Oversized(int64(len(text))))
		return false
	case strings.TrimSpace(text) == "":
		to.Add(Start, CodeEmpty, f.Empty, "the file is empty")
		return false
	}
	for i, line := range lines {
		if !utf8.ValidString(line) {
			to.Add(Spot{i + 1, 1, 1}, CodeSyntax, "save the file as UTF-8", "the line is not UTF-8")
			return false
		}
		for col, r := range []rune(line) {
			if r == '\t' && strings.TrimSpace(string([]rune(line)[:col])) == "" {
				to.Add(Spot{i + 1, col + 1, 1}, CodeSyntax, "indent with spaces", "a tab in the indentation")
				return false
			}
			if r < ' ' && r != '\t' || r == 0x7f {
				to.Add(Spot{i + 1, col + 1, 1}, CodeSyntax, "remove it", "a control character (%#x)", r)
				return false
			}
		}
	}
	return true
}

// guarded keeps a panic of the YAML library from ending the program: whatever a file holds, the answer is an error.
func guarded[T any](do func() (T, error)) (result T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	return do()
}

var useless = map[token.Type]string{
	token.AnchorType: "anchors (&)", token.AliasType: "aliases (*)", token.MergeKeyType: "merge keys (<<)",
	token.TagType: "tags (!)", token.DirectiveType: "directives (%)", token.MappingKeyType: "complex keys (?)",
}

// plain refuses, before the recursive parser sees it, what no form has a use for: anchors and aliases (with which ten lines become
// ten million), tags, directives, complex keys, and nesting without end.
func (f Form) plain(tokens token.Tokens, to Sink) bool {
	flow, columns, line, keys := 0, []int{}, 0, 0
	for _, t := range tokens {
		if use, no := useless[t.Type]; no {
			to.Add(At(t), CodeUseless, f.Useless, "%s are not part of the language", use)
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
		if keys > MaxKeys {
			to.Add(At(t), CodeLimits, f.TooMany, "more than %d keys", MaxKeys)
			return false
		}
		if first := t.Position.Line != line; first || t.Type == token.SequenceEntryType {
			for len(columns) > 0 && columns[len(columns)-1] >= t.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns, line = append(columns, t.Position.Column), t.Position.Line
		}
		if flow+len(columns) > 2*maxDepth || flow > maxDepth || len(columns) > maxDepth {
			to.Add(At(t), CodeLimits, "", "nested deeper than %d levels", maxDepth)
			return false
		}
	}
	return true
}

// syntax names the usual cause of a line that is no mapping: text with a colon in it.
func syntax(err error, lines []string, to Sink) {
	var bad *yaml.SyntaxError
	if !errors.As(err, &bad) {
		to.Add(Start, CodeSyntax, "", "%s", err)
		return
	}
	at, fix := At(bad.Token), ""
	if at.Line <= len(lines) && strings.Count(lines[at.Line-1], ": ") > 1 {
		fix = "put text that has a colon in it in quotes"
	}
	to.Add(at, CodeSyntax, fix, "%s", bad.Message)
}
