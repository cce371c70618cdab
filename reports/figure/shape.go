package figure

// Shape is one SVG element. Which fields count depends on Kind.
type Shape struct {
	Kind   string // rect, line, text, path, circle, group, end
	X, Y   Num
	W, H   Num // rect; for circle W is the radius
	X2, Y2 Num // line
	R      Num // rect: corner radius
	Class  string
	Anchor string // text
	Text   string
	Title  string // told on hover and to screen readers
	Path   string // path: its d
	Key    string // group: what search matches
	ID     string
	// Timed marks what a horizontal zoom moves; a rect's width and a line's end move along.
	Timed bool
}

// Drawing is a finished figure.
type Drawing struct {
	ID            string
	Label         string // what a screen reader says
	Width, Height Num
	Left, Right   Num // the plot: what lies between is subject to zoom
	Shapes        []Shape
	Hidden        int // labels that found no room; they are in the table
}

// Add appends shapes.
func (d *Drawing) Add(s ...Shape) { d.Shapes = append(d.Shapes, s...) }

// Rect, Line and Label are the shapes that most figures are made of.
func Rect(x, y, w, h float64, class string) Shape {
	return Shape{Kind: "rect", X: Num(x), Y: Num(y), W: Num(w), H: Num(h), Class: class}
}

// Line is a straight stroke.
func Line(x, y, x2, y2 float64, class string) Shape {
	return Shape{Kind: "line", X: Num(x), Y: Num(y), X2: Num(x2), Y2: Num(y2), Class: class}
}

// Label is a line of text, starting at x with y as its baseline.
func Label(x, y float64, text, class string) Shape {
	return Shape{Kind: "text", X: Num(x), Y: Num(y), Text: text, Class: class}
}

// Path is a free form, drawn relative to (x, y).
func Path(x, y float64, d, class string) Shape {
	return Shape{Kind: "path", X: Num(x), Y: Num(y), Path: d, Class: class}
}

// Titled adds what is told on hover.
func (s Shape) Titled(title string) Shape { s.Title = title; return s }

// OnAxis marks the shape as placed by time.
func (s Shape) OnAxis() Shape { s.Timed = true; return s }

// Anchored sets where a text's x is: start, middle or end.
func (s Shape) Anchored(anchor string) Shape { s.Anchor = anchor; return s }
