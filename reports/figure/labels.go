package figure

import (
	"strconv"
	"strings"
)

// caption is a label looking for a place: that of one item, or of several too close to tell apart.
type caption struct {
	x, x1   float64 // the extent of its first item
	moments []int
	words   []string
	class   string
	free    float64 // how far to the left there is no other pole
}

func (c caption) text() string {
	const most = 3
	if len(c.words) > most {
		return strings.Join(c.words[:most], ", ") + " +" + strconv.Itoa(len(c.words)-most)
	}
	return strings.Join(c.words, ", ")
}

// bold is how much wider than plain text bold text may be.
const bold = 1.12

func (c caption) width() float64 {
	return float64(len(c.moments))*badge + bold*TextWidth(c.text(), fontSize)
}

// shorten cuts the words until the caption is no wider than width, its numbers included.
func (c caption) shorten(width float64) caption {
	room := (width - float64(len(c.moments))*badge) / bold
	c.words = []string{Fit(c.text(), fontSize, room)}
	return c
}

// labels places the labels of one row of bars and returns how many tracks under it they use. They are
// placed from right to left: a label then hangs below those to its right, and its pole, which lies left
// of them all, crosses none.
func (b *board) labels(l Lane, items []Item, y float64) int {
	tracks := NewTracks(0, 8)
	captions := b.captions(items, l.Inside)
	used := 0
	for i := len(captions) - 1; i >= 0; i-- {
		c := captions[i]
		if l.Inside && b.inside(c, y, l.BarHeight) {
			continue
		}
		tracks.limit = max(l.MaxTracks, 1)
		if len(c.moments) > 0 { // what is numbered must be seen
			tracks.limit = 0
		}
		c.free = b.scale.X0
		if i > 0 {
			c.free = captions[i-1].x
		}
		if track, ok := b.flag(tracks, c, y+l.BarHeight); ok {
			used = max(used, track+1)
		} else {
			b.d.Hidden++
		}
	}
	return used
}

// captions joins the labels of items that lie closer together than a label's own pole is wide.
func (b *board) captions(items []Item, inside bool) []caption {
	const near = 16
	var captions []caption
	for _, item := range byX(items) {
		if item.Quiet || item.Label == "" && item.Moment == 0 {
			continue
		}
		x0, x1 := b.extent(item)
		if item.Glyph != "" {
			x0, x1 = b.scale.X(item.From), b.scale.X(item.From)
		}
		last := len(captions) - 1
		alone := inside && x1-x0 > near
		if last < 0 || alone || x0-captions[last].x > near {
			captions = append(captions, caption{x: x0, x1: x1, class: item.Class})
			last++
		}
		captions[last].take(item)
	}
	return captions
}

func (c *caption) take(item Item) {
	if item.Moment > 0 {
		c.moments = append(c.moments, item.Moment)
	}
	if item.Label == "" {
		return
	}
	for _, word := range c.words {
		if word == item.Label {
			return
		}
	}
	c.words = append(c.words, item.Label)
}

// inside writes a label into its bar if the bar is wide enough.
func (b *board) inside(c caption, y, height float64) bool {
	const pad = 6
	if c.width()+2*pad > c.x1-c.x {
		return false
	}
	b.write(c, c.x+pad, y+height/2+4.3, "inside "+of(c.class))
	return true
}

// flag writes a label below its bar, with a pole up to it.
func (b *board) flag(tracks *Tracks, c caption, y float64) (int, bool) {
	c, left, right := b.side(c)
	track, ok := tracks.PlaceFlag(c.x, left, right)
	if !ok && len(c.moments) > 0 { // what is numbered must be seen, and be it below a label that it should pass
		c.words = nil
		c, left, right = b.side(c)
		track, ok = tracks.Place(left, right)
	}
	if !ok {
		return 0, false
	}
	baseline := y + float64(track)*labelHeight + 13
	b.layers.backdrop = append(b.layers.backdrop, Line(c.x, y, c.x, baseline+2, "pole").OnAxis())
	if left == c.x {
		left += flagPad
	}
	b.write(c, left, baseline, of(c.class))
	return track, true
}

const (
	flagPad  = 4.0
	readable = 96.0 // a label shortened to this still says something
)

// side decides on which side of its pole a label hangs, and cuts it if neither has room: to the right; if it does not
// fit there to the left, where it must not get in the way of other poles.
func (b *board) side(c caption) (_ caption, left, right float64) {
	rightRoom, leftRoom := b.scale.X1-c.x-flagPad, c.x-b.scale.X0-flagPad
	wanted := c.width()
	switch {
	case wanted <= rightRoom:
		return c, c.x, c.x + flagPad + wanted
	case wanted <= c.x-c.free-2*flagPad, rightRoom < readable && wanted <= leftRoom:
		return c, c.x - flagPad - wanted, c.x
	case rightRoom < readable && leftRoom > rightRoom:
		c = c.shorten(leftRoom)
		return c, c.x - flagPad - c.width(), c.x
	}
	c = c.shorten(rightRoom)
	return c, c.x, c.x + flagPad + c.width()
}

// write puts the numbers and the words of a caption at x.
func (b *board) write(c caption, x, baseline float64, class string) {
	for _, m := range c.moments {
		circle := Shape{Kind: "circle", X: Num(x + 7), Y: Num(baseline - 4.2), W: 7, Class: "badge", Timed: true}
		number := Label(x+7, baseline-0.6, strconv.Itoa(m), "badge-number").Anchored("middle").OnAxis()
		b.layers.text = append(b.layers.text, circle, number)
		x += badge
	}
	if text := c.text(); text != "" {
		b.layers.text = append(b.layers.text, Label(x, baseline, text, "label "+class).OnAxis())
	}
}

// of turns the classes of a bar into those of its label: what colours a bar must not colour text.
func of(class string) string {
	words := strings.Fields(class)
	for i := range words {
		words[i] = "of-" + words[i]
	}
	return strings.Join(words, " ")
}
