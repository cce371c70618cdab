package linearize

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/checker/history"
)

// parse reads a literal history about the one task "a", one operation per line:
//
//	CALL-RETURN PROCESS VERB [tTOKEN] [eEPOCH] [DETAIL] = ANSWER
//
// where ANSWER is a phase ("running", "running cancelling"), ok, a code ("refused"), or for outcomes that the caller
// does not know: lost, "applied SEQ[..VISIBLE] [PHASE [cancelling]]" or dropped, according to the server's log.
func parse(t testing.TB, text string) *history.History {
	t.Helper()
	processes := history.NewTable()
	h := &history.History{Tasks: []string{"a"}}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		o, err := parseLine(strings.TrimSpace(line), processes)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		h.Operations = append(h.Operations, o)
	}
	h.Processes = processes.Names()
	return h
}

func parseLine(line string, processes *history.Table) (o history.Operation, err error) {
	request, reply, _ := strings.Cut(line, " = ")
	words := strings.Fields(request)
	from, to, _ := strings.Cut(words[0], "-")
	o.Call, o.Return = seq(from), seq(to)
	o.Process = processes.ID(words[1])
	if o.Verb, err = history.ParseVerb(words[2]); err != nil {
		return o, err
	}
	if o.Verb != history.Lead && o.Verb != history.Confirm {
		o.Task = 1
	}
	for _, w := range words[3:] {
		n, failed := strconv.ParseUint(w[1:], 10, 64)
		switch {
		case w[0] == 't' && failed == nil:
			o.Token = n
		case w[0] == 'e' && failed == nil:
			o.Epoch = n
		case w == "nobody":
			o.Task = 0
		default:
			o.Detail = strings.TrimSpace(o.Detail + " " + w)
		}
	}
	return o, parseReply(&o, strings.Fields(reply))
}

func parseReply(o *history.Operation, words []string) (err error) {
	o.Outcome = history.OK
	switch words[0] {
	case "ok":
		return nil
	case "lost":
		o.Outcome, o.Applied = history.Unknown, history.Unknown
		return nil
	case "dropped":
		o.Outcome, o.Applied = history.Unknown, history.Fail
		return nil
	case "applied":
		effect, visible, _ := strings.Cut(words[1], "..")
		o.Outcome, o.Applied, o.Effect, o.Visible = history.Unknown, history.OK, seq(effect), seq(visible)
		if len(words) > 2 {
			o.Phase, err = history.ParsePhase(words[2])
			o.Cancelling = len(words) > 3
		}
		return err
	}
	if o.Phase, err = history.ParsePhase(words[0]); err == nil {
		o.Cancelling = len(words) > 1
		return nil
	}
	o.Outcome = history.Fail
	if o.Code, err = history.ParseCode(words[0]); err != nil {
		return fmt.Errorf("answer %q is no phase and no code", words[0])
	}
	return nil
}

func seq(text string) history.Seq {
	n, _ := strconv.ParseUint(text, 10, 64)
	return history.Seq(n)
}
