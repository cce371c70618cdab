package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// fixedFields make a scenario the one that it is.
var fixedFields = []string{"apiVersion", "kind", "name", "summary", "control", "calibration"}

// validateVariants reports variations that could not be made. Whether a variant makes sense is judged when it is made.
func (s *Scenario) validateVariants() {
	varied := map[string]bool{}
	for i := range s.Variants {
		path := fmt.Sprintf("variants[%d]", i)
		s.validateVariation(path, &s.Variants[i])
		for n, field := range s.Variants[i].Fields {
			at := fmt.Sprintf("%s.fields[%d]", path, n)
			if varied[field] {
				s.bad(at, CodeDuplicate, "", "%q is varied already", brief(field))
			}
			varied[field] = true
			s.validateVaried(at, field, s.Variants[i].Shift != nil)
		}
	}
}

func (s *Scenario) validateVariation(path string, v *Variation) {
	forms := 0
	for _, form := range []string{"of", "between", "shift"} {
		if s.set(path + "." + form) {
			forms++
		}
	}
	switch {
	case forms != 1:
		s.empty(path, CodeVariation, "give one of `of`, `between` and `shift`", "expected one way to draw a value, found %d", forms)
	case v.Of != nil && len(v.Of) < 2:
		s.bad(path+".of", CodeVariation, "", "of %d values none can be another one", len(v.Of))
	case v.Between != nil:
		if _, _, err := bounds(v.Between, true); err != nil {
			s.bad(path+".between", CodeVariation, "", "%s", err)
		}
	case v.Shift != nil:
		if _, _, err := bounds(v.Shift, false); err != nil {
			s.bad(path+".shift", CodeVariation, "", "%s", err)
		}
	}
	if s.set(path+".fields") && len(v.Fields) == 0 {
		s.bad(path+".fields", CodeVariation, "", "no field is varied")
	}
}

// validateVaried reports a field that cannot be varied.
func (s *Scenario) validateVaried(at, field string, shifted bool) {
	value, _, plain := s.source.written(field)
	switch {
	case slices.Contains(fixedFields, field) || len(field) >= len("variants") && field[:len("variants")] == "variants":
		s.bad(at, CodeVariation, "", "%s makes the scenario what it is, and cannot be varied", brief(field))
	case !s.set(field):
		s.bad(at, CodeVariation, strictyaml.Suggest(field, s.source.paths(), "", 0), "this file does not set %s", brief(field))
	case !plain:
		s.bad(at, CodeVariation, "", "%s has no plain value in this file, which another could take the place of", brief(field))
	case shifted:
		if _, err := time.ParseDuration(value); err != nil {
			s.bad(at, CodeVariation, "", "%s is %q: only a time can be moved", brief(field), brief(value))
		}
	}
}

// paths are those of all fields that the file sets, in order.
func (s *source) paths() []string {
	all := slices.Sorted(maps.Keys(s.values))
	return slices.DeleteFunc(all, func(path string) bool { return path == "" })
}
