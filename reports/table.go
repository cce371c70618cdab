package reports

import (
	"sort"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports/figure"
)

// tableRow is one mark of the timeline, in words.
type tableRow struct {
	Number int // of the moment; 0: none
	At     time.Duration
	Until  time.Duration // equal to At: a moment
	Where  string
	What   string
	Bad    bool
}

// table lists everything that the minimal timeline draws, in order of time.
func (s *scene) table(moments []moment) []tableRow {
	numbers := map[history.Seq]int{}
	bad := map[int]bool{}
	for _, m := range moments {
		numbers[m.Seq] = m.Number
		bad[m.Number] = m.Bad
	}
	rows := tableOf(s.lanes(numbers))
	for i := range rows {
		rows[i].Bad = bad[rows[i].Number]
	}
	return rows
}

// tableOf writes the marks of lanes as rows, in order of time.
func tableOf(lanes []figure.Lane) []tableRow {
	var rows []tableRow
	for _, lane := range lanes {
		for _, item := range lane.Items {
			if item.Title == "" {
				continue
			}
			rows = append(rows, tableRow{Number: item.Moment, At: item.From, Until: max(item.To, item.From), Where: lane.Name, What: item.Title})
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].At < rows[j].At })
	return rows
}

// Span writes from when to when.
func (r tableRow) Span() string {
	if r.Until == r.At {
		return figure.Precise(r.At)
	}
	return figure.Precise(r.At) + " – " + figure.Precise(r.Until)
}
