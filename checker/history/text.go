package history

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// maxString is how much of a string the writer keeps; it bounds a line well below maxLine.
const maxString = 16 << 10

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string. What is not UTF-8 becomes U+FFFD, and what is too long is cut.
func appendString(b []byte, s string) []byte {
	s = cut(s)
	b = append(b, '"')
	clean := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = appendEscape(append(b, s[clean:i]...), c)
		i += size
		clean = i
	}
	return append(append(b, s[clean:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch {
	case c >= utf8.RuneSelf:
		return append(b, "\uFFFD"...)
	case c == '"' || c == '\\':
		return append(b, '\\', c)
	case c == '\n':
		return append(b, '\\', 'n')
	case c == '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

func cut(s string) string {
	if len(s) <= maxString {
		return s
	}
	end := maxString
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// appendSeconds appends a duration as decimal seconds without trailing zeros.
func appendSeconds(b []byte, d time.Duration) []byte {
	n := uint64(d)
	if d < 0 {
		b = append(b, '-')
		n = -n
	}
	b = strconv.AppendUint(b, n/uint64(time.Second), 10)
	fraction := n % uint64(time.Second)
	if fraction == 0 {
		return b
	}
	b = append(b, '.')
	for unit := uint64(time.Second / 10); fraction > 0; unit /= 10 {
		b = append(b, '0'+byte(fraction/unit))
		fraction %= unit
	}
	return b
}

func parseSeconds(text []byte) (time.Duration, bool) {
	whole, fraction := text, []byte(nil)
	for i, c := range text {
		if c == '.' {
			whole, fraction = text[:i], text[i+1:]
			if len(fraction) == 0 || len(fraction) > 9 {
				return 0, false
			}
			break
		}
	}
	negative := len(whole) > 0 && whole[0] == '-'
	if negative {
		whole = whole[1:]
	}
	n, ok := parseUint(whole)
	if !ok || n > maxInt64/uint64(time.Second) {
		return 0, false
	}
	n *= uint64(time.Second)
	unit := uint64(time.Second / 10)
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, false
		}
		n += uint64(c-'0') * unit
		unit /= 10
	}
	return signed(n, negative)
}

func signed(n uint64, negative bool) (time.Duration, bool) {
	if negative {
		return time.Duration(-n), n <= maxInt64+1
	}
	return time.Duration(n), n <= maxInt64
}

func parseInt(text []byte) (int64, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	n, ok := parseUint(text)
	d, fits := signed(n, negative)
	return int64(d), ok && fits
}

// parseUint takes JSON's whole numbers: digits without a leading zero.
func parseUint(text []byte) (uint64, bool) {
	if len(text) == 0 || len(text) > 20 || (text[0] == '0' && len(text) > 1) {
		return 0, false
	}
	var n uint64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		digit := uint64(c - '0')
		if n > (1<<64-1-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, true
}
