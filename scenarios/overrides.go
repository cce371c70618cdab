package scenarios

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/strictyaml"
	"github.com/squall-chaos/squall/dispatcher"
)

// Override is one setting that differs from the profile's.
type Override struct {
	Name     string        // as in the yaml tags of dispatcher.Settings
	Duration time.Duration // for a setting that is a duration
	Number   int           // for one that is a number
}

// Overrides are the settings that differ from the profile's, in the order of the file.
type Overrides []Override

// ParseOverride reads "name=value", as the command line takes it.
func ParseOverride(text string) (Override, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return Override{}, fmt.Errorf("%q is not NAME=VALUE", text)
	}
	s := newSource("--set", value)
	root := s.parse(value)
	if root == nil {
		return Override{}, fmt.Errorf("%q has no value", text)
	}
	o, known := s.override(name, root)
	if !known {
		return Override{}, fmt.Errorf("unknown setting %q: %s", name, nearestSetting(name))
	}
	if len(s.problems) > 0 {
		return Override{}, fmt.Errorf("setting %s: %s", name, s.problems[0].Message)
	}
	return o, nil
}

// String is what ParseOverride reads.
func (o Override) String() string {
	if isDuration(o.Name) {
		return o.Name + "=" + o.Duration.String()
	}
	return fmt.Sprintf("%s=%d", o.Name, o.Number)
}

// IsDuration tells whether the setting is a duration.
func (o Override) IsDuration() bool { return isDuration(o.Name) }

// Apply returns the settings with the overrides in place.
func (os Overrides) Apply(to dispatcher.Settings) dispatcher.Settings {
	v := reflect.ValueOf(&to).Elem()
	for _, o := range os {
		for _, f := range fieldsOf(v.Type()) {
			if f.Name != o.Name {
				continue
			}
			if field := v.FieldByIndex(f.Index); field.Type() == durationType {
				field.SetInt(int64(o.Duration))
			} else {
				field.SetInt(int64(o.Number))
			}
		}
	}
	return to
}

// OverridesTo are overrides that make any profile into the settings.
func OverridesTo(s dispatcher.Settings) Overrides {
	var all Overrides
	v := reflect.ValueOf(s)
	for _, f := range fieldsOf(v.Type()) {
		o := Override{Name: f.Name}
		switch value := v.FieldByIndex(f.Index).Interface().(type) {
		case time.Duration:
			o.Duration = value
		case int:
			o.Number = value
		}
		all = append(all, o)
	}
	return all
}

// isDuration tells whether the setting is a duration.
func isDuration(name string) bool {
	t := reflect.TypeFor[dispatcher.Settings]()
	for _, f := range fieldsOf(t) {
		if f.Name == name {
			return t.FieldByIndex(f.Index).Type == durationType
		}
	}
	return false
}

// SettingNames lists the names of all settings.
func SettingNames() []string {
	return strictyaml.Names(fieldsOf(reflect.TypeFor[dispatcher.Settings]()))
}

// spoken are the words that the field's environments use, and the settings that they mean. They are no synonyms: a
// setting has one name, and whoever writes another is told it.
var spoken = map[string]string{
	"claim_batch_limit":    "claim_batch",
	"recovery_batch_limit": "recover_batch",
	"recovery_grace":       "recovery_grace",
}

// nearestSetting suggests the setting that was probably meant, or lists them all.
func nearestSetting(name string) string {
	if meant, ok := spoken[strings.ToLower(strings.TrimSpace(name))]; ok {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return strictyaml.Suggest(name, SettingNames(), "the settings are ", allSettings)
}

// allSettings is room for the names of all settings: whoever guessed wrongly has no other list at hand.
const allSettings = 100

func (s *source) overrides(n ast.Node, path string) Overrides {
	values, ok := strictyaml.Entries(n)
	if !ok {
		strictyaml.Wrong(n, "a mapping of settings", s.sink)
		return nil
	}
	names := strictyaml.Keys(values, s.sink)
	var out Overrides
	for _, e := range values {
		name, ok := names[e]
		if !ok {
			continue
		}
		before := len(s.problems)
		o, known := s.override(name, e.Value)
		if len(s.problems) > before {
			s.broken[path] = true // settings of which one is not known cannot be judged
		}
		if !known {
			s.add(strictyaml.At(e.Key.GetToken()), CodeSetting, nearestSetting(name), "unknown setting %q", brief(name))
			continue
		}
		s.values[join(path, name)] = strictyaml.Of(e.Value)
		out = append(out, o)
	}
	return out
}

func (s *source) override(name string, n ast.Node) (Override, bool) {
	t := reflect.TypeFor[dispatcher.Settings]()
	for _, f := range fieldsOf(t) {
		if f.Name != name {
			continue
		}
		if t.FieldByIndex(f.Index).Type == durationType {
			return Override{Name: name, Duration: s.duration(n, false)}, true
		}
		return Override{Name: name, Number: strictyaml.Whole(n, s.sink)}, true
	}
	return Override{}, false
}
