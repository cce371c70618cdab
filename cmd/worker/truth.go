package main

import (
	"fmt"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// truth is what the worker knows of itself, whatever any row or object says.
type truth struct {
	order    environment.Order
	recorder *journal.Recorder // nil: nobody asks
}

func (t truth) event(kind history.Kind, detail string) {
	if t.recorder == nil {
		return
	}
	t.recorder.Event(journal.Event{
		Kind: kind, Process: t.order.Process(), Task: string(t.order.Ticket.ID), Node: t.order.Node,
		Object: string(t.order.Ticket.Workload), Token: uint64(t.order.Ticket.Token), Detail: detail,
	})
}

// result is an effect if the store accepted a success, and a refused one if it said no. When it did not say, nothing is
// known here; the row tells.
func (t truth) result(r dispatcher.Result, err error) {
	switch {
	case r != dispatcher.ResultSucceeded:
	case err == nil:
		t.event(history.EffectCounted, "")
	case spoken(err):
		t.event(history.EffectRefused, "")
	}
}

// ended is the last that is heard.
func (t truth) ended(code int, executed bool, detail string) {
	if executed {
		t.event(history.WorkEnded, detail)
	}
	t.event(history.ContainerEnded, fmt.Sprintf("exit %d", code))
}
