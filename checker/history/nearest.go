package history

import "strings"

// maxNearest bounds the names that Nearest compares: nobody mistypes a longer one, and the comparison is quadratic.
const maxNearest = 64

// Nearest returns the known name that name was most probably meant to be, or "" when none is
// near: at most a third of its letters may differ. Of equally near names the first wins.
func Nearest(name string, known []string) string {
	if len(name) > maxNearest {
		return ""
	}
	best, least := "", 0
	for _, k := range known {
		if len(k) > maxNearest {
			continue
		}
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d <= max(1, len(k)/3) && d < len(k) && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes, with the swap of two neighbours as one edit.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			edit := 1
			if a[i-1] == b[j-1] {
				edit = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+edit)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
