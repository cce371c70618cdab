-- The clock that stamps and judges. Production leaves it alone; tests move it by raising the offset.
CREATE TABLE squall_clock (
    only_row boolean  PRIMARY KEY DEFAULT true CHECK (only_row),
    ahead    interval NOT NULL DEFAULT '0'
) WITH (fillfactor = 10);
INSERT INTO squall_clock DEFAULT VALUES;

-- clock_timestamp(), not now(): a transaction that waited for a lock stamps with the time at which it got it.
CREATE FUNCTION squall_now() RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN clock_timestamp() + (SELECT ahead FROM squall_clock);
END
$$;
