package chain

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/chain/extract"
	"github.com/squall-chaos/squall/checker/strictyaml"
)

// unit is what a value is written in.
type unit string

// The units that are not a length of time by themselves.
const (
	unitDuration = "duration"
	unitISO      = "iso8601"
	unitCount    = "count"
	unitCron     = "cron"
	unitShortest = "cron-shortest"
	unitLongest  = "cron-longest"
)

var lengths = map[unit]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

func unitNames() []string {
	return []string{"ns", "us", "ms", "s", "m", "h", "d", unitDuration, unitISO, unitCount, unitCron, unitShortest, unitLongest}
}

// fieldUnits are those of fields whose unit Kubernetes or Argo has settled.
var fieldUnits = map[string]unit{
	"activeDeadlineSeconds": "s", "terminationGracePeriodSeconds": "s", "startingDeadlineSeconds": "s", "leaseDurationSeconds": "s",
	"backoffLimit": unitCount, "schedule": unitCron, "timeout": unitDuration,
}

func (u unit) isCount() bool { return u == unitCount }

// unitError is a value that does not fit its unit.
type unitError struct{ code, message, fix string }

func (e *unitError) Error() string { return e.message }

func misfit(fix, format string, args ...any) error {
	return &unitError{CodeUnit, fmt.Sprintf(format, args...), fix}
}

// quantity reads a value as it stands in a file.
func (u unit) quantity(text string) (Quantity, error) {
	text = strings.TrimSpace(text)
	switch u {
	case unitDuration:
		return durationQuantity(text)
	case unitISO:
		return isoQuantity(text)
	case unitCron, unitShortest, unitLongest:
		return u.period(text)
	}
	f, err := parseFormula(text)
	if err != nil || len(f.names()) > 0 {
		return Quantity{}, misfit("", "expected a number in %s, found %q", u.word(), strictyaml.Brief(text))
	}
	q, err := f.root.evaluate(nil)
	switch {
	case err != nil:
		return Quantity{}, misfit("", "%q: %s", strictyaml.Brief(text), err)
	case q.time != 0:
		return Quantity{}, misfit("unit: duration", "the value %q has a unit of its own, and the link says %s", strictyaml.Brief(text), u)
	case q.sign() < 0:
		return Quantity{}, misfit("", "the value %s is negative", strictyaml.Brief(text))
	}
	if !u.isCount() {
		return combine('*', q, lasting(lengths[u]))
	}
	if !q.value.IsInt() {
		return Quantity{}, misfit("", "expected a whole number, found %s", strictyaml.Brief(text))
	}
	return q, nil
}

func (u unit) word() string {
	if u.isCount() {
		return "whole numbers"
	}
	return string(u)
}

func durationQuantity(text string) (Quantity, error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil && text != "0" {
		return Quantity{}, misfit("unit: s, or whatever the number counts", "a duration needs a unit, found %s", strictyaml.Brief(text))
	}
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		return Quantity{}, misfit("", "expected a duration such as 90s or 2m30s, found %q", strictyaml.Brief(text))
	}
	if d < 0 || d > maxDuration {
		return Quantity{}, misfit("", "the duration %s is out of range", strictyaml.Brief(text))
	}
	return lasting(d), nil
}

var iso = regexp.MustCompile(`^P(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?$`)

func isoQuantity(text string) (Quantity, error) {
	m := iso.FindStringSubmatch(text)
	if m == nil || strings.Join(m[1:], "") == "" {
		return Quantity{}, misfit("", "expected a duration such as PT5M or PT1H30S, found %q", strictyaml.Brief(text))
	}
	sum := new(big.Rat)
	for i, seconds := range []int64{24 * 3600, 3600, 60, 1} {
		if r, ok := new(big.Rat).SetString(m[i+1]); ok {
			sum.Add(sum, r.Mul(r, big.NewRat(seconds, 1)))
		}
	}
	return Quantity{sum, 1}, nil
}

// period is the time from one moment of a schedule to the next. Where that differs the link has to say which it means.
func (u unit) period(text string) (Quantity, error) {
	shortest, longest, err := extract.Gaps(text)
	switch {
	case err != nil:
		return Quantity{}, &unitError{CodeSchedule, err.Error(), ""}
	case u == unitShortest:
		return lasting(shortest), nil
	case u == unitLongest || shortest == longest:
		return lasting(longest), nil
	}
	return Quantity{}, &unitError{CodeSchedule,
		fmt.Sprintf("the schedule %q has no one period: from one run to the next it is from %s to %s", strictyaml.Brief(text), durationText(shortest), durationText(longest)),
		"unit: cron-shortest, where the next run must not come too early, or cron-longest, where it must not come too late"}
}

// notation writes a quantity as whoever edits the file has to write it; "" where that is not known. Where it cannot be written
// exactly, it is rounded away from what is not allowed.
func (u unit) notation(q Quantity, up bool) string {
	switch {
	case u == unitDuration:
		return durationText(q.Duration())
	case u == unitCount:
		return whole(q.value, up)
	case lengths[u] > 0 && q.time == 1:
		return whole(new(big.Rat).Quo(q.value, lasting(lengths[u]).value), up)
	}
	return ""
}

// whole rounds to a whole number.
func whole(r *big.Rat, up bool) string {
	n, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if up && rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return n.String()
}

// asUnit is what a value could not be read for.
func asUnit(err error) *unitError {
	var u *unitError
	if errors.As(err, &u) {
		return u
	}
	return &unitError{CodeUnit, err.Error(), ""}
}
