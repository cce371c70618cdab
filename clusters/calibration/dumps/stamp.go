package dumps

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// stamp is a moment as the API server writes it: in whole seconds, or in microseconds. The zero stamp is none.
type stamp struct {
	time.Time
	whole bool // seconds
}

// UnmarshalJSON reads RFC 3339; null is no stamp.
func (s *stamp) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	word, err := strconv.Unquote(string(text))
	if err != nil {
		return fmt.Errorf("expected a time such as 2026-01-31T10:00:00Z, found %s", brief(string(text)))
	}
	if word == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, word)
	if err != nil {
		return fmt.Errorf("expected a time such as 2026-01-31T10:00:00Z, found %q", brief(word))
	}
	if t.Year() < 2000 || t.Year() > 2500 { // the zero time, and what no cluster has
		return nil
	}
	*s = stamp{t.UTC(), !strings.Contains(word, ".")}
	return nil
}

func brief(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return text
}

// earlier is the earlier of two stamps, of which either may be none.
func earlier(a, b stamp) stamp {
	if a.IsZero() || !b.IsZero() && b.Before(a.Time) {
		return b
	}
	return a
}

// or is s, or other where s is none.
func (s stamp) or(other stamp) stamp {
	if s.IsZero() {
		return other
	}
	return s
}
