-- A piece of a purge: rows that are past their time are deleted, those that live longer than was foreseen are put off.
-- Rows that somebody else has locked are left for the next time, and those of a status that this release does not know
-- are left for good, without being chosen: they must not take the place of others. Each row is judged as it is under its
-- lock.
WITH instant AS MATERIALIZED (SELECT clock_timestamp() AS now),
chosen AS MATERIALIZED (
    SELECT ctid AS place, CASE status WHEN 0 THEN unresolved_until ELSE expires_at END AS past_from
    FROM {table}
    WHERE sweep_at <= (SELECT now FROM instant) AND status IN (0, 1, 2)
    ORDER BY sweep_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
),
deleted AS (
    DELETE FROM {table} AS stored
    USING chosen
    WHERE stored.ctid = chosen.place AND chosen.past_from <= (SELECT now FROM instant)
    RETURNING 1
),
postponed AS (
    UPDATE {table} AS stored
    SET sweep_at = chosen.past_from
    FROM chosen
    WHERE stored.ctid = chosen.place AND chosen.past_from > (SELECT now FROM instant)
    RETURNING 1
)
SELECT (SELECT count(*) FROM deleted), (SELECT count(*) FROM postponed)
