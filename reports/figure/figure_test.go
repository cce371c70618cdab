package figure

import (
	"strings"
	"testing"
	"time"
)

func TestScaleStaysInThePlot(t *testing.T) {
	s := Scale{From: 10 * time.Second, To: 20 * time.Second, X0: 100, X1: 200}
	for at, want := range map[time.Duration]float64{0: 100, 10 * time.Second: 100, 15 * time.Second: 150, 20 * time.Second: 200, time.Hour: 200} {
		if got := s.X(at); got != want {
			t.Errorf("%s is at %v, want %v", at, got, want)
		}
	}
	if got := (Scale{X0: 5, X1: 9}).X(time.Second); got != 5 {
		t.Errorf("an empty scale puts a moment at %v", got)
	}
}

func TestTicksAreRoundAndApart(t *testing.T) {
	s := Scale{From: 58250 * time.Millisecond, To: 198 * time.Second, X0: 0, X1: 1000}
	ticks := s.Ticks(84)
	if len(ticks) != 10 || ticks[0].Label != "60 s" || ticks[1].Label != "75 s" {
		t.Errorf("ticks %v", ticks)
	}
	for i := 1; i < len(ticks); i++ {
		if ticks[i].X-ticks[i-1].X < 84 {
			t.Errorf("%s and %s are too close", ticks[i-1].Label, ticks[i].Label)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 s", 52 * time.Millisecond: "0.052 s", 12345 * time.Millisecond: "12.35 s",
		361234 * time.Millisecond: "361.2 s", -15 * time.Second: "−15 s", 400 * time.Nanosecond: "0 s"} {
		if got := Seconds(d); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}

func TestTracksKeepThingsApart(t *testing.T) {
	tracks := NewTracks(2, 4)
	for i, c := range []struct {
		from, to float64
		track    int
		ok       bool
	}{{0, 10, 0, true}, {13, 20, 1, true}, {14, 20, 0, true}, {15, 16, 0, false}} {
		if track, ok := tracks.Place(c.from, c.to); track != c.track || ok != c.ok {
			t.Errorf("%d: track %d, %v", i, track, ok)
		}
	}
}

func TestPolesCrossNoLabel(t *testing.T) {
	tracks := NewTracks(0, 4)
	if track, ok := tracks.PlaceFlag(50, 50, 150); track != 0 || !ok {
		t.Fatalf("track %d, %v", track, ok)
	}
	if track, ok := tracks.PlaceFlag(20, 20, 120); track != 1 || !ok {
		t.Errorf("a label from the left goes below: track %d, %v", track, ok)
	}
	if _, ok := tracks.PlaceFlag(90, 90, 190); ok {
		t.Error("a pole went through the first label")
	}
	if track, ok := tracks.Place(0, 30); track != 2 || !ok {
		t.Errorf("a label lies on a pole: track %d, %v", track, ok)
	}
}

func TestFit(t *testing.T) {
	if got := Fit("reconciler-1", 12, 200); got != "reconciler-1" {
		t.Errorf("%q was cut for nothing", got)
	}
	short := Fit("the reply to create is lost", 12, 80)
	if !strings.HasSuffix(short, "…") || TextWidth(short, 12) > 80 {
		t.Errorf("%q", short)
	}
	if got := Fit("the reply to create is lost", 12, 8); got != "" {
		t.Errorf("%q in 8 px", got)
	}
}

// timeline has more labels on one spot than there is room for.
func timeline(width, gutter float64) Timeline {
	lane := Lane{Key: "p", Name: "dispatcher-1", BarHeight: 12, MaxTracks: 3}
	for i := range 40 {
		at := time.Duration(i) * 2 * time.Second
		lane.Items = append(lane.Items, Item{ID: "op", Row: "calls", From: at, To: at + time.Millisecond, Class: "call", Label: "a rather long label", Moment: i % 8 / 7 * (i + 1), Title: "call"})
	}
	unknown := Item{Row: "calls", From: 85 * time.Second, To: 95 * time.Second, OpenEnd: true, Class: "call unknown", Label: "create, reply lost", Title: "unknown"}
	lane.Items = append(lane.Items, unknown)
	return Timeline{ID: "f", Label: "a figure", From: 0, To: 100 * time.Second, Width: width, Gutter: gutter, Lanes: []Lane{lane, {Key: "row", Name: "Row", BarHeight: 12}},
		Arrows: []Arrow{{At: 0, From: "op", To: "row", Lost: Reply}}, Focus: []Focus{{From: 99 * time.Second, To: 100 * time.Second, Label: "a violation with a long name"}}}
}

func TestTimelineStaysInItsFrameAndCountsWhatItHides(t *testing.T) {
	for _, size := range [][2]float64{{1160, 156}, {380, 0}} {
		d := timeline(size[0], size[1]).Draw()
		numbers := 0
		for _, s := range d.Shapes {
			if s.Kind == "rect" && (s.X < 0 || s.X+s.W > d.Width+0.1) {
				t.Errorf("%v wide: a bar from %v to %v", size[0], s.X, s.X+s.W)
			}
			if strings.Contains(s.Class, "label") && s.Anchor == "" && float64(s.X)+TextWidth(s.Text, fontSize) > float64(d.Width) {
				t.Errorf("%v wide: %q leaves the frame", size[0], s.Text)
			}
			if s.Class == "badge" {
				numbers++
			}
		}
		if numbers != 5 {
			t.Errorf("%v wide: %d of 5 numbers are drawn", size[0], numbers)
		}
		if d.Hidden == 0 {
			t.Errorf("%v wide: nothing is hidden", size[0])
		}
	}
}

func TestLostReplyEndsInACross(t *testing.T) {
	crosses := 0
	for _, s := range timeline(1160, 156).Draw().Shapes {
		if s.Class == "lost-cross" {
			crosses++
		}
	}
	if crosses != 1 {
		t.Errorf("%d crosses", crosses)
	}
}
