package extract

import (
	"bytes"
	"regexp"
	"strings"
)

var assignment = regexp.MustCompile(`^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*`)

// findDotenv finds NAME=value lines, with or without quotes, export and a comment.
func findDotenv(name string, data []byte) ([]Match, error) {
	var found []Match
	for i, line := range bytes.Split(data, []byte("\n")) {
		text := strings.TrimSuffix(string(line), "\r")
		m := assignment.FindStringSubmatchIndex(text)
		if m == nil || text[m[2]:m[3]] != name {
			continue
		}
		value, col := text[m[1]:], len([]rune(text[:m[1]]))+1
		if quote := firstQuote(value); quote != "" {
			inside, _, ok := strings.Cut(value[1:], quote)
			if !ok {
				return nil, broken(i+1, col, "", "a quote that is not closed")
			}
			found = append(found, Match{Text: inside, Line: i + 1, Col: col + 1})
			continue
		}
		if at := strings.Index(value, " #"); at >= 0 {
			value = value[:at]
		}
		if value = strings.TrimSpace(value); value != "" {
			found = append(found, Match{Text: value, Line: i + 1, Col: col})
		}
	}
	return found, nil
}

func firstQuote(value string) string {
	if value != "" && strings.ContainsAny(value[:1], `"'`) {
		return value[:1]
	}
	return ""
}
