package experiment

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAxes(t *testing.T) {
	a, err := ParseAxis("recovery_grace=240s..6m:30s")
	if err != nil || a.From != int64(240*time.Second) || a.To != int64(360*time.Second) || a.steps() != 5 || a.Tick() != int64(time.Second) || a.Text(a.To) != "360s" {
		t.Errorf("%+v %v", a, err)
	}
	for text, says := range map[string]string{
		"recovery_grace=240s":           "is not NAME=FROM..TO:STEP",
		"recovery_grace=240s..600s":     "is not NAME=FROM..TO:STEP",
		"recovery_grace=600s..240s:30s": "the range is empty: it ends at 240s, before it begins at 600s; swap the two",
		"recovery_grace=240s..240s:30s": "the range is empty: it begins and ends at 240s",
		"recovery_grace=240s..600s:0s":  "a step is more than nothing",
		"recovery_grace=240s..600s:20m": "a step of 1200s is longer than the range",
		"recovery_grace=240s..600s:1ms": "a range has at most 10000",
		"recovery_graze=240s..600s:30s": `did you mean "recovery_grace"?`,
		"recovery_grace=240..600s:30s":  `the range begins at "240": setting recovery_grace: a duration needs a unit`,
		"claim_batch=1s..5:1":           `the range begins at "1s"`,
		"spot_share=0..2:0.5":           "expected a share from 0 to 1",
		"=1..2:1":                       "is not NAME",
		"recovery_grace=-5s..600s:30s":  "negative",
		"RECOVERY_BATCH_LIMIT=1..50:1":  `did you mean "recover_batch"?`,
	} {
		if _, err := ParseAxis(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzParseAxis(f *testing.F) {
	f.Add("recovery_grace=240s..600s:30s")
	f.Add("claim_batch=1..50:7")
	f.Add("spot_share=0..1:0.25")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAxis(text)
		if err != nil {
			return
		}
		if a.Step <= 0 || a.To <= a.From || a.steps() < 2 || a.last() > a.To {
			t.Errorf("%s: %+v", text, a)
		}
	})
}

func TestASampleFillsTheSpace(t *testing.T) {
	var axes []Axis
	for _, text := range []string{"recovery_grace=240s..600s:10s", "workflow_deadline=200s..300s:10s", "claim_batch=1..50:1", "spot_share=0..1:0.1"} {
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		axes = append(axes, a)
	}
	s := Sweep{Axes: axes, Points: 64}
	points := s.points()
	if len(points) != 64 {
		t.Fatalf("%d points", len(points))
	}
	for i, a := range axes {
		quarters := [4]int{}
		for _, p := range points {
			if p[i] < a.From || p[i] > a.To || (p[i]-a.From)%a.Step != 0 {
				t.Errorf("%s is %d", a.Name, p[i])
			}
			quarters[min(3, 4*(p[i]-a.From)/(a.To-a.From))]++
		}
		if slices.Min(quarters[:]) < 10 {
			t.Errorf("%s: %v points in its quarters", a.Name, quarters)
		}
	}
	if grid := (Sweep{Axes: axes[:1], Points: 64}).points(); len(grid) != 37 || grid[36][0] != axes[0].To {
		t.Errorf("a grid that is small enough is run whole: %d points", len(grid))
	}
}

func TestCheckAxes(t *testing.T) {
	a, _ := ParseAxis("recovery_grace=240s..600s:30s")
	if err := CheckAxes([]Axis{a, a}); err == nil {
		t.Error("the same one twice")
	}
	if err := CheckAxes(make([]Axis, 5)); err == nil {
		t.Error("five of them")
	}
}
