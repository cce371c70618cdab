package figure

// arrows draws messages between lanes; what was lost ends in a cross on the way.
func (b *board) arrows() {
	for _, a := range b.t.Arrows {
		from, ok := b.at[a.From]
		if !ok || !b.scale.Holds(a.At) {
			continue
		}
		to, ok := b.at[a.To+"/"+a.ToRow]
		if !ok {
			if to, ok = b.at[a.To]; !ok {
				continue
			}
		}
		b.arrow(a, from, to)
	}
}

func (b *board) arrow(a Arrow, from, to anchor) {
	x := b.scale.X(a.At)
	y0, y1, head := from.bottom, to.top, "M-3.5 -6L0 0L3.5 -6"
	if to.top < from.top {
		y0, y1, head = from.top, to.bottom, "M-3.5 6L0 0L3.5 6"
	}
	class := "arrow"
	if a.Strong {
		class += " strong"
	}
	draw := func(s ...Shape) {
		for _, shape := range s {
			b.layers.arrow = append(b.layers.arrow, shape.OnAxis().Titled(a.Title))
		}
	}
	cross := "M-4 -4L4 4M-4 4L4 -4"
	middle := y0 + (y1-y0)*0.55
	switch a.Lost {
	case Nothing:
		draw(Line(x, y0, x, y1, class), Path(x, y1, head, class+" head"))
	case Request:
		draw(Line(x, y0, x, middle, class+" lost"), Path(x, middle, cross, "lost-cross"))
	case Reply:
		draw(Line(x, y0, x, y1, class), Path(x, y1, head, class+" head"))
		back := x + 9 // beside the request: it was answered at once, and the answer died on the way
		draw(Line(back, y1, back, middle, class+" lost"), Path(back, middle, cross, "lost-cross"))
	}
}

// glyph is a point in time.
func glyph(item Item, x, y float64) Shape {
	forms := map[string]string{
		"dot":     "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0",
		"ring":    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
		"cross":   "M-4 -4L4 4M-4 4L4 -4",
		"diamond": "M0 -5L5 0L0 5L-5 0Z",
		"bolt":    "M1.5 -7L-4 1H-0.5L-1.5 7L4 -1H0.5Z",
		"tick":    "M0 -5V5",
	}
	s := Path(x, y, forms[item.Glyph], "glyph glyph-"+item.Glyph+" "+item.Class).OnAxis().Titled(item.Title)
	return s
}
