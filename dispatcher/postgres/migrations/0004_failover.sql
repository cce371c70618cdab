-- To be called once on a standby that was promoted without having received every commit: tokens, epochs and versions go on
-- far beyond all that can have been handed out, so that nobody who remembers a lost commit passes for one who read a new row.
CREATE FUNCTION squall_promoted() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gap CONSTANT bigint := 1000000000;
BEGIN
    LOCK TABLE leadership, tasks IN EXCLUSIVE MODE;
    PERFORM setval('task_token', nextval('task_token') + gap);
    INSERT INTO leadership AS l (role, epoch, instance, since)
    SELECT role, gap, 'promotion', squall_now() FROM unnest(ARRAY['dispatcher', 'reconciler']) role
    ON CONFLICT (role) DO UPDATE SET epoch = l.epoch + gap, instance = 'promotion', since = squall_now();
    UPDATE tasks SET version = version + gap;
    -- A task submitted from here on may reuse the ID of one that was lost: its versions must not start where those did.
    EXECUTE format('ALTER TABLE tasks ALTER COLUMN version SET DEFAULT %s', (SELECT COALESCE(max(version), 0) FROM tasks) + gap);
END
$$;
COMMENT ON FUNCTION squall_promoted() IS 'Call once after promoting a standby that may have missed commits.';
