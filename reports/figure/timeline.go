package figure

import "time"

// Timeline is a space-time diagram: lanes from top to bottom, time from left to right.
type Timeline struct {
	ID, Label string
	From, To  time.Duration
	Width     float64
	// Gutter is the room left of the plot for the names of lanes; 0 puts them above their lanes, for
	// narrow screens.
	Gutter float64
	Lanes  []Lane
	Arrows []Arrow
	Guides []Guide
	Focus  []Focus
}

// Lane is one party: a process, the row, a node.
type Lane struct {
	Key       string
	Name, Sub string
	BarHeight float64
	Inside    bool   // labels go into bars wide enough for them
	MaxTracks int    // of labels under a row of bars
	Search    string // what a search finds the lane by; dense drawings only
	Marked    bool   // named by a violation; dense drawings only
	Items     []Item
}

// Item is something in a lane: a bar from From to To, or a glyph when Glyph is set.
type Item struct {
	ID       string // for arrows; may be empty
	Row      string // items of one Row share a row of the lane; empty: the first row with room
	From, To time.Duration
	OpenEnd  bool // nobody knows where it ended
	Class    string
	Glyph    string // dot, ring, cross, diamond, bolt, tick
	Backdrop bool   // a state that lasts, behind the bars of its row
	// Dimension draws the item as a length between two uprights instead of a bar.
	Dimension bool
	Over      bool // drawn over the whole lane; dense drawings only
	Label     string
	Moment    int  // its number in the list of moments; 0: none
	Quiet     bool // routine: drawn and titled, not labelled
	Title     string
}

// Arrow is a message between lanes.
type Arrow struct {
	At     time.Duration
	From   string // item
	To     string // lane
	ToRow  string
	Lost   Lost
	Title  string
	Strong bool
}

// Lost says which half of a call was lost.
type Lost uint8

// What can be lost.
const (
	Nothing Lost = iota
	Request
	Reply
)

// Guide is a dashed line through all lanes.
type Guide struct {
	At    time.Duration
	Class string
	Title string
	Label string // written at the foot; may be empty
}

// Focus is the stretch of time that the figure is about.
type Focus struct {
	From, To time.Duration
	Label    string
	ID       string
}

// Metrics of the drawing, in pixels of its own coordinate system.
const (
	fontSize    = 12.0
	labelHeight = 17.0
	axisHeight  = 22.0
	focusHeight = 24.0
	lanePad     = 9.0
	rowGap      = 5.0
	minBar      = 3.0 // narrower bars are drawn this wide so that they are seen
	badge       = 17.0
	edge        = 12.0
)

// board is a drawing with its lanes, one below the other.
func (t Timeline) board(scale Scale, lane func(b *board, l Lane, y float64, i int) float64) *board {
	b := &board{t: t, scale: scale, at: map[string]anchor{}}
	b.d = &Drawing{ID: t.ID, Label: t.Label, Width: Num(t.Width), Left: Num(scale.X0), Right: Num(scale.X1)}
	y := axisHeight
	if len(t.Focus) > 0 {
		y += focusHeight
	}
	b.top = y
	for i, l := range t.Lanes {
		y = lane(b, l, y, i)
	}
	b.bottom = y
	return b
}

// Draw lays the timeline out.
func (t Timeline) Draw() *Drawing {
	scale := Scale{t.From, t.To, t.Gutter + edge, t.Width - edge}
	if t.Gutter == 0 {
		scale.X0, scale.X1 = 4, t.Width-4
	}
	b := t.board(scale, (*board).lane)
	b.guides()
	b.axis()
	b.focus()
	b.arrows()
	b.d.Height = Num(b.foot() + axisHeight)
	b.d.Shapes = b.layers.flatten()
	return b.d
}

// board is a drawing in the making.
type board struct {
	t           Timeline
	d           *Drawing
	scale       Scale
	top, bottom float64
	footed      bool              // a line of labels lies between the lanes and the lower axis
	at          map[string]anchor // of items and of rows ("lane/row")
	layers      layers
}

// anchor is where arrows meet an item or a row.
type anchor struct{ x0, x1, top, bottom float64 }

// layers are drawn from the first to the last.
type layers struct{ ground, grid, focus, backdrop, arrow, guide, bar, mark, text []Shape }

func (l *layers) flatten() []Shape {
	var all []Shape
	for _, layer := range [][]Shape{l.ground, l.grid, l.focus, l.backdrop, l.arrow, l.guide, l.bar, l.mark, l.text} {
		all = append(all, layer...)
	}
	return all
}

func (b *board) axis() {
	for _, tick := range b.scale.Ticks(84) {
		b.layers.grid = append(b.layers.grid, Line(tick.X, axisHeight, tick.X, b.bottom, "grid").OnAxis())
		anchor, x := "middle", tick.X
		if tick.X > b.scale.X1-24 {
			anchor = "end"
		} else if tick.X < b.scale.X0+24 && b.t.Gutter == 0 {
			anchor = "start"
		}
		for _, y := range []float64{14, b.foot() + 15} {
			b.layers.text = append(b.layers.text, Label(x, y, tick.Label, "tick").Anchored(anchor).OnAxis())
		}
	}
}

// foot is where the lower axis begins.
func (b *board) foot() float64 {
	if b.footed {
		return b.bottom + labelHeight
	}
	return b.bottom
}

func (b *board) focus() {
	for _, f := range b.t.Focus {
		x0, x1 := b.scale.X(f.From), b.scale.X(f.To)
		width := max(x1-x0, minBar)
		band := Rect(x0, axisHeight+2, width, b.bottom-axisHeight-2, "focus").OnAxis().Titled(f.Label)
		band.ID = prefixed(b.t.ID, f.ID)
		b.layers.focus = append(b.layers.focus, band)
		b.layers.mark = append(b.layers.mark, Rect(x0, axisHeight+focusHeight-4, width, 4, "focus-bar").OnAxis())
		label := Label(0, axisHeight+focusHeight-10, f.Label, "focus-label").OnAxis()
		b.layers.text = append(b.layers.text, b.beside(label, x0, x1, f.Label))
	}
}

// beside puts a label over the middle of [x0, x1], moved as far as the plot's edges ask for.
func (b *board) beside(label Shape, x0, x1 float64, text string) Shape {
	half := TextWidth(text, fontSize) / 2
	x := min(max((x0+x1)/2, b.scale.X0+half), b.scale.X1-half)
	label.X = Num(x)
	return label.Anchored("middle")
}

func (b *board) guides() {
	for _, g := range b.t.Guides {
		if b.scale.Holds(g.At) {
			x := b.scale.X(g.At)
			b.layers.guide = append(b.layers.guide, Line(x, b.top, x, b.bottom, "guide "+g.Class).OnAxis().Titled(g.Title))
			b.guideLabel(g, x)
		}
	}
}

// guideLabel writes a guide's name at its foot, left of it when there is no room to the right.
func (b *board) guideLabel(g Guide, x float64) {
	if g.Label == "" {
		return
	}
	b.footed = true
	label := Label(x+5, b.bottom+13, g.Label, "part-label").OnAxis()
	if x+5+TextWidth(g.Label, fontSize) > b.scale.X1 {
		label.X = Num(x - 5)
		label = label.Anchored("end")
	}
	b.layers.text = append(b.layers.text, label)
}

func prefixed(figure, id string) string {
	if id == "" {
		return ""
	}
	return figure + "-" + id
}
