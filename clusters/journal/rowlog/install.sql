CREATE SCHEMA IF NOT EXISTS squall_record;

-- Only ever appended to, and never read by the system under test.
CREATE TABLE IF NOT EXISTS squall_record.changes (
    transaction bigint      NOT NULL,
    number      bigint      GENERATED ALWAYS AS IDENTITY,
    at          timestamptz NOT NULL,
    backend     int         NOT NULL,
    application text        NOT NULL,
    relation    text        NOT NULL, -- tasks or leadership
    deleted     boolean     NOT NULL,
    content     jsonb       NOT NULL,
    PRIMARY KEY (transaction, number)
);

-- As its owner, so that the role of the system under test needs no rights here, and under a search path that nobody else can
-- put anything into. clock_timestamp(), not squall_now(): the machine's clock, whatever a test makes of the database's.
CREATE OR REPLACE FUNCTION squall_record.note() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    content jsonb;
BEGIN
    IF TG_OP = 'DELETE' THEN
        content := to_jsonb(OLD);
    ELSE
        content := to_jsonb(NEW);
    END IF;
    INSERT INTO squall_record.changes (transaction, at, backend, application, relation, deleted, content)
    VALUES (pg_current_xact_id()::text::bigint, clock_timestamp(), pg_backend_pid(), current_setting('application_name'),
        TG_ARGV[0], TG_OP = 'DELETE', content - 'work');
    RETURN NULL;
END
$$;

-- Deferred: the stamp is taken by COMMIT itself, with the row still locked. So it lies between the call and the return, stamps of one
-- row come in the order of the commits, and COMMIT may be held up on its way to the server without the stamp being too early.
--
-- Not deferred is what gives a row more than its next version: squall_promoted() alters the table in the same transaction, which
-- Postgres refuses while a trigger is pending.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'tasks'::regclass AND tgname = 'squall_record') THEN
        RETURN;
    END IF;
    CREATE CONSTRAINT TRIGGER squall_record AFTER INSERT OR DELETE ON tasks
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION squall_record.note('tasks');
    CREATE CONSTRAINT TRIGGER squall_record_next AFTER UPDATE ON tasks
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.version = OLD.version + 1) EXECUTE FUNCTION squall_record.note('tasks');
    CREATE TRIGGER squall_record_jump AFTER UPDATE ON tasks
        FOR EACH ROW WHEN (NEW.version <> OLD.version + 1) EXECUTE FUNCTION squall_record.note('tasks');
    CREATE CONSTRAINT TRIGGER squall_record AFTER INSERT OR UPDATE OR DELETE ON leadership
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION squall_record.note('leadership');
END
$$;
