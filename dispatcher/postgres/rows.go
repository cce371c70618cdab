package postgres

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/squall-chaos/squall/dispatcher"
)

// columns are what scanRow reads, of tasks under the name t.
const columns = `
	t.id, t.version,
	t.start_deadline_ns, t.deadline_ns, t.max_failures, t.max_disruptions, t.work, t.submitted_at,
	t.desired, t.phase, t.activity, t.observed, t.observed_version,
	t.attempt, t.token, t.epoch, t.workload, t.claimed_at, t.started_at, t.heartbeat_at,
	t.failures, t.disruptions, t.reason, t.remedy,
	t.cancel_requested_at, t.ended_at, t.not_before, t.cleanup_at,
	t.finished_token, t.finished_workload, t.finished_result`

const returning = ` RETURNING ` + columns

// row is one line of the table: the task, and what only the store reads.
type row struct {
	dispatcher.Task
	finished finished
}

// finished is the last accepted result.
type finished struct {
	token    dispatcher.Token
	workload dispatcher.UID
	result   dispatcher.Result
}

// stamp scans a timestamptz; NULL is the zero time.
type stamp time.Time

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (s *stamp) ScanTimestamptz(v pgtype.Timestamptz) error {
	*s = stamp{}
	if v.Valid {
		*s = stamp(v.Time.UTC())
	}
	return nil
}

// scanRow reads columns.
func scanRow(from pgx.Row) (row, error) {
	var r row
	var work []byte
	var observed int64 // the bits of an uint64
	a := &r.Attempt
	err := from.Scan(
		(*string)(&r.Spec.ID), &r.Version,
		(*int64)(&r.Spec.StartDeadline), (*int64)(&r.Spec.Deadline), &r.Spec.MaxFailures, &r.Spec.MaxDisruptions, &work, (*stamp)(&r.SubmittedAt),
		(*string)(&r.Desired), (*string)(&r.Phase), (*string)(&r.Activity), (*string)(&r.Observed.State), &observed,
		&a.Number, (*uint64)(&a.Token), (*uint64)(&a.Epoch), (*string)(&a.Workload), (*stamp)(&a.ClaimedAt), (*stamp)(&a.StartedAt), (*stamp)(&a.HeartbeatAt),
		&r.Failures, &r.Disruptions, (*string)(&r.Reason), &r.Remedy,
		(*stamp)(&r.CancelRequestedAt), (*stamp)(&r.EndedAt), (*stamp)(&r.NotBefore), (*stamp)(&r.CleanupAt),
		(*uint64)(&r.finished.token), (*string)(&r.finished.workload), (*string)(&r.finished.result),
	)
	if err != nil {
		return row{}, err
	}
	r.Observed.Version = uint64(observed)
	if err := json.Unmarshal(work, &r.Spec.Work); err != nil {
		return row{}, fmt.Errorf("work of task %s: %w", r.Spec.ID, err)
	}
	return r, nil
}

// scanRows appends the rows that a statement returned to tasks, and keeps what only the store reads to itself.
func scanRows(rows pgx.Rows, tasks []dispatcher.Task) ([]dispatcher.Task, error) {
	for rows.Next() {
		r, err := scanRow(rows)
		if err != nil {
			return tasks, err
		}
		tasks = append(tasks, r.Task)
	}
	return tasks, rows.Err()
}
