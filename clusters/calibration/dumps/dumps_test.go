package dumps

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/calibration"
	"github.com/squall-chaos/squall/clusters/calibration/dumps/synthetic"
)

func dump(t testing.TB, truth synthetic.Truth, o synthetic.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := synthetic.Write(&b, truth, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, texts ...[]byte) *Cluster {
	t.Helper()
	c := NewCluster("", "")
	for _, text := range texts {
		if err := c.Read("dump.json", text); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func measured(c *Cluster) *calibration.Samples {
	s := calibration.NewSamples()
	c.Measure(s, Selection{})
	return s
}

// TestADumpGivesTheTruthBack draws a cluster from known distributions and finds each again, rounded stamps, deadlines and
// unfinished work notwithstanding.
func TestADumpGivesTheTruthBack(t *testing.T) {
	truth := synthetic.Standard()
	s := measured(read(t, dump(t, truth, synthetic.Options{Seed: 3, Pods: 400, New: 150, Lost: 60, Deadline: 150 * time.Second})))
	for _, kind := range []clusters.CapacityType{clusters.OnDemand, clusters.Spot} {
		platform := truth.Platform.On(kind)
		for measure, want := range map[calibration.Measure]clusters.Dist{
			calibration.Scheduling: platform.Scheduling, calibration.ImagePull: platform.ImagePull, calibration.Startup: platform.Startup,
			calibration.Run: truth.Run, calibration.Shutdown: platform.Shutdown, calibration.Provisioning: platform.Provisioning,
			calibration.NotReady: truth.NotReady,
		} {
			r := calibration.Judge(measure, kind, s.Of(measure, kind))
			if !r.Usable() {
				t.Errorf("%s on %s: %s: %s", measure, kind, r.Status, r.Why)
				continue
			}
			tolerance := 0.12 + 1.5/math.Sqrt(float64(r.Ended))
			for _, p := range []float64{0.5, 0.9} {
				got, due := quantileOf(r.Dist, p), quantileOf(want, p)
				if math.Abs(got-due) > tolerance*due {
					t.Errorf("%s on %s: percentile %.0f is %.2f s, in truth %.2f s (%s of %d)", measure, kind, 100*p, got, due, r.Family, r.Ended)
				}
			}
		}
	}
}

// quantileOf is by many draws.
func quantileOf(d clusters.Dist, p float64) float64 {
	switch d.Shape {
	case clusters.ExponentialShape:
		return -d.A.Seconds() * math.Log(1-p)
	case clusters.UniformShape:
		return d.A.Seconds() + p*(d.B-d.A).Seconds()
	case clusters.LogNormalShape:
		z := map[float64]float64{0.5: 0, 0.9: 1.2816}[p]
		return d.A.Seconds() * math.Exp(z*math.Log(d.B.Seconds()/d.A.Seconds())/2.3263)
	case clusters.WeibullShape:
		k := math.Log(math.Log(100)/math.Ln2) / math.Log(d.B.Seconds()/d.A.Seconds())
		return d.A.Seconds() * math.Pow(-math.Log(1-p)/math.Ln2, 1/k)
	case clusters.EmpiricalShape:
		for _, c := range *d.Curve {
			if c.Percent >= 100*p {
				return c.At.Seconds()
			}
		}
	}
	return d.A.Seconds()
}

// TestAPlantedErrorIsNoticed: with the deadline's kills taken for ends, or the pull left in the start, the truth is missed by far.
func TestAPlantedErrorIsNoticed(t *testing.T) {
	truth := synthetic.Standard()
	text := dump(t, truth, synthetic.Options{Seed: 3, Pods: 400, Deadline: 100 * time.Second})
	forged := bytes.ReplaceAll(text, []byte(`"exitCode": 143`), []byte(`"exitCode": 0`))
	honest := calibration.Judge(calibration.Run, clusters.Spot, measured(read(t, text)).Of(calibration.Run, clusters.Spot))
	wrong := calibration.Judge(calibration.Run, clusters.Spot, measured(read(t, forged)).Of(calibration.Run, clusters.Spot))
	due := quantileOf(truth.Run, 0.9)
	if got := quantileOf(honest.Dist, 0.9); !honest.Usable() || math.Abs(got-due) > 0.12*due {
		t.Errorf("%s: percentile 90 is %.1f s, in truth %.1f s", honest.Status, got, due)
	}
	if got := quantileOf(wrong.Dist, 0.9); wrong.Usable() && math.Abs(got-due) < 0.2*due {
		t.Errorf("kills taken for ends are not noticed: %.1f s", got)
	}
}

func TestDumpsMayComeInParts(t *testing.T) {
	whole := dump(t, synthetic.Standard(), synthetic.Options{Seed: 5, Pods: 12})
	want := measured(read(t, whole)).Count()
	if got := measured(read(t, whole, whole)).Count(); got != want {
		t.Errorf("the same dump twice gives %d samples, once %d", got, want)
	}
	if got := measured(read(t, append(append([]byte{}, whole...), whole...))).Count(); got != want {
		t.Errorf("two lists in a row give %d samples, one %d", got, want)
	}
	if want < 12*2*3 {
		t.Errorf("only %d samples of 24 pods", want)
	}
}

const (
	podJSON = `{"kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"1","creationTimestamp":"2026-01-31T10:00:00Z"%s},"spec":{"restartPolicy":"Never","nodeName":"x","containers":[{"name":"c"}]},"status":{"phase":"%s","containerStatuses":[{"name":"c","restartCount":0,"state":%s}]}}`
	started = `"startedAt":"2026-01-31T10:00:05Z"`
)

func pod1(meta, phase, state string) string {
	return strings.Replace(strings.Replace(strings.Replace(podJSON, "%s", meta, 1), "%s", phase, 1), "%s", state, 1)
}

// TestAWatchTellsALife: the same pod several times, at last as it is deleted.
func TestAWatchTellsALife(t *testing.T) {
	deleted := `,"deletionTimestamp":"2026-01-31T10:01:30Z","deletionGracePeriodSeconds":30`
	text := pod1("", "Pending", `{}`) + "\n" + pod1("", "Running", `{"running":{`+started+`}}`) + "\n" +
		`{"type":"MODIFIED","object":` + pod1(deleted, "Running", `{"running":{`+started+`}}`) + "}\n" +
		`{"type":"DELETED","object":` + pod1(deleted, "Failed", `{"terminated":{"exitCode":143,"finishedAt":"2026-01-31T10:01:04Z",`+started+`}}`) + "}\n" +
		`{"type":"BOOKMARK","object":{"kind":"Pod"}}`
	s := measured(read(t, []byte(text)))
	if got := s.All(calibration.Shutdown); len(got) != 1 || got[0].Value != 4*time.Second || got[0].AtLeast {
		t.Errorf("shutdown: %+v, want 4s: deleted at 10:01:30 less 30 s of grace, gone at 10:01:04", got)
	}
	if got := s.All(calibration.Run); len(got) != 1 || got[0].Value != 59*time.Second || !got[0].AtLeast {
		t.Errorf("run: %+v, want at least 59s", got)
	}
}

func TestTypedListsAndServices(t *testing.T) {
	text := `{"kind":"PodList","items":[` + strings.Replace(pod1("", "Running", `{"running":{`+started+`}}`), `"kind":"Pod",`, "", 1) + `]}
{"kind":"List","items":[{"kind":"Service","metadata":{"name":"s"},"spec":{"containers":7}}]}`
	c := read(t, []byte(text))
	if c.Counts["Pod"] != 1 || c.Skipped["Service"] != 1 {
		t.Errorf("read %v, skipped %v", c.Counts, c.Skipped)
	}
}

func TestCapacityTypes(t *testing.T) {
	c := NewCluster("mine", "cheap")
	for _, x := range []struct {
		key, value, provider string
		want                 clusters.CapacityType
	}{
		{"karpenter.sh/capacity-type", "spot", "", clusters.Spot}, {"karpenter.sh/capacity-type", "reserved", "", clusters.OnDemand},
		{"eks.amazonaws.com/capacityType", "ON_DEMAND", "", clusters.OnDemand}, {"eks.amazonaws.com/capacityType", "SPOT", "", clusters.Spot},
		{"cloud.google.com/gke-spot", "true", "gce://x", clusters.Spot}, {"kubernetes.io/hostname", "a", "gce://x", clusters.OnDemand},
		{"kubernetes.azure.com/scalesetpriority", "spot", "azure://x", clusters.Spot}, {"a", "b", "azure://x", clusters.OnDemand},
		{"a", "b", "aws://x", ""},
	} {
		if got := NewCluster("", "").capacityType(map[string]string{x.key: x.value}, x.provider); got != x.want {
			t.Errorf("%s=%s from %q: %q, want %q", x.key, x.value, x.provider, got, x.want)
		}
	}
	if got := c.capacityType(map[string]string{"mine": "cheap"}, ""); got != clusters.Spot {
		t.Errorf("the user's own mark: %q", got)
	}
}

func TestPullTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`Successfully pulled image "a/b:1" in 1.5s (3.25s including waiting). Image size: 10 bytes.`: 3250 * time.Millisecond,
		`Successfully pulled image "a" in 1m2.5s`:                                                    62500 * time.Millisecond,
		`Container image "a" already present on machine`:                                             -1,
		`Successfully pulled image "a" in soon`:                                                      -1,
	} {
		got, ok := pullTime(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestBadDumps: what is wrong is said, and where.
func TestBadDumps(t *testing.T) {
	good := dump(t, synthetic.Standard(), synthetic.Options{Seed: 1, Pods: 2})
	list := `{"kind":"List","items":[` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {" \n", `:1:1: SQ411 the file is empty`},
		"cut off":        {string(good[:len(good)*2/3]), `SQ412 the JSON ends here in the middle: the file is cut off`},
		"no JSON":        {"{\n  \"kind\": \"List\",\n  oops\n}", `:3:3: SQ412 invalid character 'o'`},
		"table":          {"NAME   READY\na      1/1", `SQ411 the file is a table for people`},
		"yaml":           {"apiVersion: v1\nkind: List", `SQ411 the file is YAML`},
		"utf-16":         {"\xff\xfe{\x00", `SQ411 the file is UTF-16`},
		"a list of JSON": {"[1]", `:1:1: SQ411 expected an object of Kubernetes, found "[1]"`},
		"other kind":     {`{"kind":"Deployment","metadata":{"name":"d"}}`, `:1:1: SQ411 expected a list, a pod, a node, an event or a lease, found kind "Deployment"`},
		"no kind":        {`{"a":1}`, `SQ411 the object has no kind`},
		"an error":       {`{"kind":"Status","message":"forbidden"}`, `the server answered with an error instead of a list: forbidden`},
		"no name":        {list + `  {"kind":"Pod"}]}`, `:2:3: SQ411 the pod has no name`},
		"a bad time":     {list + `{"kind":"Pod","metadata":{"name":"a","creationTimestamp":"yesterday"}}]}`, `:2:1: SQ411 expected a time such as 2026-01-31T10:00:00Z, found "yesterday"`},
		"a wrong field":  {list + `{"kind":"Pod","metadata":{"name":"a"},"status":{"phase":7}}]}`, `:2:57: SQ411 field status.phase: expected text, found number`},
		"items no list":  {`{"kind":"List","items":{}}`, `:1:24: SQ411 items is no list`},
		"trailing":       {string(good) + "}", `SQ412 invalid character '}'`},
	} {
		err := NewCluster("", "").Read("dump.json", []byte(c.text))
		var p *Problem
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "dump.json:") {
			t.Errorf("%s:\n got %v\nwant %s", name, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(dump(f, synthetic.Standard(), synthetic.Options{Seed: 1, Pods: 2, New: 1, Lost: 1}))
	f.Add([]byte(`{"type":"ADDED","object":` + pod1("", "Running", `{"running":{`+started+`}}`) + `}`))
	f.Add([]byte(`{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := NewCluster("", "")
		err := c.Read("dump.json", text)
		var p *Problem
		if err != nil && (!errors.As(err, &p) || p.Line < 1 || p.Col < 1 || p.Message == "") {
			t.Fatalf("%v", err)
		}
		all := measured(c)
		for _, m := range calibration.Measures() {
			for _, s := range all.All(m) {
				if s.Value < 0 {
					t.Fatalf("%s: %+v", m, s)
				}
			}
		}
	})
}

// TestMutilatedDumps: whatever is cut off or changed, the answer is samples or a place.
func TestMutilatedDumps(t *testing.T) {
	good := dump(t, synthetic.Standard(), synthetic.Options{Seed: 1, Pods: 1, New: 1, Lost: 1})
	for i := 0; i < len(good); i += 61 {
		cut := good[:i]
		flipped := bytes.Clone(good)
		flipped[i] = `{}[]":,0x`[i%9]
		for _, text := range [][]byte{cut, flipped} {
			c := NewCluster("", "")
			var p *Problem
			if err := c.Read("dump.json", text); err != nil && (!errors.As(err, &p) || p.Line < 1 || p.Col < 1) {
				t.Fatalf("byte %d: %v", i, err)
			}
			measured(c)
		}
		if err := NewCluster("", "").Read("dump.json", cut); err == nil && len(bytes.TrimSpace(good[i:])) > 0 {
			t.Fatalf("cut off after %d bytes, and nobody minds", i)
		}
	}
}
