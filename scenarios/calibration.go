package scenarios

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/strictyaml"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// CalibrationKind is the kind of the files that `squall calibrate` writes.
const CalibrationKind = "Calibration"

// Calibration is what was measured on a real cluster: it takes the place of the ordinary values, and of the profile's settings that
// describe a cluster. What a scenario says itself goes before.
type Calibration struct {
	APIVersion string        `yaml:"apiVersion,omitempty" doc:"Version of the language: squall/v1alpha1."`
	Kind       string        `yaml:"kind,omitempty" doc:"Always Calibration."`
	Measured   string        `yaml:"measured,omitempty" doc:"What it was measured on, in words."`
	Platform   Platform      `yaml:"platform,omitempty" doc:"How fast the platform is."`
	Settings   Overrides     `yaml:"settings,omitempty" doc:"Settings that describe the cluster: node_grace, node_provisioning, cold_pull."`
	Run        clusters.Dist `yaml:"run,omitempty" doc:"How long the work takes: what run: measured of a group of tasks means."`
}

var calibrationType = reflect.TypeFor[Calibration]()

// measuredWord as the run of a group of tasks means the calibration's.
const measuredWord = "measured"

// calibration reads what stands under the key: what was measured, or the file that has it.
func (s *source) calibration(n ast.Node, to slot) {
	if text, ok := strictyaml.Text(n); ok {
		s.calibrationFile = text
		return
	}
	s.structure(n, to)
}

// calibrate lets the calibration fill what the scenario leaves out. It comes after decoding and before any judgement.
func (s *Scenario) calibrate() {
	c := &s.Calibration
	if s.set("calibration.apiVersion") && c.APIVersion != APIVersion {
		s.bad("calibration.apiVersion", CodeVersion, "write "+APIVersion, "unknown apiVersion %q", brief(c.APIVersion))
	}
	if s.set("calibration.kind") && c.Kind != CalibrationKind {
		s.bad("calibration.kind", CodeVersion, "write "+CalibrationKind, "unknown kind %q", brief(c.Kind))
	}
	for _, o := range c.Settings {
		if !slices.ContainsFunc(s.Settings, func(own Override) bool { return own.Name == o.Name }) {
			s.Settings = append(s.Settings, o)
		}
	}
	s.Platform = s.Platform.over(c.Platform)
	for _, path := range s.source.measured {
		var i int
		if _, err := fmt.Sscanf(path, "tasks[%d]", &i); err != nil || i >= len(s.Tasks) {
			continue
		}
		if c.Run.Shape == clusters.NotSet && s.source.calibrationFile == "" {
			s.bad(path, CodeDistribution, "name one that has a run: calibration: measured.yaml, or --calibration", "the run time is that of a calibration, and there is none with a run time")
			s.source.broken[path] = true
		}
		s.Tasks[i].Run = c.Run
	}
}

// over fills what the platform leaves out from a measured one. What a scenario says of all machines goes before what was measured
// on those of one type.
func (p Platform) over(measured Platform) Platform {
	p.OnDemand, p.Spot = p.machine(p.OnDemand, measured.OnDemand), p.machine(p.Spot, measured.Spot)
	own, other := reflect.ValueOf(&p).Elem(), reflect.ValueOf(measured)
	for i := range own.NumField() {
		if d, ok := own.Field(i).Interface().(clusters.Dist); ok {
			own.Field(i).Set(reflect.ValueOf(d.Or(other.Field(i).Interface().(clusters.Dist))))
		}
	}
	return p
}

func (p Platform) machine(own, measured Machine) Machine {
	pick := func(general, own, measured clusters.Dist) clusters.Dist {
		if general.Shape != clusters.NotSet {
			return own
		}
		return own.Or(measured)
	}
	return Machine{ImagePull: pick(p.ImagePull, own.ImagePull, measured.ImagePull), Startup: pick(p.Startup, own.Startup, measured.Startup),
		Shutdown:     pick(p.Shutdown, own.Shutdown, measured.Shutdown),
		Provisioning: pick(p.Provisioning, own.Provisioning, measured.Provisioning)}
}

// ParseCalibration reads a calibration. The error is an *InputError.
func ParseCalibration(name string, data []byte) (*Calibration, error) {
	text := plainText(data)
	src := newSource(name, text)
	c := &Calibration{}
	if root := src.parse(text); root != nil {
		src.decode(root, slot{value: reflect.ValueOf(c).Elem()})
		for _, f := range []struct{ path, got, want string }{{"apiVersion", c.APIVersion, APIVersion}, {"kind", c.Kind, CalibrationKind}} {
			if f.got != f.want && !src.broken[f.path] {
				src.add(src.place(f.path), CodeVersion, "`squall calibrate` writes such files", "expected %s: %s, found %q", f.path, f.want, brief(f.got))
			}
		}
	}
	if err := src.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// Calibrated is the text of a scenario with a calibration file put in the place of the one that it has, if any, and the scenario
// that it makes. The text needs no other file. Strict is to refuse settings that do not nest with those that were measured.
func Calibrated(name string, text []byte, file string, strict bool) (*Scenario, []byte, error) {
	data, err := readLimited(file)
	if err != nil {
		return nil, nil, err
	}
	if _, err := ParseCalibration(file, data); err != nil {
		return nil, nil, err
	}
	whole, first := withCalibration(plainText(text), file, plainText(data))
	s, err := parse(name, []byte(whole), strict)
	var bad *InputError
	if errors.As(err, &bad) {
		for i := range bad.Problems {
			if p := &bad.Problems[i]; p.Line >= first { // it stands in the calibration's own file
				p.File, p.Line, p.Col = file, p.Line-first+1, max(p.Col-2, 1)
				p.Excerpt = newSource(file, plainText(data)).excerpt(spot{Line: p.Line, Col: p.Col, Width: p.width})
			}
		}
	}
	return s, []byte(whole), err
}

// measuredSetting tells whether a setting of the calibration takes part in the finding.
func (s *Scenario) measuredSetting(f dispatcher.Finding) bool {
	return slices.ContainsFunc(s.Calibration.Settings, func(o Override) bool {
		return strings.Contains(f.Left.Name, o.Name) || strings.Contains(f.Right.Name, o.Name)
	})
}

// Text is what the scenario was parsed from, a calibration file that it names included.
func (s *Scenario) Text() []byte { return []byte(strings.Join(s.source.lines, "\n")) }

func plainText(data []byte) string { return strictyaml.Plain(data) }

// withCalibration puts a calibration at the end of a scenario's text; lines before keep their numbers. First is the number of the
// line that the calibration's own first line has there.
func withCalibration(text, file, calibration string) (whole string, first int) {
	lines := strings.Split(text, "\n")
	inside := false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "calibration:"):
			inside = true
			lines[i] = "# calibration: at the end"
		case inside && (strings.TrimSpace(line) == "" || line[0] == ' ' || line[0] == '#'):
			lines[i] = ""
		default:
			inside = false
		}
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	lines = append(lines, "calibration: # "+strings.ReplaceAll(filepath.Base(file), "\n", " "))
	first = len(lines) + 1
	for _, line := range strings.Split(strings.TrimRight(calibration, " \n"), "\n") {
		if strings.HasPrefix(line, "---") || strings.TrimSpace(line) == "" {
			line = ""
		} else {
			line = "  " + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n", first
}
