package figure

// dimension draws a deadline as engineers draw lengths: a dashed line between two uprights, open to
// the right when it ends beyond the plot.
func (b *board) dimension(item Item, y, height float64) {
	x0, x1 := b.scale.X(item.From), b.scale.X(item.To)
	middle := y + height/2
	add := func(s Shape) { b.layers.bar = append(b.layers.bar, s.OnAxis().Titled(item.Title)) }
	add(Line(x0, middle, x1, middle, "dimension "+item.Class))
	if item.From >= b.t.From {
		add(Line(x0, y, x0, y+height, "dimension-end"))
	}
	if item.To <= b.t.To {
		add(Line(x1, y-2, x1, y+height+2, "dimension-end"))
		return
	}
	add(Path(x1, middle, "M-6 -4L0 0L-6 4", "dimension-end"))
}
