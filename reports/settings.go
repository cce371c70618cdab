package reports

import (
	"fmt"
	"reflect"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/reports/figure"
)

// settingsSection is every setting, the nested timeouts to scale, and what is wrong with them.
type settingsSection struct {
	Ladder   *figure.Drawing
	Rungs    []rung
	Findings []dispatcher.Finding
	Errors   int
	Rows     []fact
}

func (r *Run) settings() settingsSection {
	s := settingsSection{Findings: r.Settings.Check(), Rows: settingRows(r.Settings)}
	if r.Settings == (dispatcher.Settings{}) { // the harness failed before it knew them
		s.Findings = nil
		return s
	}
	for _, f := range s.Findings {
		if f.Severity == dispatcher.SeverityError {
			s.Errors++
		}
	}
	s.Rungs = rungs(r.Settings, s.Findings)
	s.Ladder = ladder(s.Rungs)
	return s
}

// settingRows lists the fields of a settings struct by their names in YAML.
func settingRows(settings any) []fact {
	var rows []fact
	v := reflect.ValueOf(settings)
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		if name == "" {
			continue
		}
		rows = append(rows, fact{name, settingWord(v.Field(i).Interface())})
	}
	return rows
}

func settingWord(value any) string {
	if d, ok := value.(time.Duration); ok {
		if d == 0 {
			return "none"
		}
		return seconds(d)
	}
	return fmt.Sprint(value)
}
