package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/reports/figure"
)

// Mermaid draws nothing of a text beyond 50,000 characters, and of many bars nothing that can be read.
const (
	mostMermaidBars  = 150
	mostMermaidLabel = 80 // characters
)

// mermaid is the scene as a Gantt chart for places that draw Mermaid and nothing else.
func (s *scene) mermaid() string {
	if s.task == 0 {
		return ""
	}
	lines := []string{"gantt", "  dateFormat x", "  axisFormat %s s", "  title " + plain(s.taskWord()) + ", from " + seconds(s.from) + " to " + seconds(s.to)}
	lanes := s.lanes(nil)
	bars, left := make([][]string, len(lanes)), mostMermaidBars
	for i, lane := range slices.Backward(lanes) { // the ground truth is below: where there is too much, processes go short
		bars[i] = s.mermaidBars(lane)
		bars[i] = bars[i][:min(len(bars[i]), left)]
		left -= len(bars[i])
	}
	for i, lane := range lanes {
		if len(bars[i]) > 0 {
			lines = append(append(lines, "  section "+plain(lane.Name)), bars[i]...)
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
		bar := fmt.Sprintf("  %s :%s%d, %d", barLabel(label), tag, from.Milliseconds(), max(to, from+time.Millisecond).Milliseconds())
		if !slices.Contains(bars, bar) { // an overlap is an item of each of its containers
			bars = append(bars, bar)
		}
	}
	return bars
}

// ganttWords begin a statement of a Gantt chart.
var ganttWords = []string{"section", "title", "dateformat", "axisformat", "tickinterval", "excludes", "includes", "todaymarker", "weekday", "weekend",
	"click", "inclusiveenddates", "topaxis", "displaymode", "acctitle", "accdescr", "gantt", "done", "active", "crit", "milestone", "vert"}

// barLabel is a label that Mermaid takes for nothing else.
func barLabel(text string) string {
	text = plain(text)
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	if slices.Contains(ganttWords, first) {
		return "· " + strings.TrimSpace(text)
	}
	return text
}

// plain removes what Mermaid would read as syntax, and what is too long for a label.
func plain(text string) string {
	if runes := []rune(text); len(runes) > mostMermaidLabel {
		text = string(runes[:mostMermaidLabel-1]) + "…"
	}
	text = strings.ReplaceAll(text, "%%", "% %") // begins a comment, or a directive
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(":;#,\"`<>{}", r), r < ' ':
			return ' '
		}
		return r
	}, text)
}
