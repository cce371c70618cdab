package scenarios

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// edit puts a text in the place of another one.
type edit struct {
	at   spot
	text string
}

// edited is the file's text with the edits made.
func (s *source) edited(edits []edit) string {
	lines := slices.Clone(s.lines)
	slices.SortFunc(edits, func(a, b edit) int { // the last of a line first: columns before it stay as they are
		return cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(b.at.Col, a.at.Col))
	})
	for _, e := range edits {
		line := []rune(lines[e.at.Line-1])
		lines[e.at.Line-1] = string(line[:e.at.Col-1]) + e.text + string(line[e.at.Col-1+e.at.Width:])
	}
	return strings.Join(lines, "\n")
}

// written is the plain value of the field of that path, and where all of it stands, quotes included; false when it has none.
func (s *source) written(path string) (value string, where spot, ok bool) {
	where, ok = s.values[path]
	if !ok || where.Line > len(s.lines) {
		return "", where, false
	}
	line := []rune(s.lines[where.Line-1])
	if where.Col > len(line) {
		return "", where, false
	}
	m := plainValue.FindStringSubmatch(string(line[where.Col-1:]))
	if m == nil {
		return "", where, false
	}
	where.Width = len([]rune(m[1]))
	return strings.Trim(m[1], `"'`), where, true
}

// plainValue is a value that ends in its line, in quotes or not, and what may follow it there. A key is none.
var plainValue = regexp.MustCompile(`^("[^"\\]*"|'[^']*'|[A-Za-z0-9.+-](?:[-A-Za-z0-9_.:*+/]*[-A-Za-z0-9_.*+/])?)(?:\s*[,\]}]|\s+#|\s*$)`)
