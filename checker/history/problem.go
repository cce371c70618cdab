package history

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What may be wrong with a file as a whole; errors of Decode wrap them where they apply.
var (
	// ErrTruncated: the last line, which says that nothing is missing, is missing.
	ErrTruncated = errors.New("history is truncated")
	// ErrVersion: written by another version of Squall, or not a history at all.
	ErrVersion = errors.New("not a history of this version")
)

// FormatError is the first thing wrong with a file.
type FormatError struct {
	File    string
	Line    int
	Problem string
	Nearest string // what was probably meant, or ""
	Err     error  // ErrTruncated, ErrVersion, a read error, or nil
}

// Error is in the form that editors can jump to.
func (e *FormatError) Error() string {
	text := fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
	if e.Nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return text
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// problem is a FormatError without its place; its zero value is none.
type problem struct {
	text    string
	nearest string
	err     error
}

func (p problem) is() bool { return p.text != "" }

func wanted(what string) problem { return problem{text: "expected " + what} }

func unknownWord(got string, words []string) problem {
	return problem{text: fmt.Sprintf("unknown word %s: expected one of %s", quote(got), list(words)), nearest: Nearest(got, words)}
}

func undeclared(what, got string, known []string) problem {
	const compared = 10_000 // a mistyped name is worth no more
	return problem{text: fmt.Sprintf("%s %s is not declared before its use", what, quote(got)),
		nearest: Nearest(got, known[:min(len(known), compared)])}
}

func list(words []string) string {
	var named []string
	for _, w := range words {
		if w != "" {
			named = append(named, w)
		}
	}
	return strings.Join(named, ", ")
}

// quote quotes the beginning of what was read.
func quote[S ~string | ~[]byte](s S) string {
	const shown = 60
	if len(s) > shown {
		return strconv.Quote(string(s[:shown])) + "..."
	}
	return strconv.Quote(string(s))
}
