package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// String is the fault in one plain sentence, without a full stop.
func (f Fault) String() string {
	switch f.Kind {
	case NodeKill:
		return fmt.Sprintf("%s is switched off%s", f.node(), f.span())
	case NodeRemove:
		return fmt.Sprintf("%s is removed for good", f.node())
	case NodePartition:
		return fmt.Sprintf("%s is cut off from %s%s, its containers live on", f.node(), portNames(f.cutPorts()), f.span())
	case SpotReclaim:
		return fmt.Sprintf("%s is reclaimed with %s notice", f.node(), words(f.Notice))
	case PodEvict:
		return fmt.Sprintf("the pod of %s is evicted", f.task())
	case PodRemove:
		return fmt.Sprintf("the pod object of %s is removed by force", f.task())
	case PodRelabel:
		return fmt.Sprintf("the labels of the pod of %s are edited, so that selectors miss it", f.task())
	case ContainerKill:
		return fmt.Sprintf("the container of %s is killed", f.task())
	case RunTime:
		return fmt.Sprintf("the work of %s takes %s%s", f.task(), words(f.Run), f.spanOf("in attempts that start"))
	case SchedulingHold:
		return fmt.Sprintf("no pod is bound to a node%s", f.span())
	}
	if f.Kind == Call {
		return f.callPhrase()
	}
	return f.systemPhrase()
}

func (f Fault) systemPhrase() string {
	switch f.Kind {
	case ProcessCrash:
		return fmt.Sprintf("%s crashes and stays down%s", f.process(), f.span())
	case ProcessPause:
		return fmt.Sprintf("%s is paused%s", f.process(), f.span())
	case ClockSkew:
		if f.By < 0 {
			return fmt.Sprintf("the clock of %s is %s slow%s", f.process(), words(-f.By), f.span())
		}
		return fmt.Sprintf("the clock of %s is %s fast%s", f.process(), words(f.By), f.span())
	case LeaseUnreachable:
		return fmt.Sprintf("%s cannot reach its lease%s, all else works", f.process(), f.span())
	case LeaseHang:
		return fmt.Sprintf("the lease calls of %s get no answer%s, all else works", f.process(), f.span())
	case APIOutage:
		return "the API server refuses every call" + f.span()
	case APISlow:
		return fmt.Sprintf("every call to the API server takes %s longer%s", distWords(f.Delay), f.span())
	case StoreOutage:
		return "the database refuses every call" + f.span()
	case StoreSlow:
		return fmt.Sprintf("every call to the database takes %s longer%s", distWords(f.Delay), f.span())
	case APIPause:
		return "the API server is frozen" + f.span()
	case StoreCrash:
		return "the database is killed and stays down" + f.span()
	case StorePause:
		return "the database is frozen" + f.span()
	case StoreFailover:
		return fmt.Sprintf("the database fails over and loses the commits of the last %s", words(f.Lost))
	case StaleCache:
		return fmt.Sprintf("lists and watches from the cache are %s old%s", words(f.Lag), f.span())
	case StaleReplica:
		return fmt.Sprintf("database replicas are %s behind%s", words(f.Lag), f.span())
	}
	return fmt.Sprintf("unknown fault %q", string(f.Kind))
}

func (f Fault) callPhrase() string {
	calls := f.calls()
	plural := f.Target.Nth == 0
	verb := func(one, many string) string {
		if plural {
			return many
		}
		return one
	}
	switch f.Action {
	case clusters.Refuse:
		return fmt.Sprintf("%s %s refused%s", calls, verb("is", "are"), f.span())
	case clusters.Drop:
		return fmt.Sprintf("%s never %s%s", calls, verb("arrives", "arrive"), f.span())
	case clusters.LoseReply:
		return fmt.Sprintf("%s %s effect but the reply is lost%s", calls, verb("takes", "take"), f.span())
	case clusters.CutReply:
		return fmt.Sprintf("%s %s effect but the connection breaks before the reply%s", calls, verb("takes", "take"), f.span())
	case clusters.CutCall:
		return fmt.Sprintf("the connection breaks before %s %s effect%s", calls, verb("takes", "take"), f.span())
	case clusters.Late:
		return fmt.Sprintf("%s %s effect %s later, long after the caller gave up%s", calls, verb("takes", "take"), distWords(f.Delay), f.span())
	case clusters.Slow:
		return fmt.Sprintf("%s %s %s longer%s", calls, verb("takes", "take"), distWords(f.Delay), f.span())
	case clusters.Answer:
		if f.Applied {
			return fmt.Sprintf("%s %s effect but %s answered %q%s%s", calls, verb("takes", "take"), verb("is", "are"), f.Code, f.again(), f.span())
		}
		return fmt.Sprintf("%s %s answered %q%s%s", calls, verb("is", "are"), f.Code, f.again(), f.span())
	case clusters.CrashCaller:
		return fmt.Sprintf("%s %s effect and the caller crashes before the reply%s", calls, verb("takes", "take"), f.span())
	}
	return fmt.Sprintf("unknown action %q on %s", string(f.Action), calls)
}

