package figure

// Widths of glyphs in thousandths of the font size, those of DejaVu Sans: the widest of the system
// fonts that the report may meet, so that an estimate is never too narrow.
const (
	narrow  = 390 // i l j t f r . , : ; ' | ! ( ) [ ] and the space
	normal  = 640
	wide    = 780 // capitals
	widest  = 990 // m w M W @ %
	nothing = 0
)

// TextWidth estimates how wide s is drawn at the font size.
func TextWidth(s string, size float64) float64 {
	total := 0
	for _, r := range s {
		total += glyphWidth(r)
	}
	return float64(total) / 1000 * size
}

func glyphWidth(r rune) int {
	switch r {
	case 'i', 'l', 'j', 't', 'f', 'r', '.', ',', ':', ';', '\'', '|', '!', '(', ')', '[', ']', ' ', '-', '·', '/':
		return narrow
	case 'm', 'w', 'M', 'W', '@', '%', '→', '…', '–':
		return widest
	case '\u200b':
		return nothing
	}
	if r >= 'A' && r <= 'Z' || r > 0x2000 {
		return wide
	}
	return normal
}

// Fit shortens s with an ellipsis until it is no wider than width; empty when not even three letters fit.
func Fit(s string, size, width float64) string {
	if TextWidth(s, size) <= width {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n >= 3; n-- {
		if short := string(runes[:n]) + "…"; TextWidth(short, size) <= width {
			return short
		}
	}
	return ""
}
