package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDocuments in one file.
const maxDocuments = 10_000

// documents parses every document of a YAML or JSON file.
func documents(data []byte) (roots []*yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // whatever a file holds, the answer is an error
			roots, err = nil, broken(1, 1, "", "the YAML reader gave up: %v", p)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for len(roots) < maxDocuments {
		var doc yaml.Node
		switch err := decoder.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return roots, nil
		case err != nil:
			return nil, unreadable(data, err)
		}
		if len(doc.Content) > 0 {
			roots = append(roots, doc.Content[0])
		}
	}
	return nil, broken(1, 1, "split the file", "more than %d documents", maxDocuments)
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// unreadable is what the reader's complaint means for whoever wrote the link.
func unreadable(data []byte, err error) error {
	message, line := err.Error(), 1
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = strings.TrimPrefix(message, m[0])
	}
	message = strings.TrimPrefix(message, "yaml: ")
	if bytes.Contains(data, []byte("{{")) {
		return template(data, message)
	}
	return broken(line, 1, "", "not readable as YAML: %s", message)
}

// template says that a file is one of Helm's templates, or of another engine.
func template(data []byte, message string) error {
	line, col := position(data, bytes.Index(data, []byte("{{")))
	return broken(line, col, "point the link at the values (file: values.yaml, extract: {helm: PATH}), or at what `helm template CHART > rendered.yaml` prints",
		"%s: %s", aTemplate, message)
}

const aTemplate = "the file is a template and not YAML yet"

// templateMark tells whether the line has a template's braces.
func templateMark(data []byte, line int) bool {
	lines := bytes.Split(data, []byte("\n"))
	return line <= len(lines) && bytes.Contains(lines[line-1], []byte("{{"))
}

func (f *Finder) findPath(data []byte) ([]Match, error) {
	roots, err := documents(data)
	if err != nil {
		return nil, err
	}
	var found []Match
	for _, root := range roots {
		nodes := walk(root, f.steps)
		matches, err := scalars(nodes, "")
		if err != nil {
			return nil, err
		}
		found = append(found, matches...)
	}
	return found, nil
}

// scalars are the matches that nodes stand for.
func scalars(nodes []*yaml.Node, in string) ([]Match, error) {
	var found []Match
	for _, n := range nodes {
		n = resolved(n)
		switch {
		case n.Kind != yaml.ScalarNode:
			return nil, broken(n.Line, n.Column, "lead the path on to a single value", "expected a value, found %s", kindOf(n))
		case n.Tag == "!!null":
			continue // a key without a value sets nothing
		}
		found = append(found, Match{Text: n.Value, Line: n.Line, Col: n.Column, In: in})
	}
	return found, nil
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%q", n.Value)
}

// resolved follows an alias to what it stands for. Aliases of aliases do not exist in YAML.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// maxNodes is how many nodes a path may lead to: a * over aliases of aliases could lead to millions.
const maxNodes = 10_000

// walk returns the nodes that a path leads to, in order.
func walk(root *yaml.Node, steps []step) []*yaml.Node {
	at := []*yaml.Node{root}
	for _, s := range steps {
		var next []*yaml.Node
		for _, n := range at {
			if len(next) < maxNodes {
				next = append(next, take(resolved(n), s)...)
			}
		}
		at = next
	}
	return at
}

func take(n *yaml.Node, s step) []*yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		if s.any {
			return valuesOf(n)
		}
		if s.isIndex || s.field != "" {
			return nil
		}
		if v := child(n, s.key); v != nil {
			return []*yaml.Node{v}
		}
	case yaml.SequenceNode:
		switch {
		case s.any:
			return n.Content
		case s.isIndex && s.index < len(n.Content):
			return n.Content[s.index : s.index+1]
		case s.field != "":
			return elements(n, s.field, s.value)
		}
	}
	return nil
}

func elements(n *yaml.Node, field, value string) []*yaml.Node {
	var found []*yaml.Node
	for _, e := range n.Content {
		if v := child(resolved(e), field); v != nil && resolved(v).Value == value {
			found = append(found, e)
		}
	}
	return found
}

func valuesOf(n *yaml.Node) []*yaml.Node {
	var values []*yaml.Node
	for i := 1; i < len(n.Content); i += 2 {
		values = append(values, n.Content[i])
	}
	return values
}

// child is the value of a key, from the mapping itself or else from one that is merged into it; nil: there is none. Of a key
// given twice the last one counts, as for whoever reads the file.
func child(n *yaml.Node, key string) *yaml.Node {
	left := maxMerges
	return childOf(n, key, &left)
}

// maxMerges is how many mappings are looked into for one key: those that are merged into each other have no end.
const maxMerges = 200

func childOf(n *yaml.Node, key string, left *int) *yaml.Node {
	*left--
	if n == nil || n.Kind != yaml.MappingNode || *left < 0 {
		return nil
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if n.Content[i].Value == key && n.Content[i].Tag != "!!merge" {
			return n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != "!!merge" {
			continue
		}
		merged := resolved(n.Content[i+1])
		if merged.Kind == yaml.MappingNode {
			merged = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{merged}}
		}
		for _, m := range merged.Content {
			if v := childOf(resolved(m), key, left); v != nil {
				return v
			}
		}
	}
	return nil
}
