package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// rule is a clusters.Rule with its count.
type rule struct {
	clusters.Rule
	seen int
}

// Intercept applies the rule to matching calls until remove is called. Calls are judged when they are
// submitted: one that was submitted before goes on as if nothing had happened.
func (c *Cluster) Intercept(r clusters.Rule) (remove func()) {
	entry := &rule{Rule: r}
	c.rules = append(c.rules, entry)
	if entry.outage() {
		c.absent(+1)
	}
	return func() {
		before := len(c.rules)
		c.rules = slices.DeleteFunc(c.rules, func(r *rule) bool { return r == entry })
		if len(c.rules) < before && entry.outage() {
			c.absent(-1)
		}
	}
}

// outage tells whether the rule takes the API server away from everybody: then kubelets and controllers
// have none either.
func (r *rule) outage() bool {
	all := r.Process == "" && r.Node == "" && r.Verb == 0 && r.Task == "" && r.Nth == 0 && (r.Share <= 0 || r.Share >= 1)
	return all && (r.Port == clusters.API || r.Port == "") && (r.Action == clusters.Refuse || r.Action == clusters.Drop)
}

// fate is what the rules have decided about a call.
type fate struct {
	action clusters.Action // empty: it goes its way
	delay  time.Duration   // Late: until it takes effect
	slow   time.Duration   // on top of its way to the server
	rule   *rule
}

// judge asks every rule about the call. Delays add up; the first other action that strikes decides.
func (c *Cluster) judge(call *call) fate {
	var f fate
	for _, r := range c.rules {
		if f.action != "" && r.Action != clusters.Slow || !r.strikes(c, call) {
			continue
		}
		if r.Hit != nil {
			r.Hit()
		}
		if r.Action == clusters.Slow {
			f.slow += r.Delay.Draw(c.chance)
			continue
		}
		f.action, f.rule = r.Action, r
		if r.Action == clusters.Late {
			f.delay = r.Delay.Draw(c.chance)
		}
	}
	return f
}

// strikes counts the call, when it matches, and tells whether the rule takes it.
func (r *rule) strikes(c *Cluster, call *call) bool {
	if !r.matches(call) {
		return false
	}
	r.seen++
	if r.Nth > 0 && r.seen != r.Nth {
		return false
	}
	return r.Share <= 0 || r.Share >= 1 || c.chance.Float64() < r.Share
}

func (r *rule) matches(call *call) bool {
	return (r.Port == "" || r.Port == call.port.name || r.Port == clusters.API && call.port.name == clusters.Lease) &&
		(r.Verb == 0 || r.Verb == call.verb) &&
		(r.Process == "" || matchName(r.Process, call.by.name)) &&
		(r.Node == "" || r.Node == call.by.node) &&
		(r.Task == "" || r.Task == call.task)
}

// matchName matches a name, or a prefix followed by *.
func matchName(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
