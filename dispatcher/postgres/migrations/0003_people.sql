-- For people at a psql prompt.
CREATE VIEW needs_attention AS
SELECT id, reason, failures, disruptions, attempt AS attempts, date_trunc('second', squall_now() - ended_at) AS for_long,
       cleanup_at IS NOT NULL AS cleanup_owed, remedy AS what_to_run
FROM tasks
WHERE phase = 'needs-attention'
ORDER BY ended_at, id;

CREATE VIEW in_flight AS
SELECT id, activity, attempt, workload, desired,
       date_trunc('second', squall_now() - claimed_at) AS claimed_for,
       date_trunc('second', squall_now() - COALESCE(heartbeat_at, started_at, claimed_at)) AS silent_for,
       observed, failures, disruptions
FROM tasks
WHERE phase = 'running'
ORDER BY claimed_at, id;

COMMENT ON TABLE tasks IS 'One row per task. Written by Squall only: every write is conditional on version, token and epoch.';
COMMENT ON COLUMN tasks.version IS 'Grows with every write to the row.';
COMMENT ON COLUMN tasks.desired IS 'The goal: the client''s side of the row.';
COMMENT ON COLUMN tasks.phase IS 'Where the task is in its life. Succeeded, failed and cancelled never change again.';
COMMENT ON COLUMN tasks.activity IS 'What is going on with a running task right now.';
COMMENT ON COLUMN tasks.observed IS 'What the reconciler last saw of the workload.';
COMMENT ON COLUMN tasks.token IS 'Fencing token of the current attempt; a worker that shows another one is refused.';
COMMENT ON COLUMN tasks.cleanup_at IS 'When the workload of the last attempt is to be removed; NULL: nothing is owed.';
COMMENT ON TABLE leadership IS 'The current term of each role. A write that carries an older epoch is refused.';
COMMENT ON VIEW needs_attention IS 'Tasks that stopped until a person looks, longest first, with the command that takes each on again.';
COMMENT ON VIEW in_flight IS 'Running tasks, oldest first, with how long they have been silent.';
