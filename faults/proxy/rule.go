package proxy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// Rule is a clusters.Rule as it goes over the wire, and what only a proxy can do. Empty selectors match everything.
type Rule struct {
	Port    clusters.Port   `json:"port,omitempty"`
	Process string          `json:"process,omitempty"` // name, or a prefix followed by *
	Verb    string          `json:"verb,omitempty"`    // a history.Verb, or Commit
	Task    string          `json:"task,omitempty"`
	Nth     int             `json:"nth,omitempty"`   // only the nth matching call since the rule was armed; 0: every one
	Share   float64         `json:"share,omitempty"` // of the matching calls, drawn from the seed; 0: all
	Seed    uint64          `json:"seed,omitempty"`
	Action  clusters.Action `json:"action"`
	Delay   Delay           `json:"delay,omitzero"`
	Hold    bool            `json:"hold,omitempty"` // slow: until the rule is disarmed, instead of a delay
	Code    string          `json:"code,omitempty"` // a history.Code, of an answer

	// Of answers on the API port: the HTTP status instead of the code's usual one, a Retry-After header, and whether the
	// request takes effect all the same. The last two together make client-go send a POST again that was applied.
	Status     int   `json:"status,omitempty"`
	RetryAfter Delay `json:"retryAfter,omitzero"`
	Applied    bool  `json:"applied,omitempty"`
}

// Commit as the verb of a rule for the store matches every transaction that may have written, whoever tagged it: those that are
// told to COMMIT, and single statements that do not begin with SELECT or the like.
const Commit = "commit"

// Delay is a distribution as text: "2s", "uniform 1s 3s", "exponential 1s 10s", "log-normal 1s 5s", "weibull 1s 5s" (median and 99th
// percentile), or "percentiles 0 1s 50 2s 100 9s".
type Delay clusters.Dist

var shapes = map[string]clusters.Shape{
	"uniform": clusters.UniformShape, "exponential": clusters.ExponentialShape, "log-normal": clusters.LogNormalShape,
	"weibull": clusters.WeibullShape,
}

// IsZero tells that no delay is set.
func (d Delay) IsZero() bool { return d.Shape == clusters.NotSet }

func (d Delay) draw(r *rand.Rand) time.Duration { return clusters.Dist(d).Draw(r) }

// MarshalText is the inverse of UnmarshalText.
func (d Delay) MarshalText() ([]byte, error) {
	if d.Shape == clusters.FixedShape {
		return []byte(d.A.String()), nil
	}
	if d.Shape == clusters.EmpiricalShape {
		return d.marshalCurve(), nil
	}
	for name, shape := range shapes { // order does not matter: the shapes differ
		if shape == d.Shape {
			return fmt.Appendf(nil, "%s %s %s", name, d.A, d.B), nil
		}
	}
	return nil, nil
}

// UnmarshalText reads what the type's comment says.
func (d *Delay) UnmarshalText(text []byte) error {
	*d = Delay{}
	words := strings.Fields(string(text))
	if len(words) > 0 && words[0] == percentiles {
		return d.unmarshalCurve(words[1:])
	}
	switch len(words) {
	case 0:
		return nil
	case 1:
		words = []string{"", words[0], words[0]}
	case 3:
	default:
		return fmt.Errorf("%q is no delay; write 2s, or uniform 1s 3s", text)
	}
	shape, known := shapes[words[0]]
	if words[0] == "" {
		shape, known = clusters.FixedShape, true
	}
	if !known {
		return unknown("shape", words[0], []string{"uniform", "exponential", "log-normal", "weibull", percentiles})
	}
	a, err := time.ParseDuration(words[1])
	if err != nil {
		return fmt.Errorf("%q is no duration; write 1.5s", words[1])
	}
	b, err := time.ParseDuration(words[2])
	if err != nil {
		return fmt.Errorf("%q is no duration; write 1.5s", words[2])
	}
	switch {
	case a < 0 || b < 0:
		return fmt.Errorf("a delay of %s is negative", text)
	case (shape == clusters.LogNormalShape || shape == clusters.WeibullShape) && (a == 0 || b < a):
		return fmt.Errorf("%q: the median is above zero, and the 99th percentile not below it", text)
	case shape == clusters.UniformShape && b < a:
		return fmt.Errorf("%q: the second duration is the longer one", text)
	}
	if shape == clusters.FixedShape {
		b = 0
	}
	*d = Delay{Shape: shape, A: a, B: b}
	return nil
}

// RuleOf is the rule as a proxy takes it. A proxy does not see on which node a caller is, and how long a crashed caller stays away is
// for those to say who start it again.
func RuleOf(r clusters.Rule, seed uint64) (Rule, error) {
	if r.Node != "" {
		return Rule{}, fmt.Errorf("a proxy cannot tell the calls made from node %s; select the process or the task", r.Node)
	}
	out := Rule{Port: r.Port, Process: r.Process, Task: r.Task, Nth: r.Nth, Share: r.Share, Seed: seed, Action: r.Action,
		Applied: r.Applied}
	if r.Action == clusters.Late || r.Action == clusters.Slow {
		out.Delay = Delay(r.Delay)
	}
	if r.RetryAfter != 0 {
		out.RetryAfter = Delay(clusters.Fixed(r.RetryAfter))
	}
	if r.Verb != 0 {
		out.Verb = r.Verb.String()
	}
	if r.Action == clusters.Answer {
		out.Code = r.Code.String()
		if r.Code == history.NoCode {
			out.Code = history.Internal.String()
		}
	}
	return out, out.Check()
}

