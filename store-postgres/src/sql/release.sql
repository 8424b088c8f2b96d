WITH asked AS ({asked})
UPDATE {table} AS stored
SET status = 2, revision = held.revision, expires_at = held.now + held.keep,
    sweep_at = least(stored.sweep_at, held.now + held.keep), checkpoint = NULL
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
