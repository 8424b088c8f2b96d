-- A piece of a purge: rows that are past their time are deleted, those that live longer than was foreseen are put off.
-- Rows that somebody else has locked are left for the next time. Each row is judged as it is under its lock.
WITH instant AS MATERIALIZED (SELECT clock_timestamp() AS now),
chosen AS MATERIALIZED (
    SELECT ctid AS place, CASE status WHEN 0 THEN unresolved_until WHEN 1 THEN expires_at WHEN 2 THEN expires_at END
        AS past_from
    FROM {table}
    WHERE sweep_at <= (SELECT now FROM instant)
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
