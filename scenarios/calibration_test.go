package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

const measuredFile = `# what squall calibrate writes
apiVersion: squall/v1alpha1
kind: Calibration
measured: 412 pods
platform:
  scheduling: {exponential: 1.5s}
  image_pull: {percentiles: {0: 1s, 50: 4s, 100: 40s}}
  spot:
    image_pull: {weibull: {median: 7s, p99: 30s}}

settings: {node_grace: 46s}
run: {lognormal: {median: 45s, p99: 90s}}
`

// written puts files into a directory and returns its path.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestACalibrationFillsWhatIsLeftOut: from a file, and from the text that is kept of it, which needs no file.
func TestACalibrationFillsWhatIsLeftOut(t *testing.T) {
	text := strings.Replace(calm, "run: 60s", "run: measured", 1) + "platform: {scheduling: 20ms}\ncalibration: measured.yaml\n"
	dir := written(t, map[string]string{"s.yaml": text, "measured.yaml": measuredFile})
	fromFile, err := Load(filepath.Join(dir, "s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := Parse("bundle", fromFile.Text())
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Scenario{"from its file": fromFile, "from what is kept": kept} {
		c, err := s.Config(dispatcher.System{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		p := c.Platform
		switch {
		case p.Scheduling != clusters.Fixed(20*time.Millisecond):
			t.Errorf("%s: the scenario's own scheduling became %+v", name, p.Scheduling)
		case p.ImagePull.Shape != clusters.EmpiricalShape || p.On(clusters.Spot).ImagePull.A != 7*time.Second || p.On(clusters.OnDemand).ImagePull.Shape != clusters.EmpiricalShape:
			t.Errorf("%s: image pull %+v, on spot %+v", name, p.ImagePull, p.On(clusters.Spot).ImagePull)
		case p.Startup != ordinary.Startup:
			t.Errorf("%s: what was not measured is %+v, not the ordinary", name, p.Startup)
		case c.Settings.NodeGrace != 46*time.Second:
			t.Errorf("%s: node_grace is %s", name, c.Settings.NodeGrace)
		case s.Tasks[0].Run.A != 45*time.Second:
			t.Errorf("%s: the run is %+v", name, s.Tasks[0].Run)
		}
	}
	if err := compiled(t).Validate(document(t, fromFile.Text())); err != nil {
		t.Errorf("the schema refuses what is kept: %v", err)
	}
	if err := compiled(t).Validate(document(t, []byte(text))); err != nil {
		t.Errorf("the schema refuses the scenario: %v", err)
	}
}

// TestTheScenarioGoesFirst: what it says of all machines goes before what was measured on one type.
func TestTheScenarioGoesFirst(t *testing.T) {
	text := calm + "platform: {image_pull: 1s}\nsettings: {node_grace: 50s}\n"
	file := filepath.Join(written(t, map[string]string{"m.yaml": measuredFile}), "m.yaml")
	s, _, err := Calibrated("s.yaml", []byte(text), file, true)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Config(dispatcher.System{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Platform.On(clusters.Spot).ImagePull; got != clusters.Fixed(time.Second) || c.Settings.NodeGrace != 50*time.Second {
		t.Errorf("image pull on spot is %+v, node_grace %s", got, c.Settings.NodeGrace)
	}
	again, _, err := Calibrated("s.yaml", s.Text(), file, true)
	if err != nil || string(again.Text()) != string(s.Text()) && strings.Count(string(again.Text()), "kind: Calibration") != 1 {
		t.Errorf("a second calibration does not take the first one's place: %v\n%s", err, again.Text())
	}
}

func TestBadCalibrations(t *testing.T) {
	dir := written(t, map[string]string{"bad.yaml": strings.Replace(measuredFile, "exponential", "exponental", 1), "other.yaml": calm, "good.yaml": measuredFile})
	for name, c := range map[string]struct{ calibration, want string }{
		"not there":       {"calibration: gone.yaml", "gone.yaml:1:1: SQ119 there is no such file"},
		"its own mistake": {"calibration: bad.yaml", `bad.yaml:6:16: SQ109 unknown distribution "exponental"`},
		"a scenario":      {"calibration: other.yaml", "other.yaml:"},
		"a wrong type":    {"calibration: [good.yaml]", "s.yaml:10:14: SQ105"},
		"no run":          {"calibration: {platform: {scheduling: 1s}}", "s.yaml:8:33: SQ109 the run time is that of a calibration"},
	} {
		path := filepath.Join(dir, "s.yaml")
		text := strings.Replace(calm, "run: 60s", "run: measured", 1) + c.calibration + "\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", name, err, c.want)
		}
	}
	if _, err := Parse("x", []byte(calm+"calibration: good.yaml\n")); err == nil || !strings.Contains(err.Error(), "SQ119 a calibration cannot be in a file of its own here") {
		t.Errorf("a scenario without a file names one: %v", err)
	}
}

// TestDistributionsAreWrittenAsTheyAreRead, so that what is written can be taken.
func TestDistributionsAreWrittenAsTheyAreRead(t *testing.T) {
	for _, text := range []string{"1.5s", "{uniform: [1s, 2s]}", "{exponential: 3s}", "{exponential: {mean: 3s, max: 9s}}", "{lognormal: {median: 1s, p99: 4s}}",
		"{weibull: {median: 1s, p99: 4s}}", "{percentiles: {0: 1ms, 99.9: 4s, 100: 5s}}"} {
		s, err := Parse("x", []byte(strings.Replace(calm, "run: 60s", "run: "+text, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := DistText(s.Tasks[0].Run); got != text {
			t.Errorf("%s is written as %s", text, got)
		}
	}
}

// TestAClusterMayBeTooSlowForTheSettings: the finding stands where the number was measured, and what is kept of a run that was told
// other settings can be read again.
func TestAClusterMayBeTooSlowForTheSettings(t *testing.T) {
	slow := "apiVersion: squall/v1alpha1\nkind: Calibration\n\nsettings:\n  node_provisioning: 9m\n"
	file := filepath.Join(written(t, map[string]string{"m.yaml": slow}), "m.yaml")
	_, text, err := Calibrated("s.yaml", []byte(calm), file, true)
	if err == nil || !strings.Contains(err.Error(), "m.yaml:5:22: SQ202 node_provisioning") || !strings.Contains(err.Error(), "5 |   node_provisioning: 9m") {
		t.Errorf("the finding is\n%v", err)
	}
	if _, err := Parse("bundle", text); err != nil {
		t.Errorf("what is kept cannot be read: %v", err)
	}
	if _, err := Parse("bundle", []byte(calm+"settings: {node_provisioning: 9m}\n")); err == nil {
		t.Error("settings of the scenario's own that do not nest are let through")
	}
}
