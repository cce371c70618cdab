package scenarios

import (
	"reflect"
	"strings"

	"github.com/squall-chaos/squall/dispatcher"
)

// VariantKind is what every settings file says that it is.
const VariantKind = "Settings"

// Variant is one settings file: what `squall compare` sets beside others. It says nothing of workload and faults, which are those of
// the scenarios that it is run under.
type Variant struct {
	APIVersion string    `yaml:"apiVersion" doc:"Version of the language: squall/v1alpha1."`
	Kind       string    `yaml:"kind" doc:"Always Settings."`
	Name       string    `yaml:"name" doc:"Short name in lower case, words joined by hyphens; what reports call the settings."`
	Summary    string    `yaml:"summary,omitempty" doc:"What is special about them, in one sentence."`
	Profile    string    `yaml:"profile,omitempty" doc:"The profile to start from; the scenario's own settings when left out."`
	Settings   Overrides `yaml:"settings,omitempty" doc:"Settings that differ from that."`
	SpotShare  *float64  `yaml:"spot_share,omitempty" doc:"Which share of the machines in the scenario's spot groups is spot, from 0 to 1; the others are on-demand. 1 when left out."`
}

// ParseVariant reads a settings file. The name is what errors call the file. The error is an *InputError.
func ParseVariant(name string, data []byte) (*Variant, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
	src := newSource(name, text)
	root := src.parse(text)
	if root == nil {
		return nil, src.err()
	}
	v := &Variant{}
	src.decode(root, slot{value: reflect.ValueOf(v).Elem()})
	v.validate(src)
	if err := src.err(); err != nil {
		return nil, err
	}
	return v, nil
}

// LoadVariant reads the settings file of that path.
func LoadVariant(path string) (*Variant, error) {
	data, err := readLimited(path)
	if err != nil {
		return nil, err
	}
	return ParseVariant(path, data)
}

func (v *Variant) validate(src *source) {
	if src.full() {
		return
	}
	bad := func(path, code, fix, format string, args ...any) {
		if src.has(path) && !src.broken[path] {
			src.add(src.place(path), code, fix, format, args...)
		}
	}
	if v.APIVersion != APIVersion {
		bad("apiVersion", CodeVersion, "write "+APIVersion, "unknown apiVersion %q", brief(v.APIVersion))
	}
	switch {
	case v.Kind == Kind:
		bad("kind", CodeVersion, "name it with --scenario, and give settings files (kind: Settings) as arguments",
			"this is a scenario; settings are to be compared")
	case v.Kind != VariantKind:
		bad("kind", CodeVersion, "write "+VariantKind, "unknown kind %q", brief(v.Kind))
	}
	if !label.MatchString(v.Name) {
		bad("name", CodeName, "", "%q is no name: use lower-case letters, digits and hyphens, at most 48", brief(v.Name))
	}
	if _, ok := dispatcher.Profile(v.Profile); !ok {
		bad("profile", CodeProfile, nearest(v.Profile, dispatcher.Profiles(), "there are "), "unknown profile %q", brief(v.Profile))
	}
	if v.SpotShare != nil && !(*v.SpotShare >= 0 && *v.SpotShare <= 1) {
		bad("spot_share", CodeRange, "", "expected a share from 0 to 1, found %g", *v.SpotShare)
	}
}

// With is the scenario under other settings. An empty profile leaves the scenario's own settings below the overrides. Settings that
// do not nest are run: to see what they lead to is what they are compared for.
func (s *Scenario) With(profile string, settings Overrides) *Scenario {
	changed := *s
	changed.Settings = append(Overrides{}, s.Settings...)
	if profile != "" {
		changed.Profile, changed.Settings = profile, nil
	}
	changed.Settings = append(changed.Settings, settings...)
	changed.UnsafeSettings = "these settings are compared with others"
	return &changed
}
