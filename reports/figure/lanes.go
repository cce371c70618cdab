package figure

import "sort"

// row is one line of bars inside a lane.
type row struct {
	key   string
	items []Item
}

// lane draws one lane from y on and returns where the next begins.
func (b *board) lane(l Lane, y float64, index int) float64 {
	start := y
	y += lanePad
	if b.t.Gutter == 0 {
		b.layers.text = append(b.layers.text, Label(4, y+8, l.Name, "lane-name"),
			Label(4+bold*TextWidth(l.Name, fontSize+.5)+8, y+8, l.Sub, "lane-sub"))
		y += labelHeight
	}
	rows := b.rows(l)
	if len(rows) == 0 {
		rows = []row{{}} // an empty lane is seen, and arrows may end in it
	}
	for _, r := range rows {
		y = b.row(l, r, y)
	}
	y += lanePad - rowGap
	if b.t.Gutter > 0 {
		y = max(y, start+2*lanePad+labelHeight)
		if l.Sub != "" {
			y = max(y, start+lanePad+26+lanePad)
		}
		b.nameLane(l, start)
	}
	ground := Rect(0, start, b.t.Width, y-start, "lane lane-"+[]string{"even", "odd"}[index%2])
	b.layers.ground = append(b.layers.ground, ground)
	return y
}

func (b *board) nameLane(l Lane, y float64) {
	name := Fit(l.Name, fontSize+1, b.t.Gutter-edge)
	b.layers.text = append(b.layers.text, Label(edge, y+lanePad+11, name, "lane-name").Titled(l.Name))
	if l.Sub != "" {
		sub := Fit(l.Sub, fontSize-1, b.t.Gutter-edge)
		b.layers.text = append(b.layers.text, Label(edge, y+lanePad+26, sub, "lane-sub").Titled(l.Sub))
	}
}

// rows distributes the items of a lane: those with a Row by their name, the others where they fit.
func (b *board) rows(l Lane) []row {
	var rows []row
	named := map[string]int{}
	free := NewTracks(0, 0)
	freeRow := map[int]int{}
	for _, item := range l.Items {
		key := item.Row
		if key == "" {
			x0, x1 := b.extent(item)
			track, _ := free.Place(x0, x1)
			if _, ok := freeRow[track]; !ok {
				freeRow[track] = len(rows)
				rows = append(rows, row{})
			}
			rows[freeRow[track]].items = append(rows[freeRow[track]].items, item)
			continue
		}
		if _, ok := named[key]; !ok {
			named[key] = len(rows)
			rows = append(rows, row{key: key})
		}
		rows[named[key]].items = append(rows[named[key]].items, item)
	}
	return rows
}

// extent is what an item covers on the x axis.
func (b *board) extent(item Item) (x0, x1 float64) {
	x0, x1 = b.scale.X(item.From), b.scale.X(item.To)
	if item.Glyph != "" {
		return x0 - 5, x0 + 5
	}
	if x1-x0 < minBar {
		x1 = min(x0+minBar, b.scale.X1)
		x0 = x1 - minBar
		if x := b.scale.X(item.From); x < x0 {
			x0 = x
		}
	}
	return x0, x1
}

// row draws one row of bars with its labels and returns where the next begins.
func (b *board) row(l Lane, r row, y float64) float64 {
	height := l.BarHeight
	b.at[l.Key+"/"+r.key] = anchor{b.scale.X0, b.scale.X1, y, y + height}
	if _, ok := b.at[l.Key]; !ok {
		b.at[l.Key] = anchor{b.scale.X0, b.scale.X1, y, y + height}
	}
	for _, item := range r.items {
		b.item(item, y, height)
	}
	used := b.labels(l, r.items, y)
	return y + height + float64(used)*labelHeight + rowGap
}

func (b *board) item(item Item, y, height float64) {
	x0, x1 := b.extent(item)
	if item.ID != "" {
		b.at[item.ID] = anchor{x0, x1, y, y + height}
	}
	switch {
	case item.Glyph != "":
		b.layers.mark = append(b.layers.mark, glyph(item, b.scale.X(item.From), y+height/2))
	case item.Backdrop:
		b.layers.backdrop = append(b.layers.backdrop, Rect(x0, y-2, x1-x0, height+4, "backdrop "+item.Class).OnAxis().Titled(item.Title))
	case item.Dimension:
		b.dimension(item, y, height)
	case item.OpenEnd:
		b.openBar(item, x0, x1, y, height)
	default:
		bar := Rect(x0, y, x1-x0, height, "bar "+item.Class).OnAxis().Titled(item.Title)
		bar.R = Num(min(2, (x1-x0)/2))
		bar.ID = prefixed(b.t.ID, item.ID)
		b.layers.bar = append(b.layers.bar, bar)
	}
}

// openBar draws an unknown outcome: a bar that is closed where the call began and frays where nobody knows.
func (b *board) openBar(item Item, x0, x1, y, height float64) {
	bar := Rect(x0, y, x1-x0, height, "bar open "+item.Class).OnAxis().Titled(item.Title)
	bar.ID = prefixed(b.t.ID, item.ID)
	b.layers.bar = append(b.layers.bar, bar,
		Line(x0, y, x0, y+height, "open-start").OnAxis())
	if item.To <= b.t.To { // beyond the plot nobody sees an end
		b.layers.bar = append(b.layers.bar, Path(x1, y-1, frayed(height+2), "open-end").OnAxis().Titled(item.Title))
	}
}

// frayed is a zigzag of the given height, going down from the origin.
func frayed(height float64) string {
	d := "M0 0"
	right := true
	for y := 0.0; y < height; y += height / 4 {
		if right {
			d += "l3 " + Num(height/4).String()
		} else {
			d += "l-3 " + Num(height/4).String()
		}
		right = !right
	}
	return d
}

// byX sorts items by where they begin; equal ones keep their order.
func byX(items []Item) []Item {
	sorted := append([]Item(nil), items...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].From < sorted[j].From })
	return sorted
}
