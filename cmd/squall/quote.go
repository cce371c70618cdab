package main

import "strings"

// shellWord quotes a word for a shell when it needs it.
func shellWord(s string) string {
	special := func(r rune) bool {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
		return !plain
	}
	if s != "" && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// inOneLine is an error in one line.
func inOneLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
