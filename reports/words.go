package reports

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports/figure"
)

// outcomeWords says what a caller learned, and what really became of a call whose reply it never got.
func outcomeWords(o history.Operation) string {
	switch {
	case o.Outcome == history.OK:
		return "ok"
	case o.Outcome == history.Fail:
		return either(o.Code.String(), "failed")
	case o.Applied == history.OK:
		return "unknown (" + either(o.Code.String(), "no reply") + "), but it took effect"
	case o.Applied == history.Fail:
		return "unknown (" + either(o.Code.String(), "no reply") + "), and it had no effect"
	}
	return "unknown (" + either(o.Code.String(), "no reply") + ")"
}

func either(first, otherwise string) string {
	if first != "" {
		return first
	}
	return otherwise
}

// seconds writes a moment of a run.
func seconds(t time.Duration) string { return figure.Seconds(t) }

var numberAndUnit = regexp.MustCompile(`(\d) (s|h)\b`)

// tied keeps numbers and their units on one line.
func tied(text string) string { return numberAndUnit.ReplaceAllString(text, "$1\u00a0$2") }

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands writes a number with a thin space between groups of three digits, from 10 000 on.
func thousands(n int) string {
	s := strconv.Itoa(n)
	if len(s) < 5 {
		return s
	}
	var groups []string
	for len(s) > 3 {
		groups = append([]string{s[len(s)-3:]}, groups...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, groups...), "\u202f")
}

func seed(n uint64) string { return strconv.FormatUint(n, 10) }

// hash writes a trace hash; as text, because JSON readers lose digits of large numbers.
func hash(n uint64) string { return fmt.Sprintf("%016x", n) }

// shellWord quotes a word for a shell when it needs it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// names reads names out of a history's tables, an unknown ID included.
type names struct{ h *history.History }

func (n names) process(id history.ID) string { return name(n.h.Processes, id, "process") }
func (n names) task(id history.ID) string    { return name(n.h.Tasks, id, "task") }
func (n names) node(id history.ID) string    { return name(n.h.Nodes, id, "node") }

func name(table []string, id history.ID, kind string) string {
	if id >= 1 && int(id) <= len(table) {
		return table[id-1]
	}
	if id == 0 {
		return ""
	}
	return kind + " " + strconv.Itoa(int(id))
}

// find returns the ID of a name, 0 when the table does not have it.
func find(table []string, name string) history.ID {
	for i, n := range table {
		if n == name {
			return history.ID(i + 1)
		}
	}
	return 0
}

// fileWord makes a word fit for a file name.
func fileWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, s)
}
