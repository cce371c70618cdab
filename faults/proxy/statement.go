package proxy

import (
	"strconv"
	"strings"
)

// statement is what an SQL statement tells of the call that it belongs to.
type statement struct {
	keyword string // the first word, in capitals
	second  string // the one after it
	tag
}

// tag is a leading comment: /* squall:VERB */, with task=$N or task=ID for the task, and more when the call goes on with the next
// statement although this one is a transaction of its own.
type tag struct {
	verb  string
	task  string
	param int // the parameter that is the task; 0: none
	more  bool
}

const tagPrefix = "squall:"

// tagOf reads the text of a comment.
func tagOf(comment string) (t tag, ok bool) {
	words := strings.Fields(comment)
	if len(words) == 0 || !strings.HasPrefix(words[0], tagPrefix) {
		return tag{}, false
	}
	t.verb = words[0][len(tagPrefix):]
	for _, word := range words[1:] {
		task, is := strings.CutPrefix(word, "task=")
		switch {
		case word == "more":
			t.more = true
		case is && strings.HasPrefix(task, "$"):
			if n, err := strconv.ParseUint(task[1:], 10, 16); err == nil {
				t.param = int(n)
			}
		case is:
			t.task = task
		}
	}
	return t, t.verb != ""
}

// statements splits SQL text at the semicolons between statements, as psql does: not at those in literals, names and comments.
// Statements without a word are left out.
func statements(sql string) []statement {
	var all []statement
	var now statement
	end := func() {
		if now.keyword != "" {
			all = append(all, now)
		}
		now = statement{}
	}
	for l := (lexer{rest: sql}); l.rest != ""; {
		kind, text := l.next()
		switch kind {
		case comment:
			if t, ok := tagOf(text); ok && now.keyword == "" {
				now.tag = t
			}
		case word:
			if now.keyword == "" {
				now.keyword = strings.ToUpper(text)
			} else if now.second == "" {
				now.second = strings.ToUpper(text)
			}
		case semicolon:
			end()
		case other:
			if now.keyword == "" && strings.TrimSpace(text) != "" {
				now.keyword = text // a parenthesis, say
			}
		}
	}
	end()
	return all
}

// first is the only statement of a Parse message.
func first(sql string) statement {
	if all := statements(sql); len(all) > 0 {
		return all[0]
	}
	return statement{}
}

func (s statement) begins() bool { return s.keyword == "BEGIN" || s.keyword == "START" }

// commits tells that the statement ends a transaction for good. PREPARE TRANSACTION does not.
func (s statement) commits() bool {
	return (s.keyword == "COMMIT" || s.keyword == "END") && s.second != "PREPARED"
}

// rollsBack tells that it ends one without effect.
func (s statement) rollsBack() bool {
	return (s.keyword == "ROLLBACK" || s.keyword == "ABORT") && s.second != "TO" && s.second != "PREPARED"
}

// chores are statements that are no call by themselves. COPY is one because its data and its answer come in turns, so that there
// is nothing to hold back; the transaction around it is a call.
var chores = map[string]bool{
	"BEGIN": true, "START": true, "COMMIT": true, "END": true, "ROLLBACK": true, "ABORT": true, "SAVEPOINT": true, "RELEASE": true,
	"SET": true, "RESET": true, "SHOW": true, "DISCARD": true, "DEALLOCATE": true, "PREPARE": true, "LISTEN": true, "UNLISTEN": true,
	"CLOSE": true, "COPY": true,
}

// works tells that the statement is part of a call.
func (s statement) works() bool { return s.keyword != "" && !chores[s.keyword] }

// writes tells that it may change rows: a function behind SELECT may too, but that is not to be seen from here.
func (s statement) writes() bool {
	switch s.keyword {
	case "SELECT", "VALUES", "TABLE", "FETCH", "EXPLAIN", "(":
		return false
	}
	return s.works()
}

// Kinds of tokens.
type token int

const (
	other token = iota
	word
	comment
	semicolon
)

// lexer reads SQL as far as it is needed to know where a statement ends: "Lexical Structure" in the Postgres manual.
type lexer struct{ rest string }

// next returns a token and takes at least one byte.
func (l *lexer) next() (token, string) {
	s := l.rest
	switch {
	case s[0] == ';':
		return semicolon, l.take(1)
	case strings.HasPrefix(s, "--"):
		return comment, l.until(2, "\n")[2:]
	case strings.HasPrefix(s, "/*"):
		return comment, l.block()
	case s[0] == '\'' || s[0] == '"':
		return other, l.until(1, s[:1]) // a doubled quote is the end of one literal and the start of the next
	case (s[0] == 'e' || s[0] == 'E') && len(s) > 1 && s[1] == '\'':
		return other, l.escaped()
	case s[0] == '$':
		return other, l.dollar()
	case isLetter(s[0]):
		n := 1
		for n < len(s) && (isLetter(s[n]) || s[n] >= '0' && s[n] <= '9' || s[n] == '$') {
			n++
		}
		return word, l.take(n)
	}
	return other, l.take(1)
}

func (l *lexer) take(n int) string {
	text := l.rest[:n]
	l.rest = l.rest[n:]
	return text
}

// until takes everything up to and including the end mark that comes after the first from bytes.
func (l *lexer) until(from int, mark string) string {
	if i := strings.Index(l.rest[from:], mark); i >= 0 {
		return l.take(from + i + len(mark))
	}
	return l.take(len(l.rest))
}

// block takes a comment, which may hold others, and returns what is in it.
func (l *lexer) block() string {
	depth, i := 0, 0
	for i < len(l.rest) {
		switch {
		case strings.HasPrefix(l.rest[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(l.rest[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return l.take(i)[2 : i-2]
			}
		default:
			i++
		}
	}
	return l.take(i)[2:]
}

// escaped takes a literal in which a backslash takes the next byte along.
func (l *lexer) escaped() string {
	for i := 2; i < len(l.rest); i++ {
		switch l.rest[i] {
		case '\\':
			i++
		case '\'':
			return l.take(i + 1)
		}
	}
	return l.take(len(l.rest))
}

// dollar takes a dollar-quoted literal, or the dollar of a parameter.
func (l *lexer) dollar() string {
	n := 1
	for n < len(l.rest) && (isLetter(l.rest[n]) || n > 1 && l.rest[n] >= '0' && l.rest[n] <= '9') {
		n++
	}
	if n == len(l.rest) || l.rest[n] != '$' {
		return l.take(1)
	}
	return l.until(n+1, l.rest[:n+1])
}

func isLetter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= 0x80
}
