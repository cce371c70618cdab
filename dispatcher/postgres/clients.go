package postgres

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
)

const insert = `
INSERT INTO tasks AS t (id, start_deadline_ns, deadline_ns, max_failures, max_disruptions, work, submitted_at, start_by)
SELECT @id, @start_deadline::bigint, @deadline::bigint, @max_failures, @max_disruptions, @work, now,
	CASE WHEN @start_deadline > 0 THEN now + @start_deadline / 1000 * interval '1 microsecond' END
FROM squall_now() AS now
ON CONFLICT (id) DO NOTHING` + returning

// Submit implements dispatcher.Clients. A repeated Submit returns the row as it is by now.
func (s *Store) Submit(ctx context.Context, spec dispatcher.Spec) (dispatcher.Task, error) {
	const verb = "submit"
	if spec.ID == "" {
		return dispatcher.Task{}, refused(verb, spec.ID, dispatcher.ErrRejected)
	}
	work, err := json.Marshal(spec.Work)
	if err != nil {
		return dispatcher.Task{}, refused(verb, spec.ID, errors.Join(dispatcher.ErrRejected, err))
	}
	var inserted, found *row
	err = s.transact(ctx, func(b *pgx.Batch) {
		b.Queue(taggedTask(verb, insert), pgx.StrictNamedArgs{
			"id": string(spec.ID), "start_deadline": int64(spec.StartDeadline), "deadline": int64(spec.Deadline),
			"max_failures": spec.MaxFailures, "max_disruptions": spec.MaxDisruptions, "work": work,
		}).QueryRow(into(&inserted))
		b.Queue(selectTask, pgx.StrictNamedArgs{"id": string(spec.ID)}).QueryRow(into(&found))
	}, func() bool { return inserted != nil })
	switch {
	case err != nil:
		return dispatcher.Task{}, refused(verb, spec.ID, err)
	case inserted != nil:
		return inserted.Task, nil
	case found.Spec != spec:
		return dispatcher.Task{}, refused(verb, spec.ID, dispatcher.ErrConflict)
	}
	return found.Task, nil
}

const cancel = `
UPDATE tasks t SET version = t.version + 1, desired = 'cancel', cancel_requested_at = now,
	cleanup_at = CASE WHEN cleanup_at > now THEN now ELSE cleanup_at END,
	phase      = CASE WHEN done THEN 'cancelled' ELSE phase END,
	reason     = CASE WHEN done THEN 'cancelled' ELSE reason END,
	ended_at   = CASE WHEN done THEN now ELSE ended_at END,
	not_before = CASE WHEN done THEN NULL ELSE not_before END,
	remedy     = CASE WHEN done THEN '' ELSE remedy END
FROM (SELECT phase <> 'running' AND cleanup_at IS NULL AS done FROM tasks WHERE id = @id) AS nothing_left, squall_now() AS now
WHERE t.id = @id AND t.desired = 'run' AND t.phase IN ('pending', 'running', 'needs-attention')` + returning

// Cancel implements dispatcher.Clients. It is done at once where nothing is left to stop or to remove, and
// else recorded as the goal. Where it waits for a cleanup that was postponed, that becomes due.
func (s *Store) Cancel(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	return s.write(ctx, change{verb: "cancel", id: id, statement: cancel, args: pgx.StrictNamedArgs{"id": string(id)},
		missing: dispatcher.ErrNotFound, unwritten: func(*row) error { return nil }})
}

const resume = `
UPDATE tasks t SET version = t.version + 1, phase = 'pending', ended_at = NULL, not_before = now,
	failures = 0, disruptions = 0, remedy = '',
	cleanup_at = CASE WHEN cleanup_at > now THEN now ELSE cleanup_at END
FROM squall_now() AS now
WHERE t.id = @id AND t.phase = 'needs-attention' AND t.desired = 'run'` + returning

// Resume implements dispatcher.Clients.
func (s *Store) Resume(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	return s.write(ctx, change{verb: "resume", id: id, statement: resume, args: pgx.StrictNamedArgs{"id": string(id)},
		missing: dispatcher.ErrNotFound, unwritten: func(*row) error { return dispatcher.ErrConflict }})
}

const selectTask = `SELECT` + columns + ` FROM tasks t WHERE t.id = @id`

// Read implements dispatcher.Clients.
func (s *Store) Read(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	r, err := scanRow(s.pool.QueryRow(ctx, taggedTask("read", selectTask), pgx.StrictNamedArgs{"id": string(id)}))
	if errors.Is(err, pgx.ErrNoRows) {
		return dispatcher.Task{}, refused("read", id, dispatcher.ErrNotFound)
	}
	if err != nil {
		return dispatcher.Task{}, refused("read", id, beforeCommit(err))
	}
	return r.Task, nil
}
