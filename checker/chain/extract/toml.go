package extract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// findTOML finds the values that a path leads to. Arrays of tables are lists; [name=main] is not for TOML.
func findTOML(steps []step, data []byte) (found []Match, err error) {
	defer func() {
		if p := recover(); p != nil {
			found, err = nil, broken(1, 1, "", "the TOML reader gave up: %v", p)
		}
	}()
	var all any
	if err := toml.Unmarshal(data, &all); err != nil { // the reader of nodes lets through what contradicts itself
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			line, col := bad.Position()
			return nil, broken(line, col, "", "not readable as TOML: %s", strings.TrimPrefix(bad.Error(), "toml: "))
		}
		return nil, broken(1, 1, "", "not readable as TOML: %v", err)
	}
	t := tomlWalk{steps: steps, counts: map[string]int{}}
	t.parser.Reset(data)
	for t.parser.NextExpression() {
		if err := t.expression(t.parser.Expression()); err != nil {
			return nil, err
		}
	}
	return t.found, nil
}

type tomlWalk struct {
	parser unstable.Parser
	steps  []step
	table  []string       // where we are; elements of arrays of tables as [0]
	counts map[string]int // elements seen of each array of tables
	found  []Match
}

func (t *tomlWalk) expression(n *unstable.Node) error {
	switch n.Kind {
	case unstable.Table:
		t.table = t.placed(keyOf(n))
	case unstable.ArrayTable:
		key := keyOf(n)
		parent := t.placed(key[:len(key)-1])
		path := append(slices.Clone(parent), key[len(key)-1])
		name := strings.Join(path, "\x00")
		t.table = append(path, fmt.Sprintf("[%d]", t.counts[name]))
		t.counts[name]++
	case unstable.KeyValue:
		return t.value(append(slices.Clone(t.table), keyOf(n)...), n.Value())
	}
	return nil
}

// placed is the path of a table; a table inside an array of tables belongs to its last element.
func (t *tomlWalk) placed(key []string) []string {
	var path []string
	for _, k := range key {
		path = append(path, k)
		if n := t.counts[strings.Join(path, "\x00")]; n > 0 {
			path = append(path, fmt.Sprintf("[%d]", n-1))
		}
	}
	return path
}

func keyOf(n *unstable.Node) []string {
	var key []string
	for it := n.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
	}
	return key
}

func (t *tomlWalk) value(path []string, n *unstable.Node) error {
	switch n.Kind {
	case unstable.InlineTable:
		for it := n.Children(); it.Next(); {
			kv := it.Node()
			if err := t.value(append(slices.Clone(path), keyOf(kv)...), kv.Value()); err != nil {
				return err
			}
		}
		return nil
	case unstable.Array:
		i := 0
		for it := n.Children(); it.Next(); i++ {
			if err := t.value(append(slices.Clone(path), fmt.Sprintf("[%d]", i)), it.Node()); err != nil {
				return err
			}
		}
		return nil
	}
	if !leads(t.steps, path) {
		return nil
	}
	at := t.parser.Shape(n.Raw).Start
	if n.Raw.Length == 0 {
		at = t.parser.Shape(t.parser.Range(n.Data)).Start
	}
	t.found = append(t.found, Match{Text: string(n.Data), Line: at.Line, Col: at.Column})
	return nil
}

// leads tells whether the steps lead to the path.
func leads(steps []step, path []string) bool {
	if len(steps) != len(path) {
		return false
	}
	for i, s := range steps {
		switch {
		case s.any:
		case s.isIndex && path[i] == fmt.Sprintf("[%d]", s.index):
		case s.key != "" && path[i] == s.key:
		default:
			return false
		}
	}
	return true
}
