package reports

import (
	"fmt"
	"strings"

	"github.com/squall-chaos/squall/reports/figure"
)

// matrixSection is which setting was unsafe in which run.
type matrixSection struct {
	Figure *figure.Drawing
	Rows   []matrixRow
	Runs   int // that are drawn: those in which settings differ
	Same   int // runs in which all are alike
	Left   int // that differ and found no room
	Hidden int // settings that found no room
}

type matrixRow struct {
	Name, ID string
	Gained   int
	Healed   int
	P        string
	Case     *Case
}

// The most that the matrix shows.
const (
	mostFlips       = 850
	mostMatrixCells = 50
)

// matrix shows the runs whose verdict depends on the setting; nil: there are none.
func (c *Comparison) matrix() *matrixSection {
	m := &matrixSection{}
	all := make([]string, len(c.Cells))
	for i, cell := range c.Cells {
		all[i] = letters(cell)
	}
	var flips []int
	for b := range c.runs() {
		differ := false
		for i := range all {
			differ = differ || all[i][b] != all[0][b]
		}
		switch {
		case !differ:
			m.Same++
		case len(flips) < mostFlips:
			flips = append(flips, b)
		default:
			m.Left++
		}
	}
	if len(flips) == 0 {
		return nil
	}
	m.Runs = len(flips)
	shown := c.picked(mostMatrixCells)
	m.Hidden = len(c.Cells) - len(shown)
	m.Figure = c.drawMatrix(all, flips, shown)
	for _, i := range shown {
		cell := c.Cells[i]
		row := matrixRow{Name: c.marked(i), ID: cellID(i), Gained: len(cell.Gained), Healed: len(cell.Healed), P: "–"}
		if i != c.Baseline {
			row.P = probability(cell.P)
		}
		if one, ok := c.Cases[i]; ok {
			row.Case = &one
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// probability writes a p-value; below what anybody needs to know it says so.
func probability(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// drawMatrix has a row per setting and a column per run. All marks of a row are one path: thousands of shapes would be most of the page.
func (c *Comparison) drawMatrix(all []string, flips, shown []int) *figure.Drawing {
	const (
		width, gutter, right = 1160.0, 270.0, 20.0
		step, box, top       = 20.0, 14.0, 14.0
	)
	column := min((width-gutter-right)/float64(len(flips)), 14)
	mark := max(column-max(column*0.15, 0.3), 0.6)
	height := top + step*float64(len(shown)) + 26
	d := &figure.Drawing{ID: "matrix", Label: "Which setting was unsafe in which run", Width: width, Height: figure.Num(height), Left: gutter, Right: width - right}
	for n, i := range shown {
		y := top + step*float64(n)
		var unsafe, unknown strings.Builder
		count := 0
		for k, b := range flips {
			x := column * float64(k)
			switch all[i][b] {
			case 'x':
				count++
				fmt.Fprintf(&unsafe, "M%s 0h%sv%sh-%sz", figure.Num(x), figure.Num(mark), figure.Num(box), figure.Num(mark))
			case '?':
				fmt.Fprintf(&unknown, "M%s 4h%sv%sh-%sz", figure.Num(x), figure.Num(mark), figure.Num(box-8), figure.Num(mark))
			}
		}
		d.Add(figure.Label(12, y+11, signOf(c.Cells[i])+" "+clip(c.marked(i), gutter-40), "lane-name"),
			figure.Rect(gutter, y, column*float64(len(flips)), box, "cell-safe").Titled(fmt.Sprintf("%s: unsafe in %d of these %d runs", c.name(i), count, len(flips))))
		if unsafe.Len() > 0 {
			d.Add(figure.Path(gutter, y, unsafe.String(), "cell-unsafe"))
		}
		if unknown.Len() > 0 {
			d.Add(figure.Path(gutter, y, unknown.String(), "cell-unknown"))
		}
	}
	y := height - 10
	first, last := c.blockWord(flips[0]), c.blockWord(flips[len(flips)-1])
	if len(flips) == 1 {
		d.Add(figure.Label(gutter, y, first, "tick"))
		return d
	}
	d.Add(figure.Label(gutter, y, first, "tick"))
	if end := gutter + column*float64(len(flips)); end-gutter > figure.TextWidth(first+last, 11)+20 {
		d.Add(figure.Label(end, y, last, "tick").Anchored("end"))
	} else {
		d.Add(figure.Label(gutter+figure.TextWidth(first, 11)+12, y, "to "+last, "tick"))
	}
	return d
}

// blockWord names a run.
func (c *Comparison) blockWord(b int) string {
	word := "seed " + seed(c.From+uint64(b%c.Count))
	if len(c.Workloads) > 1 {
		word += " of " + c.Workloads[b/c.Count]
	}
	return word
}