// again says when the answer tells to ask again.
func (f Fault) again() string {
	if f.RetryAfter == 0 {
		return ""
	}
	return ", try again after " + words(f.RetryAfter)
}

// calls names what a Call fault selects: "the 1st create of task-1 by dispatcher-*".
func (f Fault) calls() string {
	t := f.Target
	what := "call"
	if t.Verb != "" {
		what = t.Verb
	}
	var b strings.Builder
	switch {
	case t.Nth > 0:
		fmt.Fprintf(&b, "the %s %s", ordinal(t.Nth), what)
	case t.Share > 0 && t.Share < 1:
		fmt.Fprintf(&b, "%s %% of the %s", strconv.FormatFloat(100*t.Share, 'g', 4, 64), manyCalls(what))
	default:
		fmt.Fprintf(&b, "all %s", manyCalls(what))
	}
	if t.Port != "" && t.Verb == "" {
		b.WriteString(" to " + portName(t.Port))
	}
	if t.Task != "" {
		b.WriteString(" of " + f.task())
	}
	if t.Process != "" {
		b.WriteString(" by " + f.process())
	}
	if t.Node != "" {
		b.WriteString(" from " + f.node())
	}
	return b.String()
}

func manyCalls(what string) string {
	if what == "call" {
		return "calls"
	}
	return what + " calls"
}

// span says how long the fault lasts.
func (f Fault) span() string {
	if f.For == 0 {
		if f.Target.Nth > 0 {
			return ""
		}
		return " until everything heals"
	}
	return " for " + words(f.For)
}

func (f Fault) spanOf(what string) string {
	if f.For == 0 {
		return ", " + what + " from now on"
	}
	return ", " + what + " within " + words(f.For)
}

func (f Fault) node() string {
	switch n := f.Target.Node; {
	case n == "any":
		return "some node"
	case strings.HasPrefix(n, "any:"):
		return "some " + n[len("any:"):] + " node"
	case strings.HasPrefix(n, "task:"):
		return "the node of " + n[len("task:"):]
	default:
		return "node " + n
	}
}

func (f Fault) task() string {
	if f.Target.Task == "any:running" {
		return "some running task"
	}
	return f.Target.Task
}

func (f Fault) process() string {
	if role, ok := strings.CutPrefix(f.Target.Process, "leader:"); ok {
		return "the leading " + role
	}
	return f.Target.Process
}

// cutPorts is what a partition severs: unless it says otherwise, everything.
func (f Fault) cutPorts() []clusters.Port {
	if len(f.Ports) > 0 {
		return f.Ports
	}
	return []clusters.Port{clusters.API, clusters.Store}
}

func portNames(ports []clusters.Port) string {
	names := make([]string, len(ports))
	for i, p := range ports {
		names[i] = portName(p)
	}
	return strings.Join(names, " and ")
}

func portName(p clusters.Port) string {
	switch p {
	case clusters.API:
		return "the API server"
	case clusters.Store:
		return "the database"
	case clusters.Lease:
		return "the leases"
	}
	return string(p)
}

// words prints a duration as people do: "90s", "2m30s", "1h".
func words(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func distWords(d clusters.Dist) string {
	switch d.Shape {
	case clusters.UniformShape:
		return words(d.A) + " to " + words(d.B)
	case clusters.ExponentialShape:
		return "about " + words(d.A)
	case clusters.LogNormalShape, clusters.WeibullShape:
		return words(d.A) + " (at times " + words(d.B) + ")"
	case clusters.EmpiricalShape:
		return words(d.Min()) + " to " + words(d.Max())
	}
	return words(d.A)
}

func ordinal(n int) string {
	suffix := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return strconv.Itoa(n) + suffix
}
