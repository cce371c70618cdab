-- One row per task: the fields of dispatcher.Task under their own names, so that a person can read them. Words are those
-- of package dispatcher. Durations are nanoseconds, because an interval would round what a client asked for.
CREATE TABLE tasks (
    id                  text COLLATE "C" PRIMARY KEY CHECK (id <> ''), -- "C": ordered byte by byte, as scans promise
    version             bigint      NOT NULL DEFAULT 1,

    -- What the client asked for. Written once.
    start_deadline_ns   bigint      NOT NULL,
    deadline_ns         bigint      NOT NULL,
    max_failures        bigint      NOT NULL,
    max_disruptions     bigint      NOT NULL,
    work                jsonb       NOT NULL,
    submitted_at        timestamptz NOT NULL,
    start_by            timestamptz, -- submitted_at plus a positive start deadline

    -- Goal, life, doing, last sight.
    desired             text        NOT NULL DEFAULT 'run' CHECK (desired IN ('run', 'cancel')),
    phase               text        NOT NULL DEFAULT 'pending'
        CHECK (phase IN ('pending', 'running', 'succeeded', 'failed', 'cancelled', 'needs-attention')),
    activity            text        NOT NULL DEFAULT 'idle' CHECK (activity IN ('idle', 'launching', 'launched', 'executing')),
    observed            text        NOT NULL DEFAULT '',
    observed_version    bigint      NOT NULL DEFAULT 0,

    -- The current attempt, or the last one: its cleanup needs the token.
    attempt             bigint      NOT NULL DEFAULT 0,
    token               bigint      NOT NULL DEFAULT 0,
    epoch               bigint      NOT NULL DEFAULT 0,
    workload            text        NOT NULL DEFAULT '',
    claimed_at          timestamptz,
    started_at          timestamptz,
    heartbeat_at        timestamptz,

    failures            bigint      NOT NULL DEFAULT 0,
    disruptions         bigint      NOT NULL DEFAULT 0,
    reason              text        NOT NULL DEFAULT '',
    remedy              text        NOT NULL DEFAULT '',

    cancel_requested_at timestamptz,
    ended_at            timestamptz,
    not_before          timestamptz,
    cleanup_at          timestamptz, -- NULL: nothing is owed

    -- When a pending task may be claimed.
    due_at              timestamptz NOT NULL GENERATED ALWAYS AS (COALESCE(not_before, submitted_at)) STORED,

    -- The last accepted result. It outlives the next claim, because a repeated Finish may come late.
    finished_token      bigint      NOT NULL DEFAULT 0,
    finished_workload   text        NOT NULL DEFAULT '',
    finished_result     text        NOT NULL DEFAULT '',

    CONSTRAINT running_owes_no_cleanup CHECK (phase <> 'running' OR cleanup_at IS NULL),
    CONSTRAINT cancelled_unless_something_is_left CHECK (NOT (desired = 'cancel' AND phase = 'pending' AND cleanup_at IS NULL)),
    CONSTRAINT activity_is_of_the_running CHECK ((phase = 'running') = (activity <> 'idle')),
    CONSTRAINT running_has_a_token CHECK (phase <> 'running' OR token > 0),
    CONSTRAINT executing_has_a_workload CHECK (activity IN ('idle', 'launching') OR workload <> ''),
    CONSTRAINT stopped_is_stamped CHECK ((phase IN ('pending', 'running')) = (ended_at IS NULL)),
    CONSTRAINT attention_has_a_remedy CHECK ((phase = 'needs-attention') = (remedy <> ''))
) WITH (
    fillfactor = 70,                        -- room for the next version of a row on its page: heartbeats move no index
    autovacuum_vacuum_scale_factor = 0.02,  -- a queue's indexes are read at the end where the dead entries are
    autovacuum_analyze_scale_factor = 0.02
);

-- One index per question that the store asks; each holds only the rows that the question is about.
CREATE INDEX tasks_claimable ON tasks (due_at, id) WHERE phase = 'pending' AND desired = 'run' AND cleanup_at IS NULL;
CREATE INDEX tasks_start_by ON tasks (start_by) WHERE phase = 'pending' AND desired = 'run' AND start_by IS NOT NULL;
CREATE INDEX tasks_launching ON tasks (id) WHERE phase = 'running' AND activity = 'launching' AND desired = 'run';
CREATE INDEX tasks_running ON tasks (id) WHERE phase = 'running';
CREATE INDEX tasks_owing ON tasks (cleanup_at) WHERE cleanup_at IS NOT NULL;
CREATE INDEX tasks_cancelling ON tasks (id) WHERE desired = 'cancel' AND phase IN ('pending', 'running', 'needs-attention');
CREATE INDEX tasks_attention ON tasks (ended_at) WHERE phase = 'needs-attention';

-- Tokens come from one counter over all tasks.
CREATE SEQUENCE task_token;

-- Whose writes count. A role without a row has never been led.
CREATE TABLE leadership (
    role     text        PRIMARY KEY CHECK (role IN ('dispatcher', 'reconciler')),
    epoch    bigint      NOT NULL CHECK (epoch > 0),
    instance text        NOT NULL,
    since    timestamptz NOT NULL
) WITH (fillfactor = 10); -- rewritten in place: its one page never fills up
