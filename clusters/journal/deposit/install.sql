CREATE SCHEMA IF NOT EXISTS squall_deposit;

-- One row per line. The stamp is the server's, of the insert itself: its process waits for it.
CREATE TABLE IF NOT EXISTS squall_deposit.lines (
    writer text        NOT NULL, -- one life of a process
    number bigint      NOT NULL, -- from 1, without a gap
    at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    line   text        NOT NULL,
    PRIMARY KEY (writer, number)
);

-- What the harness tells workers about tasks whose work is to take another time.
CREATE TABLE IF NOT EXISTS squall_deposit.run_times (
    task text   PRIMARY KEY,
    run  bigint NOT NULL -- nanoseconds; 0: as the task says
);
