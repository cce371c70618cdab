package dumps

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// The codes of problems with dumps; `squall explain` says more.
const (
	CodeDump    = "SQ411"
	CodeDamaged = "SQ412"
	CodeNothing = "SQ413"
)

// Problem is what is wrong with a dump, and where.
type Problem struct {
	Code      string
	File      string
	Line, Col int
	Message   string
	Fix       string
	Line1     string // the line, or what of it is near
}

// Error is the problem as a compiler would print it.
func (p *Problem) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s %s", p.File, p.Line, p.Col, p.Code, p.Message)
	if p.Fix != "" {
		text += "\n  fix: " + p.Fix
	}
	return text
}

// problemAt is a problem at an offset of the text.
func problemAt(file string, text []byte, offset int, code, fix, format string, args ...any) *Problem {
	offset = max(min(offset, len(text)), 0)
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	p := &Problem{Code: code, File: file, Line: bytes.Count(text[:start], []byte("\n")) + 1,
		Col: utf8.RuneCount(text[start:offset]) + 1, Message: fmt.Sprintf(format, args...), Fix: fix}
	end := len(text)
	if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
		end = start + n
	}
	const most = 200
	if end-start <= most {
		p.Line1 = string(bytes.ToValidUTF8(text[start:end], []byte("\uFFFD")))
	}
	return p
}
