package environment

import (
	"fmt"
	"strconv"
	"strings"
)

// Reader takes values from the environment and keeps all problems, so that whoever wrote it mends them in one go.
type Reader struct {
	lookup   func(string) (string, bool)
	problems Problems
}

// Problem is one variable that is not as it should be.
type Problem struct{ Variable, Expected, Got string }

// Problems are all that was found wrong.
type Problems []Problem

func (p Problem) String() string {
	return fmt.Sprintf("%s: expected %s, got %s", p.Variable, p.Expected, p.Got)
}

// Error has one line per variable.
func (all Problems) Error() string {
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// NewReader reads with lookup, which is os.LookupEnv.
func NewReader(lookup func(string) (string, bool)) *Reader { return &Reader{lookup: lookup} }

// Err returns the Problems, or nil.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return r.problems
}

// Report adds a problem that the caller found.
func (r *Reader) Report(variable, expected, got string) {
	r.problems = append(r.problems, Problem{variable, expected, got})
}

const nothing = "nothing"

// Text is a value that must be there.
func (r *Reader) Text(variable, expected string) string {
	value, _ := r.lookup(variable)
	if value == "" {
		r.Report(variable, expected, nothing)
	}
	return value
}

// Optional is a value that may be missing.
func (r *Reader) Optional(variable, otherwise string) string {
	if value, _ := r.lookup(variable); value != "" {
		return value
	}
	return otherwise
}

// Secret is a value that must be there and pass the check, and that no message shows. Nor must the check's error.
func (r *Reader) Secret(variable, expected string, check func(string) error) string {
	value := r.Text(variable, expected)
	if value == "" {
		return ""
	}
	if check(value) != nil {
		r.Report(variable, expected, "something else, which is not shown because it may hold a password")
	}
	return value
}

// Parse is a value that is not text. An empty otherwise says that it must be there.
func Parse[T any](r *Reader, variable, otherwise, expected string, parse func(string) (T, error)) T {
	text := r.Optional(variable, otherwise)
	if text == "" {
		r.Report(variable, expected, nothing)
		return *new(T)
	}
	value, err := parse(text)
	if err != nil {
		r.Report(variable, expected, fmt.Sprintf("%q: %v", text, err))
	}
	return value
}

func (r *Reader) number(variable, expected string) uint64 {
	return Parse(r, variable, "", expected, func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 63) })
}
