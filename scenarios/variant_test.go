package scenarios_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/scenarios"
)

const goodVariant = `apiVersion: squall/v1alpha1
kind: Settings
name: grace-240s
profile: tick-300s
settings: {recovery_grace: 240s, claim_batch: 10}
spot_share: 0.5
`

func TestVariants(t *testing.T) {
	v, err := scenarios.ParseVariant("a.yaml", []byte(goodVariant))
	if err != nil {
		t.Fatal(err)
	}
	s := named(t, "swarm-standard").With(v.Profile, v.Settings)
	settings, err := s.DispatcherSettings()
	if err != nil || settings.RecoveryGrace != 240*time.Second || settings.ClaimBatch != 10 || *v.SpotShare != 0.5 {
		t.Errorf("%v %+v", err, settings)
	}
	for _, c := range []struct{ from, to, says string }{
		{"kind: Settings", "kind: Scenario", `a.yaml:2:7: SQ103 this is a scenario`},
		{"kind: Settings", "kind: Setting", `a.yaml:2:7: SQ103 unknown kind "Setting"`},
		{"recovery_grace", "recovery_graze", `a.yaml:5:12: SQ201 unknown setting "recovery_graze"`},
		{": 240s", ": -240s", `a.yaml:5:28: SQ108 the duration -240s is negative`},
		{"tick-300s", "tick-30s", `a.yaml:4:10: SQ203 unknown profile "tick-30s"`},
		{"0.5", "1.5", `a.yaml:6:13: SQ110 expected a share from 0 to 1, found 1.5`},
		{"spot_share", "spot_shares", `a.yaml:6:1: SQ104 unknown field "spot_shares"`},
		{"name: grace-240s", "name: Grace", `a.yaml:3:7: SQ111 "Grace" is no name`},
		{"name: grace-240s\n", "", `SQ107 missing: "name"`},
		{goodVariant, "", "SQ113"},
	} {
		_, err := scenarios.ParseVariant("a.yaml", []byte(strings.Replace(goodVariant, c.from, c.to, 1)))
		var input *scenarios.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s -> %s: %v", c.from, c.to, err)
		}
	}
}

// TestVariantSchema: what the schema takes and refuses is what the parser does.
func TestVariantSchema(t *testing.T) {
	text, err := scenarios.VariantSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"spot_share"`, `"recovery_grace"`, `"Settings"`, `"additionalProperties": false`, `"tick-300s"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing from\n%s", want, text)
		}
	}
}

func FuzzVariant(f *testing.F) {
	f.Add(goodVariant)
	f.Add("apiVersion: squall/v1alpha1\nkind: Settings\nname: a\nspot_share: .nan\n")
	f.Add("{kind: Settings, settings: [1]}")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := scenarios.ParseVariant("fuzz.yaml", []byte(text))
		var input *scenarios.InputError
		switch {
		case err != nil && !errors.As(err, &input):
			t.Errorf("no position: %v", err)
		case err == nil && (v.Name == "" || v.SpotShare != nil && !(*v.SpotShare >= 0 && *v.SpotShare <= 1)):
			t.Errorf("%+v", v)
		}
	})
}
