package extract

import (
	"fmt"
	"strconv"
	"strings"
)

// step is one part of a path: a key, an index, the element of a list whose field has a value, or any.
type step struct {
	key     string
	index   int
	isIndex bool
	field   string // of the element wanted
	value   string
	any     bool
}

// maxSteps keeps paths within reason.
const maxSteps = 64

// parsePath reads a.b[0].c[name=main]."key.with.dots".*
func parsePath(text string) ([]step, error) {
	var steps []step
	rest := text
	bad := func(format string, args ...any) error {
		return fmt.Errorf("path %q, character %d: %s", text, len([]rune(text))-len([]rune(rest))+1, fmt.Sprintf(format, args...))
	}
	for first := true; rest != ""; first = false {
		if len(steps) == maxSteps {
			return nil, bad("more than %d steps", maxSteps)
		}
		if rest[0] == '[' {
			inside, after, ok := strings.Cut(rest[1:], "]")
			if !ok {
				return nil, bad("a [ that is not closed")
			}
			s, err := bracket(inside)
			if err != nil {
				return nil, bad("%s", err)
			}
			steps, rest = append(steps, s), after
			continue
		}
		if !first {
			if rest[0] != '.' {
				return nil, bad("expected . or [")
			}
			rest = rest[1:]
		}
		key, after, err := pathKey(rest)
		if err != nil {
			return nil, bad("%s", err)
		}
		steps, rest = append(steps, step{key: key, any: key == "*" && rest[0] == '*'}), after
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("the path is empty")
	}
	return steps, nil
}

func pathKey(text string) (key, rest string, err error) {
	if text == "" {
		return "", "", fmt.Errorf("expected a key after the dot")
	}
	if text[0] == '"' {
		inside, after, ok := strings.Cut(text[1:], `"`)
		if !ok {
			return "", "", fmt.Errorf("a quote that is not closed")
		}
		return inside, after, nil
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return "", "", fmt.Errorf("expected a key, found %q", text[:1])
	}
	return text[:end], text[end:], nil
}

func bracket(inside string) (step, error) {
	if field, value, ok := strings.Cut(inside, "="); ok && field != "" {
		return step{field: field, value: strings.Trim(value, `"`)}, nil
	}
	if inside == "*" {
		return step{any: true}, nil
	}
	if len(inside) > 1 && strings.HasPrefix(inside, `"`) && strings.HasSuffix(inside, `"`) {
		return step{key: inside[1 : len(inside)-1]}, nil
	}
	n, err := strconv.Atoi(inside)
	if err != nil || n < 0 {
		return step{}, fmt.Errorf(`expected [0], [*], [name=main] or ["key"], found [%s]`, inside)
	}
	return step{index: n, isIndex: true}, nil
}
