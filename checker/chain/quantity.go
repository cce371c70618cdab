package chain

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Quantity is a number with a dimension: a count, a duration, or a rate. It is exact, so that equality means something.
type Quantity struct {
	value *big.Rat // of a duration: seconds
	time  int      // power of time: 0 a number, 1 a duration, -1 a rate
}

func number(n int64) Quantity { return Quantity{big.NewRat(n, 1), 0} }

func lasting(d time.Duration) Quantity {
	return Quantity{big.NewRat(int64(d), int64(time.Second)), 1}
}

// IsDuration tells whether the quantity is a length of time.
func (q Quantity) IsDuration() bool { return q.time == 1 }

// Duration is the quantity as a length of time, rounded to nanoseconds, within what a time.Duration can hold.
func (q Quantity) Duration() time.Duration {
	if q.value == nil || q.time != 1 {
		return 0
	}
	seconds, _ := q.value.Float64()
	if limit := float64(maxDuration / time.Second); seconds > limit || seconds < -limit {
		return maxDuration * time.Duration(q.value.Sign())
	}
	nanos := new(big.Rat).Mul(q.value, big.NewRat(int64(time.Second), 1))
	return time.Duration(new(big.Int).Quo(nanos.Num(), nanos.Denom()).Int64())
}

// Number is a count as an integer, rounded towards zero.
func (q Quantity) Number() int {
	if q.value == nil {
		return 0
	}
	n := new(big.Int).Quo(q.value.Num(), q.value.Denom())
	if !n.IsInt64() {
		return 0
	}
	return int(n.Int64())
}

// maxDuration is longer than any timeout.
const maxDuration = 100 * 365 * 24 * time.Hour

// String writes a duration as people do, 240s or 1h30m; a count and a rate as numbers.
func (q Quantity) String() string {
	switch {
	case q.value == nil:
		return "?"
	case q.time == 0:
		return decimal(q.value)
	case q.time == -1:
		return q.value.FloatString(3) + "/s"
	case q.time != 1:
		return fmt.Sprintf("%s s^%d", decimal(q.value), q.time)
	}
	d := q.Duration()
	if d < 0 {
		return "-" + durationText(-d)
	}
	return durationText(d)
}

// durationText writes whole seconds up to ten minutes as such: that is how timeouts are spoken of.
func durationText(d time.Duration) string {
	if d%time.Second == 0 && d <= 10*time.Minute {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(6), "0")
}

// dimension names what a quantity is.
func (q Quantity) dimension() string {
	switch q.time {
	case 0:
		return "a number"
	case 1:
		return "a duration"
	case -1:
		return "a rate"
	}
	return fmt.Sprintf("a quantity in s^%d", q.time)
}

func (q Quantity) sign() int { return q.value.Sign() }

// cmp compares two quantities of one dimension.
func (q Quantity) cmp(o Quantity) int { return q.value.Cmp(o.value) }

// maxBits keeps the terms of a fraction within reason: a formula has a handful of numbers of a few digits.
const maxBits = 4096

func (q Quantity) checked() (Quantity, error) {
	if q.value.Num().BitLen() > maxBits || q.value.Denom().BitLen() > maxBits {
		return q, fmt.Errorf("the numbers grow beyond all reason")
	}
	return q, nil
}

// combine applies an operator of a formula.
func combine(op byte, a, b Quantity) (Quantity, error) {
	r := new(big.Rat)
	switch op {
	case '+', '-':
		if a.time != b.time {
			return a, fmt.Errorf("%s and %s cannot be %s", a.dimension(), b.dimension(), map[byte]string{'+': "added", '-': "subtracted"}[op])
		}
		if op == '+' {
			return Quantity{r.Add(a.value, b.value), a.time}.checked()
		}
		return Quantity{r.Sub(a.value, b.value), a.time}.checked()
	case '*':
		return Quantity{r.Mul(a.value, b.value), a.time + b.time}.checked()
	}
	if b.sign() == 0 {
		return a, fmt.Errorf("division by zero")
	}
	return Quantity{r.Quo(a.value, b.value), a.time - b.time}.checked()
}
