package history

import (
	"unicode/utf16"
	"unicode/utf8"
)

// valueKind is the kind of a JSON value. Nothing is ever nested.
type valueKind uint8

const (
	noValue valueKind = iota
	stringValue
	numberValue
	boolValue
)

// value is one scanned JSON value: a string's content with escapes resolved, else its text.
type value struct {
	kind valueKind
	text []byte
}

// scanner takes one line, a flat JSON object, apart. What it returns is valid until the next line.
type scanner struct {
	line    []byte
	at      int
	scratch []byte // unescaped strings
}

func (s *scanner) reset(line []byte) { s.line, s.at, s.scratch = line, 0, s.scratch[:0] }

func (s *scanner) space() {
	for s.at < len(s.line) {
		switch s.line[s.at] {
		case ' ', '\t', '\r':
			s.at++
		default:
			return
		}
	}
}

// take consumes c, after white space.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.at < len(s.line) && s.line[s.at] == c {
		s.at++
		return true
	}
	return false
}

// field scans the next name and value of the object.
func (s *scanner) field() (name []byte, v value, p problem) {
	key := s.value()
	if key.kind != stringValue {
		return nil, v, wanted("a field's name in quotes")
	}
	if !s.take(':') {
		return nil, v, wanted("a colon after " + quote(key.text))
	}
	v = s.value()
	if v.kind == noValue {
		return nil, v, wanted("a string, a number, true or false for " + quote(key.text))
	}
	return key.text, v, problem{}
}

// more tells whether another field follows; done that the object is complete.
func (s *scanner) more() (more, done bool) {
	if s.take(',') {
		return true, false
	}
	if !s.take('}') {
		return false, false
	}
	s.space()
	return false, s.at == len(s.line)
}

func (s *scanner) value() value {
	s.space()
	if s.at >= len(s.line) {
		return value{}
	}
	switch c := s.line[s.at]; {
	case c == '"':
		return s.string()
	case c == '-' || (c >= '0' && c <= '9'):
		return s.number()
	}
	for _, literal := range []string{"true", "false"} {
		end := s.at + len(literal)
		if end <= len(s.line) && string(s.line[s.at:end]) == literal {
			start := s.at
			s.at = end
			return value{boolValue, s.line[start:end]}
		}
	}
	return value{}
}

func (s *scanner) number() value {
	start := s.at
	for s.at < len(s.line) {
		if c := s.line[s.at]; c != '-' && c != '.' && (c < '0' || c > '9') {
			break
		}
		s.at++
	}
	return value{numberValue, s.line[start:s.at]}
}

// string scans a JSON string; one that is not valid is no value.
func (s *scanner) string() value {
	s.at++
	start, ascii := s.at, true
	for ; s.at < len(s.line); s.at++ {
		switch c := s.line[s.at]; {
		case c == '"':
			text := s.line[start:s.at]
			s.at++
			if !ascii && !utf8.Valid(text) {
				return value{}
			}
			return value{stringValue, text}
		case c == '\\':
			return s.escaped(start)
		case c < ' ':
			return value{}
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return value{}
}

// escaped goes on with a string at its first escape.
func (s *scanner) escaped(start int) value {
	from := len(s.scratch)
	s.scratch = append(s.scratch, s.line[start:s.at]...)
	for s.at < len(s.line) {
		c := s.line[s.at]
		s.at++
		switch {
		case c == '"':
			text := s.scratch[from:]
			if !utf8.Valid(text) {
				return value{}
			}
			return value{stringValue, text}
		case c == '\\':
			if !s.escape() {
				return value{}
			}
		case c < ' ':
			return value{}
		default:
			s.scratch = append(s.scratch, c)
		}
	}
	return value{}
}

// escape resolves what follows a backslash.
func (s *scanner) escape() bool {
	if s.at >= len(s.line) {
		return false
	}
	c := s.line[s.at]
	s.at++
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.escapedRune()
	default:
		return false
	}
	s.scratch = append(s.scratch, c)
	return true
}

func (s *scanner) escapedRune() bool {
	r, ok := s.hex()
	if ok && utf16.IsSurrogate(r) {
		if s.at+1 >= len(s.line) || s.line[s.at] != '\\' || s.line[s.at+1] != 'u' {
			return false
		}
		s.at += 2
		var low rune
		low, ok = s.hex()
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return false
		}
	}
	s.scratch = utf8.AppendRune(s.scratch, r)
	return ok
}

func (s *scanner) hex() (rune, bool) {
	if s.at+4 > len(s.line) {
		return 0, false
	}
	var r rune
	for _, c := range s.line[s.at : s.at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	s.at += 4
	return r, true
}
