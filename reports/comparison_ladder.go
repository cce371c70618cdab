package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/reports/figure"
)

func sortBy[T cmp.Ordered](all []int, key func(int) T) {
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
}

// ladderSection is the nested timeouts of the settings, one under the other on one scale.
type ladderSection struct {
	Figure *figure.Drawing
	Rows   []ladderRow
	Left   int // settings that are not drawn
}

// ladderRow is one timeout of one setting.
type ladderRow struct {
	Setting, At, Owner string
	rung
}

// mostLadders is how many settings' timeouts are drawn.
const mostLadders = 8

func (c *Comparison) ladders() *ladderSection {
	var shown []int
	var chains []string
	for _, i := range c.picked(mostLadders) { // settings with the same chain are drawn once
		words := c.chainWords(i)
		if !slices.Contains(chains, words) && len(shown) < 2*mostLadders {
			shown, chains = append(shown, i), append(chains, words)
		}
	}
	s := &ladderSection{Left: len(c.Cells) - len(shown)}
	const (
		width, gutter, right = 1160.0, 210.0, 290.0
		step, bar, head      = 23.0, 13.0, 26.0
	)
	var longest = c.Cells[0].Chain.RecoveryGrace
	for _, i := range shown {
		for _, r := range rungs(c.Cells[i].Chain, c.Cells[i].Findings) {
			longest = max(longest, r.Length)
		}
	}
	scale := figure.Scale{From: 0, To: max(longest, 1), X0: gutter, X1: width - right}
	d := &figure.Drawing{ID: "ladders", Label: "The nested timeouts of the settings, to scale", Width: width, Left: gutter, Right: width - right}
	y := 14.0
	for _, i := range shown {
		d.Add(figure.Label(12, y+9, signOf(c.Cells[i])+" "+clip(c.marked(i), width-40), "lane-name"))
		y += head - 8
		for _, r := range rungs(c.Cells[i].Chain, c.Cells[i].Findings) {
			place := c.Places[r.Key]
			s.Rows = append(s.Rows, ladderRow{Setting: c.name(i), At: place.At, Owner: place.Owner, rung: r})
			class := "rung"
			if r.Broken {
				class += " broken"
			}
			x := scale.X(r.Length)
			d.Add(figure.Label(24, y+10, r.Name, "lane-sub"), figure.Rect(gutter, y, max(x-gutter, 1), bar, class).Titled(r.Name+" "+seconds(r.Length)))
			d.Add(figure.Label(max(x, scale.X(r.Length+r.Margin))+8, y+10.5, rungWords(r, place), rungClass(r)))
			if r.Outer != "" && r.Margin > 0 {
				d.Add(figure.Rect(x, y+bar/2-1, scale.X(r.Length+r.Margin)-x, 2, "margin-bar"))
			}
			y += step
		}
		y += head - 10
	}
	d.Height = figure.Num(y)
	s.Figure = d
	return s
}

func (c *Comparison) chainWords(i int) string {
	var words []string
	for _, r := range rungs(c.Cells[i].Chain, c.Cells[i].Findings) {
		words = append(words, r.Name+seconds(r.Length))
	}
	return strings.Join(words, " ")
}

func rungClass(r rung) string {
	if r.Broken {
		return "margin broken"
	}
	return "margin"
}

// rungWords are what stands behind a rung.
func rungWords(r rung, place Place) string {
	text := seconds(r.Length)
	switch {
	case r.Outer == "":
	case r.Broken && r.Margin < 0:
		text += " ✗ " + seconds(-r.Margin) + " longer than the " + r.Outer
	case r.Broken && r.Margin == 0:
		text += " ✗ no margin to the " + r.Outer
	case r.Broken:
		text += " ✗ margin " + seconds(r.Margin) + " is too small"
	default:
		text += ", margin " + seconds(r.Margin)
	}
	if place.At != "" {
		text += " · " + place.At
	}
	if place.Owner != "" {
		text += " (" + place.Owner + ")"
	}
	return text
}

// OuterWord names the rung outside, for the table.
func (r ladderRow) OuterWord() string { return either(r.Outer, "–") }
