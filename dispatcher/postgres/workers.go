package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
)

// admitted is the condition that the ticket is for the current, wanted attempt of its task.
const admitted = ` t.id = @id AND t.token = @token AND t.phase = 'running' AND t.desired = 'run' AND @workload <> ''`

// executedBy is the condition that, on top of that, the ticket's object was let in to execute it.
const executedBy = admitted + ` AND t.activity = 'executing' AND t.workload = @workload`

func (r *row) admits(k dispatcher.Ticket) bool {
	return r.Phase == dispatcher.Running && r.Desired == dispatcher.DesiredRun && r.Attempt.Token == k.Token && k.Workload != ""
}

func (r *row) isExecutedBy(k dispatcher.Ticket) bool {
	return r.admits(k) && r.Activity == dispatcher.Executing && r.Attempt.Workload == k.Workload
}

// ticketed returns the change that the ticket's holder asks for. A worker gets one refusal, whatever is wrong with its
// ticket; done tells that a row shows the work done already.
func ticketed(verb string, k dispatcher.Ticket, statement string, done func(r *row) bool) change {
	args := pgx.StrictNamedArgs{"id": string(k.ID), "token": int64(k.Token), "workload": string(k.Workload)}
	return change{verb: verb, id: k.ID, statement: statement, args: args, missing: dispatcher.ErrRefused,
		unwritten: func(r *row) error {
			if done(r) {
				return nil
			}
			return dispatcher.ErrRefused
		}}
}

const start = `
UPDATE tasks t SET version = t.version + 1, activity = 'executing', workload = @workload, started_at = now
FROM squall_now() AS now
WHERE` + admitted + ` AND t.activity <> 'executing' AND (t.workload = '' OR t.workload = @workload) AND (t.start_by IS NULL OR t.start_by >= now)` + returning

// Start implements dispatcher.Workers. The first object that asks is bound to the attempt; every other one is refused from
// then on.
func (s *Store) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	return s.write(ctx, ticketed("start", k, start, func(r *row) bool { return r.isExecutedBy(k) }))
}

const heartbeat = `
UPDATE tasks t SET version = t.version + 1, heartbeat_at = squall_now()
WHERE` + executedBy + returning

// Heartbeat implements dispatcher.Workers.
func (s *Store) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	_, err := s.write(ctx, ticketed("heartbeat", k, heartbeat, func(*row) bool { return false }))
	return err
}

// finishing records the result by which a repeated call is known.
const finishing = `, finished_token = t.token, finished_workload = t.workload, finished_result = @result`

const finishSucceeded = `
UPDATE tasks t SET version = t.version + 1, phase = 'succeeded', activity = 'idle', reason = '', ended_at = now, not_before = NULL,
	cleanup_at = now` + finishing + `
FROM squall_now() AS now
WHERE` + executedBy + returning

const finishFailed = endAttempt + finishing + `
FROM outcome o, squall_now() AS now
WHERE o.id = t.id AND` + executedBy + returning

// Finish implements dispatcher.Workers. A failure is charged as by Requeue.
func (s *Store) Finish(ctx context.Context, k dispatcher.Ticket, result dispatcher.Result) (dispatcher.Task, error) {
	c := ticketed("finish", k, "", func(r *row) bool {
		return k.Token != 0 && r.finished == finished{k.Token, k.Workload, result}
	})
	c.args["result"] = string(result)
	switch result {
	case dispatcher.ResultSucceeded:
		c.statement = finishSucceeded
	case dispatcher.ResultFailed:
		c.statement = finishFailed
		s.chargeTo(c.args, k.ID, dispatcher.ReasonWorkFailed)
	default:
		c.unwritten = func(r *row) error {
			if r.isExecutedBy(k) {
				return dispatcher.ErrRejected
			}
			return dispatcher.ErrRefused
		}
	}
	return s.write(ctx, c)
}
