package reports

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters/calibration"
	"github.com/squall-chaos/squall/clusters/calibration/dumps"
	"github.com/squall-chaos/squall/clusters/calibration/dumps/synthetic"
	"github.com/squall-chaos/squall/scenarios"
)

// sampleCalibration has all that a calibration may have: what fits, what does not, and too little. To fit it takes seconds.
func sampleCalibration(t testing.TB) *Calibration {
	t.Helper()
	c, err := calibrated()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var calibrated = sync.OnceValues(func() (*Calibration, error) {
	truth := synthetic.Standard()
	var text bytes.Buffer
	if err := synthetic.Write(&text, truth, synthetic.Options{Seed: 4, Pods: 90, New: 24, Lost: 6, Deadline: 150 * time.Second}); err != nil {
		return nil, err
	}
	c := dumps.NewCluster("", "")
	if err := c.Read("dump.json", text.Bytes()); err != nil {
		return nil, err
	}
	s := calibration.NewSamples()
	c.Measure(s, dumps.Selection{})
	for i := range 120 { // fast and slow, and nothing between
		s.Add(calibration.APILatency, "", calibration.Sample{Value: time.Duration(4+i%7) * time.Millisecond})
		s.Add(calibration.APILatency, "", calibration.Sample{Value: time.Duration(900+i) * time.Millisecond})
	}
	return &Calibration{Version: "v0.1.0", Sources: []string{"dump.json"}, Until: c.Latest(), Read: "228 pods", Nodes: "4 on-demand, 4 spot", Findings: calibration.Survey(s)}, nil
})

func TestCalibrationOutputs(t *testing.T) {
	c := sampleCalibration(t)
	var text, profile bytes.Buffer
	if err := c.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteProfile(&profile); err != nil {
		t.Fatal(err)
	}
	golden(t, "calibration.txt", text.Bytes())
	golden(t, "calibration.yaml", profile.Bytes())
	read, err := scenarios.ParseCalibration("measured.yaml", profile.Bytes())
	if err != nil {
		t.Fatalf("scenarios do not take what was written: %v", err)
	}
	for _, f := range c.Findings {
		if f.Measure == calibration.ImagePull && read.Platform.ImagePull != f.All.Dist && read.Platform.Spot.ImagePull == read.Platform.OnDemand.ImagePull {
			t.Errorf("image pull is read as %+v, and was %+v", read.Platform, f.All.Dist)
		}
	}
}

// TestCalibrationWithTooLittle says so, and offers nothing to take.
func TestCalibrationWithTooLittle(t *testing.T) {
	s := calibration.NewSamples()
	s.Add(calibration.Run, "", calibration.Sample{Value: time.Second})
	c := &Calibration{Version: "v0.1.0", Sources: []string{"tiny.json"}, Read: "1 pod", Findings: calibration.Survey(s)}
	if c.Usable() {
		t.Error("one sample is enough")
	}
	var page bytes.Buffer
	if err := c.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, needed := range []string{"Too little data", "too few: 1 of the 20 that a fit needs"} {
		if !strings.Contains(page.String(), needed) {
			t.Errorf("the page does not say %q", needed)
		}
	}
	if strings.Contains(page.String(), `download="measured.yaml"`) {
		t.Error("the page offers a file for scenarios")
	}
}

func TestTheCalibrationInABrowser(t *testing.T) {
	var page bytes.Buffer
	if err := sampleCalibration(t).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 1<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
	onScreens(t, "calibration", page.Bytes(), true)
	t.Run("without script", func(t *testing.T) {
		p := open(t, page.Bytes(), screen{width: 1280, height: 900, scheme: "light", noScript: true})
		text := strings.ReplaceAll(eval[string](p, "document.body.innerText"), "\u00a0", " ")
		for _, needed := range []string{"Measured in part", "on-demand", "too few: 6 of the 20", "Kolmogorov", "store_latency", "measured.yaml"} {
			if !strings.Contains(text, needed) {
				t.Errorf("without script the page does not say %q", needed)
			}
		}
		curves := eval[int](p, `document.querySelectorAll("svg.figure path.measured").length`)
		fitted := eval[int](p, `document.querySelectorAll("svg.figure path.fitted:not(.refused)").length`)
		if curves < 20 || fitted < 14 {
			t.Errorf("%d measured curves, %d fitted", curves, fitted)
		}
	})
}
