package journal

import (
	"context"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// Workers records the calls of a worker.
func (r *Recorder) Workers(w dispatcher.Workers) dispatcher.Workers { return recordedWorkers{r, w} }

type recordedWorkers struct {
	recorder *Recorder
	workers  dispatcher.Workers
}

// show is a worker's call.
func show(verb history.Verb, k dispatcher.Ticket, detail string) Call {
	c := about(verb, k.ID)
	c.Detail, c.Object = detail, string(k.Workload)
	if len(c.Rows) > 0 {
		c.Rows[0].Token = uint64(k.Token)
	}
	return c
}

func (w recordedWorkers) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	return record(w.recorder, show(history.Start, k, string(k.Workload)),
		func() (dispatcher.Task, error) { return w.workers.Start(ctx, k) }, see)
}

func (w recordedWorkers) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	return acknowledged(w.recorder, show(history.Heartbeat, k, ""), func() error { return w.workers.Heartbeat(ctx, k) })
}

func (w recordedWorkers) Finish(ctx context.Context, k dispatcher.Ticket, result dispatcher.Result) (dispatcher.Task, error) {
	return record(w.recorder, show(history.Finish, k, string(result)),
		func() (dispatcher.Task, error) { return w.workers.Finish(ctx, k, result) }, see)
}
