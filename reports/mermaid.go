package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/squall-chaos/squall/reports/figure"
)

// mermaid is the scene as a Gantt chart for places that draw Mermaid and nothing else.
func (s *scene) mermaid() string {
	if s.task == 0 {
		return ""
	}
	lines := []string{"gantt", "  dateFormat x", "  axisFormat %s s", "  title " + plain(s.taskWord()) + ", from " + seconds(s.from) + " to " + seconds(s.to)}
	for _, lane := range s.lanes(nil) {
		bars := s.mermaidBars(lane)
		if len(bars) > 0 {
			lines = append(lines, "  section "+plain(lane.Name))
			lines = append(lines, bars...)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// mermaidBars are the labelled bars of a lane, those of an overlap as critical ones.
func (s *scene) mermaidBars(lane figure.Lane) []string {
	const most = 12
	var bars []string
	for _, item := range lane.Items {
		label := item.Label
		if item.Class == "overlap" {
			label = "two executions"
		}
		if label == "" || item.Quiet || item.Dimension || len(bars) == most {
			continue
		}
		tag := ""
		switch {
		case item.Class == "overlap", item.OpenEnd:
			tag = "crit, "
		case item.Glyph != "":
			tag = "milestone, "
		}
		from, to := max(item.From, s.from), min(max(item.To, item.From), s.to)
		bars = append(bars, fmt.Sprintf("  %s :%s%d, %d", plain(label), tag, from.Milliseconds(), max(to, from+time.Millisecond).Milliseconds()))
	}
	return bars
}

// plain removes what Mermaid would read as syntax.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(":;#,\"`<>{}", r), r < ' ':
			return ' '
		}
		return r
	}, text)
}
