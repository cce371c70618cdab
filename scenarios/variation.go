package scenarios

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// Variation is one thing that may be otherwise in a variant of a scenario: a scenario that comes out as expected only at its exact
// figures has not been understood. A variant is the file with other values where those stand, so it is judged like any file, and
// its text is all that a bundle needs to run it again.
type Variation struct {
	Fields  []string `yaml:"fields" doc:"What is changed: fields of this file by their paths, as messages name them (\"faults[0].at\", \"tasks[1].count\", settings.tick). Each has a plain value there. All of them get the same."`
	Of      []Amount `yaml:"of,omitempty" doc:"Values to draw from."`
	Between []Amount `yaml:"between,omitempty" doc:"The least and the greatest value: two durations, or two whole numbers."`
	Shift   []string `yaml:"shift,omitempty" doc:"The least and the greatest time by which each field is moved, which may be negative; all are moved by the same, and none to before 0."`
}

// Amount is the plain value of a field, as a file has it.
type Amount string

func (s *source) amount(n ast.Node) Amount {
	switch n := n.(type) {
	case *ast.StringNode:
		return Amount(n.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return Amount(n.GetToken().Value)
	}
	strictyaml.Wrong(n, "a plain value", s.sink)
	return ""
}

// MaxVariants is the largest number that a variant has.
const MaxVariants = 10_000

// Varied returns the variant of that number, the same for each number at any time: 0 is the scenario as it is; in 1 everything has
// its least value, or the first of its list; in 2 its greatest, or the last; all further ones are drawn. A scenario without variations has
// no other variants than itself. The error is an *InputError behind the words that say which variant it is.
func (s *Scenario) Varied(number int) (*Scenario, error) {
	if number == 0 || len(s.Variants) == 0 {
		return s, nil
	}
	var edits []edit
	var drawn []string
	for i, v := range s.Variants {
		value := v.draw(number, stream(uint64(number), fmt.Sprintf("variation %d of %s", i+1, s.Name)))
		for _, field := range v.Fields {
			was, where, _ := s.source.written(field)
			e := edit{where, v.changed(was, value)}
			edits = append(edits, e)
			if !strings.HasPrefix(field, "expect.") { // what is expected follows from the others
				drawn = append(drawn, field+" "+e.text)
			}
		}
	}
	what := strings.Join(drawn, ", ")
	text := fmt.Sprintf("%s\n# variant %d: %s\n", strings.TrimRight(s.source.edited(edits), "\n"), number, what)
	varied, err := parse(s.source.file, []byte(text), s.source.strict)
	if err != nil {
		return nil, fmt.Errorf("variant %d of %s (%s): %w", number, s.Name, what, err)
	}
	varied.which = Which{number, what}
	return varied, nil
}

// Which is which variant of its file a scenario is: the zero Which is the file itself.
type Which struct {
	Number int
	Drawn  string // what was drawn, by field
}

// String names the variant; empty for the file itself.
func (w Which) String() string {
	if w.Number == 0 {
		return ""
	}
	return fmt.Sprintf("variant %d (%s)", w.Number, w.Drawn)
}

// Which returns which variant of its file the scenario is.
func (s *Scenario) Which() Which { return s.which }

// bound is a number, or a duration in nanoseconds.
type bound struct {
	value    int64
	isNumber bool
}

// bounds reads two durations or, where numbers may be, two whole numbers.
func bounds[S ~string](list []S, numbers bool) (lo, hi bound, err error) {
	if len(list) != 2 {
		return lo, hi, fmt.Errorf("expected the least and the greatest value, found %d values", len(list))
	}
	if lo, err = boundOf(string(list[0]), numbers); err != nil {
		return lo, hi, err
	}
	if hi, err = boundOf(string(list[1]), numbers); err == nil && (lo.isNumber != hi.isNumber || lo.value >= hi.value) {
		err = fmt.Errorf("from %s to %s is no range", brief(string(list[0])), brief(string(list[1])))
	}
	return lo, hi, err
}

func boundOf(text string, number bool) (bound, error) {
	want := "a duration"
	if number {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil && text != "0" {
			return bound{n, true}, nil
		}
		want = "a duration or a whole number above 0"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d > maxDuration || d < -maxDuration {
		return bound{}, fmt.Errorf("expected %s, found %q", want, brief(text))
	}
	return bound{int64(d), false}, nil
}

func (b bound) String() string {
	if b.isNumber {
		return strconv.FormatInt(b.value, 10)
	}
	return DurationText(time.Duration(b.value))
}

// draw is the new value, or for a shift the distance, of the variant of that number.
func (v Variation) draw(number int, random *rand.Rand) string {
	if v.Of != nil {
		return string(v.Of[[]int{0, 0, len(v.Of) - 1, random.IntN(len(v.Of))}[min(number, 3)]])
	}
	lo, hi, _ := bounds(v.Between, true) // both were validated
	if v.Between == nil {
		lo, hi, _ = bounds(v.Shift, false)
	}
	drawn := bound{lo.value + random.Int64N(hi.value-lo.value+1), lo.isNumber}
	if !drawn.isNumber {
		drawn.value = int64(time.Duration(drawn.value).Round(time.Millisecond))
	}
	return []bound{lo, lo, hi, drawn}[min(number, 3)].String()
}

// changed is the text that takes the place of what the file has.
func (v Variation) changed(was, drawn string) string {
	if v.Shift != nil {
		at, _ := time.ParseDuration(was) // both were validated
		by, _ := time.ParseDuration(drawn)
		return DurationText(max(at+by, 0))
	}
	if !bare.MatchString(drawn) {
		return strconv.Quote(drawn)
	}
	return drawn
}

// bare is what needs no quotes in YAML, wherever it stands, and means the same without them.
var bare = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9.]*$`)