var (
	ports   = []string{string(clusters.API), string(clusters.Lease), string(clusters.Store)}
	actions = []string{
		string(clusters.Refuse), string(clusters.Drop), string(clusters.LoseReply), string(clusters.CutReply), string(clusters.CutCall),
		string(clusters.Late), string(clusters.Slow), string(clusters.Answer), string(clusters.CrashCaller),
	}
)

// Check says everything that is wrong with the rule, as Problems.
func (r Rule) Check() error {
	var p Problems
	if r.Port != "" && !slices.Contains(ports, string(r.Port)) {
		p.add("port", unknown("port", string(r.Port), ports))
	}
	if !slices.Contains(actions, string(r.Action)) {
		p.add("action", unknown("action", string(r.Action), actions))
	}
	if r.Verb != "" && r.Verb != Commit {
		if _, err := history.ParseVerb(r.Verb); err != nil {
			p.add("verb", err)
		}
	}
	if i := strings.IndexByte(r.Process, '*'); i >= 0 && i < len(r.Process)-1 {
		p.addf("process", "%q: a * stands at the end only", r.Process)
	}
	if r.Nth < 0 {
		p.addf("nth", "%d is negative; 1 is the first", r.Nth)
	}
	if !(r.Share >= 0 && r.Share <= 1) {
		p.addf("share", "%v is not between 0 and 1", r.Share)
	}
	if (r.Action == clusters.Late || r.Action == clusters.Slow && !r.Hold) == r.Delay.IsZero() {
		p.addf("delay", "it goes with the actions late and slow, which need one, unless a slow one holds")
	}
	if r.Hold && r.Action != clusters.Slow {
		p.addf("hold", "it goes with the action slow")
	}
	r.checkAnswer(&p)
	return p.err()
}

func (r Rule) checkAnswer(p *Problems) {
	if r.Action != clusters.Answer {
		if r.Code != "" || r.Status != 0 || !r.RetryAfter.IsZero() || r.Applied {
			p.addf("code", "code, status, retryAfter and applied go with the action answer")
		}
		return
	}
	code, err := history.ParseCode(r.Code)
	switch {
	case err != nil:
		p.add("code", err)
	case r.Port != clusters.Store && apiAnswers[code].status == 0:
		p.addf("code", "the API server has no answer that says %s; it has %s", r.Code, words(apiAnswers))
	case (r.Port == clusters.Store || r.Port == "") && storeAnswers[code].sqlstate == "":
		p.addf("code", "Postgres has no error that says %s; it has %s", r.Code, words(storeAnswers))
	}
	if r.Status != 0 && (r.Status < 400 || r.Status > 599) {
		p.addf("status", "%d is not between 400 and 599", r.Status)
	}
	if r.Port == clusters.Store && (r.Status != 0 || !r.RetryAfter.IsZero() || r.Applied) {
		p.addf("status", "status, retryAfter and applied are of the API server's answers")
	}
}

// words lists the codes that have an answer.
func words[T any](answers map[history.Code]T) string {
	var all []string
	for code := range answers { // order does not matter: sorted
		all = append(all, code.String())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// takesAll tells that the rule strikes every call of its process and port, as an outage does.
func (r Rule) takesAll() bool {
	return r.Verb == "" && r.Task == "" && r.Nth == 0 && (r.Share == 0 || r.Share == 1)
}

// shuts tells that nobody may connect to the port any more.
func (r Rule) shuts(port clusters.Port) bool {
	return r.Action == clusters.Refuse && r.takesAll() && r.Process == "" && (r.Port == port || r.Port == "")
}

// severs tells that connections and streams of the process to the port end, and none come about.
func (r Rule) severs(port clusters.Port, process string) bool {
	return (r.Action == clusters.Refuse || r.Action == clusters.Drop) && r.takesAll() && matchName(r.Process, process) && r.covers(port)
}

// covers tells that the rule is for calls of the port. A rule for the API takes the leases along.
func (r Rule) covers(port clusters.Port) bool {
	return r.Port == "" || r.Port == port || r.Port == clusters.API && port == clusters.Lease
}

func (r Rule) matches(c *call) bool {
	verb := r.Verb == "" || r.Verb == c.verb || r.Verb == Commit && c.commits
	return verb && r.covers(c.port) && matchName(r.Process, c.process) && (r.Task == "" || r.Task == c.task)
}

// matchName matches a name, or a prefix followed by *. An empty pattern matches every name.
func matchName(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == "" || pattern == name
}
