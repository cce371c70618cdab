package environment

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// ExpectedSettings describes the value of the variable Settings.
func ExpectedSettings() string {
	return "one of the profiles " + strings.Join(dispatcher.Profiles(), ", ") + ", or all settings as JSON"
}

// EncodeSettings is the value of the variable Settings.
func EncodeSettings(s dispatcher.Settings) (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}

// DecodeSettings is the reverse of EncodeSettings, and knows the profiles by name. Values without a meaning are refused; those
// that do not fit together are what dispatcher.Settings.Check is for.
func DecodeSettings(text string) (dispatcher.Settings, error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		s, ok := dispatcher.Profile(text)
		if !ok {
			return s, errors.New("no such profile")
		}
		return s, nil
	}
	var s dispatcher.Settings
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, err
	}
	if d.More() {
		return s, errors.New("more than one value")
	}
	return s, meaningless(s)
}

// meaningless is an error if a value is out of its range.
func meaningless(s dispatcher.Settings) error {
	var all []string
	for _, f := range s.Check() {
		if f.Rule == "range" {
			all = append(all, f.String())
		}
	}
	if len(all) > 0 {
		return errors.New(strings.Join(all, "; "))
	}
	return nil
}

// Span is a duration, or a range of which each worker draws one.
type Span struct{ From, To time.Duration }

// ExpectedSpan describes the value of a variable that holds a Span.
const ExpectedSpan = "a duration like 3s, or a range like 45s-58s"

// DecodeSpan reads a Span.
func DecodeSpan(text string) (Span, error) {
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	from, err := time.ParseDuration(strings.TrimSpace(low))
	if err != nil {
		return Span{}, err
	}
	to, err := time.ParseDuration(strings.TrimSpace(high))
	if err != nil {
		return Span{}, err
	}
	if from < 0 || to < from {
		return Span{}, fmt.Errorf("a range from %s to %s", from, to)
	}
	return Span{from, to}, nil
}

// Draw is one duration of the span.
func (s Span) Draw() time.Duration {
	return s.From + time.Duration(rand.Int64N(int64(s.To-s.From)+1))
}
