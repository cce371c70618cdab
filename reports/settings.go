package reports

import (
	"fmt"
	"reflect"
	"time"

	"github.com/squall-chaos/squall/reports/figure"
)

// settingsSection is every setting, and the nested timeouts to scale.
type settingsSection struct {
	Ladder *figure.Drawing
	Rungs  []rung
	Broken []rung
	Rows   []fact
}

func (r *Run) settings() settingsSection {
	s := settingsSection{Rungs: rungs(r.Settings), Rows: settingRows(r.Settings)}
	for _, one := range s.Rungs {
		if one.Broken {
			s.Broken = append(s.Broken, one)
		}
	}
	if len(s.Rungs) > 1 {
		s.Ladder = ladder(s.Rungs)
	}
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
