package figure

import (
	"strings"
	"testing"
)

func TestLinear(t *testing.T) {
	l := Linear{From: -0.4, To: 1.1, X0: 0, X1: 300}
	var labels []string
	for _, m := range l.Marks(60) {
		labels = append(labels, m.Label)
	}
	if got := strings.Join(labels, " "); got != "0.0 0.5 1.0" {
		t.Errorf("marks %q", got)
	}
	if x := l.X(-5); x != 0 {
		t.Errorf("what lies outside is drawn at %v", x)
	}
	if down := (Linear{From: 0, To: 10, X0: 200, X1: 0}); down.X(10) != 0 || down.X(0) != 200 {
		t.Error("an axis that goes up")
	}
	if (Linear{From: 1, To: 1, X1: 10}).Marks(5) != nil {
		t.Error("an axis without a length has marks")
	}
	for _, m := range (Linear{From: -30, To: 0, X0: 0, X1: 100}).Marks(30) {
		if m.Label == "-10" || m.Label == "−0" {
			t.Errorf("label %q", m.Label)
		}
	}
}
