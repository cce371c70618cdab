package environment_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// given is an environment.
func given(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestAllProblemsAreListedAtOnce(t *testing.T) {
	_, err := environment.Read(given(environment.Task, "a", environment.Token, "-1", environment.Work, "{"))
	var all environment.Problems
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var named []string
	for _, p := range all {
		named = append(named, p.Variable)
	}
	want := []string{environment.Token, environment.Workload, environment.Attempt, environment.Node, environment.Work}
	if !slices.Equal(named, want) {
		t.Errorf("named are %v, want %v", named, want)
	}
	if text := err.Error(); strings.Count(text, "\n") != 4 || !strings.Contains(text, `SQUALL_TOKEN: expected a fencing token, got "-1": `) {
		t.Error(text)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	r := environment.NewReader(given(environment.DatabaseURL, "hunter2"))
	r.Secret(environment.DatabaseURL, "a URL", func(s string) error { return errors.New("bad: " + s) })
	if err := r.Err(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

func TestSettings(t *testing.T) {
	b0, _ := dispatcher.Profile("b0")
	text, err := environment.EncodeSettings(b0)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"b0", text, "\n" + text + "\n"} {
		if got, err := environment.DecodeSettings(value); err != nil || got != b0 {
			t.Errorf("%.20q: %v, %+v", value, err, got)
		}
	}
	for value, says := range map[string]string{ // order does not matter
		"b1":             "no such profile",
		"{":              "unexpected EOF",
		`{"Tik": 1}`:     "Tik",
		text + text:      "more than one value",
		`{"Tick": "5s"}`: "Tick",
		strings.Replace(text, `"Tick":5000000000`, `"Tick":0`, 1): "tick is 0s",
	} {
		if _, err := environment.DecodeSettings(value); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: %v", value, err)
		}
	}
}

// Settings that do not fit together are somebody's purpose.
func TestSettingsThatDoNotFitAreTaken(t *testing.T) {
	s, _ := dispatcher.Profile("tick-300s")
	s.RecoveryGrace = s.WorkflowDeadline
	text, err := environment.EncodeSettings(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := environment.DecodeSettings(text); err != nil || got != s {
		t.Error(err)
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		text     string
		from, to time.Duration
	}{
		{"0s", 0, 0}, {"3s", 3 * time.Second, 3 * time.Second}, {"45s-58s", 45 * time.Second, 58 * time.Second}, {"1s - 2s", time.Second, 2 * time.Second},
	} {
		s, err := environment.DecodeSpan(c.text)
		if err != nil || s.From != c.from || s.To != c.to {
			t.Errorf("%s: %v, %v", c.text, s, err)
		}
		for range 100 {
			if d := s.Draw(); d < c.from || d > c.to {
				t.Fatalf("%s drew %s", c.text, d)
			}
		}
	}
	for _, text := range []string{"", "5", "-3s", "9s-3s", "3s-", "a-b"} {
		if s, err := environment.DecodeSpan(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
