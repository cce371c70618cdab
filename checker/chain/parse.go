package chain

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a chain file, as of a scenario file.
const (
	maxBytes = 1 << 20
	maxDepth = 16
	maxKeys  = 10_000 // the YAML reader's time grows with their square
)

// parsed is a chain file that makes sense by itself; what it points to has not been looked at.
type parsed struct {
	*notes
	file   File
	finder []finder // of each link, by index
	units  []unit
	// relations are those of links and those that stand by themselves.
	relations []relation
}

// Parse reads a chain file. The name is what errors call it. The error is an *InputError.
func Parse(name string, data []byte) (*File, error) {
	p, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	return &p.file, nil
}

func parse(name string, data []byte) (*parsed, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
	p := &parsed{notes: &notes{file: name, lines: strings.Split(text, "\n"), spots: map[string]spot{}}}
	root := p.read(text)
	if root == nil {
		return nil, p.err()
	}
	p.decode(root, reflect.ValueOf(&p.file).Elem(), "")
	if err := p.err(); err != nil {
		return nil, err // what is misspelt would be reported as missing once more
	}
	p.validate()
	if err := p.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// read turns the text into the root node. It returns nil when something was reported.
func (n *notes) read(text string) ast.Node {
	if !n.readable(text) {
		return nil
	}
	tokens, err := guarded(func() (token.Tokens, error) { return lexer.Tokenize(text), nil })
	if err != nil {
		n.syntax(err)
		return nil
	}
	if bad := tokens.InvalidToken(); bad != nil {
		n.add(spotAt(bad), CodeSyntax, "", "%s", bad.Error)
		return nil
	}
	if !n.plain(tokens) {
		return nil
	}
	file, err := guarded(func() (*ast.File, error) { return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) })
	if err != nil {
		n.syntax(err)
		return nil
	}
	return n.only(file)
}

// only is the root of the one document.
func (n *notes) only(file *ast.File) ast.Node {
	var roots []ast.Node
	for _, doc := range file.Docs {
		if doc != nil && doc.Body != nil {
			roots = append(roots, doc.Body)
		}
	}
	switch {
	case len(roots) == 0:
		n.add(spot{1, 1, 1}, CodeEmpty, "`squall init` writes one to begin with", "the file holds no chain")
		return nil
	case len(roots) > 1:
		n.add(spotOf(roots[1]), CodeDocuments, "put it in a file of its own", "a second document begins here; a file holds one chain")
		return nil
	}
	return roots[0]
}

// readable refuses what no YAML reader should be given.
func (n *notes) readable(text string) bool {
	switch {
	case len(text) > maxBytes:
		n.add(spot{1, 1, 1}, CodeLimits, "split the chain", "the file has %d bytes; the limit is %d", len(text), maxBytes)
		return false
	case strings.TrimSpace(text) == "":
		n.add(spot{1, 1, 1}, CodeEmpty, "`squall init` writes one to begin with", "the file is empty")
		return false
	}
	for i, line := range n.lines {
		if !utf8.ValidString(line) {
			n.add(spot{i + 1, 1, 1}, CodeSyntax, "save the file as UTF-8", "the line is not UTF-8")
			return false
		}
		for col, r := range []rune(line) {
			if r == '\t' && strings.TrimSpace(string([]rune(line)[:col])) == "" {
				n.add(spot{i + 1, col + 1, 1}, CodeSyntax, "indent with spaces", "a tab in the indentation")
				return false
			}
			if r < ' ' && r != '\t' || r == 0x7f {
				n.add(spot{i + 1, col + 1, 1}, CodeSyntax, "remove it", "a control character (%#x)", r)
				return false
			}
		}
	}
	return true
}

// guarded keeps a panic of the YAML library from ending the program.
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

// plain refuses, before the recursive parser sees it, what a chain has no use for, and nesting without end.
func (n *notes) plain(tokens token.Tokens) bool {
	flow, columns, line, keys := 0, []int{}, 0, 0
	for _, t := range tokens {
		if use, no := useless[t.Type]; no {
			n.add(spotAt(t), CodeUseless, "write the value out, and quote what begins with & * ! or %", "%s are not part of the language", use)
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
			n.add(spotAt(t), CodeLimits, "use `each` and a glob instead of many links", "more than %d keys", maxKeys)
			return false
		}
		if first := t.Position.Line != line; first || t.Type == token.SequenceEntryType {
			for len(columns) > 0 && columns[len(columns)-1] >= t.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns, line = append(columns, t.Position.Column), t.Position.Line
		}
		if flow+len(columns) > 2*maxDepth || flow > maxDepth || len(columns) > maxDepth {
			n.add(spotAt(t), CodeLimits, "", "nested deeper than %d levels", maxDepth)
			return false
		}
	}
	return true
}

func (n *notes) syntax(err error) {
	var bad *yaml.SyntaxError
	if !errors.As(err, &bad) {
		n.add(spot{1, 1, 1}, CodeSyntax, "", "%s", err)
		return
	}
	at, fix := spotAt(bad.Token), ""
	if at.line <= len(n.lines) && strings.Count(n.lines[at.line-1], ": ") > 1 {
		fix = "put text that has a colon in it in quotes"
	}
	n.add(at, CodeSyntax, fix, "%s", bad.Message)
}
