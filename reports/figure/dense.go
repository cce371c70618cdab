package figure

// Metrics of a dense drawing.
const (
	denseRow = 11.0
	densePad = 2.0
)

// DrawDense lays out many thin lanes without labels on the bars: an overview that is searched and
// hovered over rather than read.
func (t Timeline) DrawDense() *Drawing {
	b := t.board(Scale{t.From, t.To, t.Gutter + edge, t.Width - edge}, (*board).denseLane)
	b.axis()
	b.focus()
	b.d.Height = Num(b.bottom + axisHeight)
	b.d.Shapes = b.layers.flatten()
	return b.d
}

// denseLane draws a lane as one group, so that a search can dim it as a whole.
func (b *board) denseLane(l Lane, y float64, index int) float64 {
	rows := b.rows(Lane{Items: l.flat()})
	height := max(float64(len(rows))*denseRow, denseRow) + 2*densePad
	class := "row"
	if l.Marked {
		class += " marked"
	}
	if index%2 == 1 {
		class += " odd"
	}
	shapes := []Shape{{Kind: "group", Class: class, Key: l.Search, ID: b.t.ID + "-" + l.Key},
		Rect(0, y, b.t.Width, height, "row-ground")}
	name := l.Name
	if l.Marked {
		name = "▸ " + name
	}
	shapes = append(shapes, Label(edge, y+height/2+4, Fit(name, fontSize-1, b.t.Gutter-edge), "row-name").Titled(l.Name))
	for i, r := range rows {
		top := y + densePad + float64(i)*denseRow
		for _, item := range r.items {
			shapes = append(shapes, b.denseItem(item, top, l.BarHeight))
		}
	}
	for _, item := range l.Items {
		if item.Over {
			x0, x1 := b.extent(item)
			shapes = append(shapes, Rect(x0, y+densePad, x1-x0, height-2*densePad-2, "bar "+item.Class).OnAxis().Titled(item.Title))
		}
	}
	b.layers.bar = append(b.layers.bar, append(shapes, Shape{Kind: "end"})...)
	return y + height
}

// flat are the items that take part in the distribution over rows.
func (l Lane) flat() []Item {
	var items []Item
	for _, item := range l.Items {
		if !item.Over {
			items = append(items, item)
		}
	}
	return items
}

func (b *board) denseItem(item Item, y, height float64) Shape {
	if item.Glyph != "" {
		x := b.scale.X(item.From)
		return Line(x, y-1, x, y+height+1, "tick-mark "+item.Class).OnAxis().Titled(item.Title)
	}
	x0, x1 := b.extent(item)
	return Rect(x0, y, x1-x0, height, "bar "+item.Class).OnAxis().Titled(item.Title)
}
