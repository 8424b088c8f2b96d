-- Where nothing comes back, the token does not hold the record, or has completed it before: the caller looks.
WITH asked AS ({asked})
UPDATE {table} AS stored
SET status = 1, revision = held.revision, expires_at = greatest(stored.expires_at, held.now + held.retention),
    -- Changed only if a purge has put the row off, or the key is forgotten before the result is: an index that is not
    -- touched is the difference between a cheap update and a dear one.
    sweep_at = least(stored.sweep_at, greatest(stored.expires_at, held.now + held.retention)),
    code = held.code, headers = held.headers, body = held.body, checkpoint = NULL
FROM (
    SELECT ordered.*, seen.place, instant.now
    FROM (SELECT * FROM asked ORDER BY key_digest) AS ordered
    CROSS JOIN LATERAL (
        SELECT ctid AS place, unresolved_until FROM {table}
        WHERE key_digest = ordered.key_digest AND scope IS NOT DISTINCT FROM ordered.scope AND key = ordered.key
          AND token = ordered.token AND status = 0 AND {sound}
        LIMIT 1
        FOR UPDATE
    ) AS seen
    CROSS JOIN LATERAL (SELECT clock_timestamp() AS now, seen.place) AS instant
    WHERE instant.now < seen.unresolved_until
) AS held
WHERE stored.ctid = held.place
RETURNING stored.key_digest, held.now, stored.lease_until, stored.expires_at
