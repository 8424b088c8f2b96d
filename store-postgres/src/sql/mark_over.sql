-- A mark over a record that is past its time or released. If somebody else has locked it, nothing comes back.
UPDATE {table} AS stored
SET status = 1, token = $3, revision = 1, fingerprint = $4, attempt = 1, created_at = free.now, lease_until = free.now,
    expires_at = free.now + $5, unresolved_until = free.now + $5, sweep_at = free.now + $5,
    code = $6, headers = $7, body = NULL, checkpoint = NULL
FROM (
    SELECT seen.place, instant.now
    FROM (
        SELECT ctid AS place FROM {table}
        WHERE key_digest = $1 AND token = $2 AND revision = $8 AND {sound}
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) AS seen
    CROSS JOIN LATERAL (SELECT clock_timestamp() AS now, seen.place) AS instant
) AS free
WHERE stored.ctid = free.place
RETURNING 1
