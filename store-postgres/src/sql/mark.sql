-- A mark, where nothing is there. The advisory lock makes the second of two open transactions that mark one key turn away
-- at once instead of waiting for the first to end; that only one of them inserts is up to the primary key. One row comes
-- back: whether the mark was written, and what is there otherwise, if that can be seen.
WITH stored AS (
    SELECT * FROM {table} WHERE key_digest = $1 LIMIT 1
),
written AS (
    INSERT INTO {table} (
        key_digest, scope, key, status, token, revision, fingerprint, attempt, created_at, lease_until, expires_at,
        unresolved_until, sweep_at, code, headers
    )
    SELECT $1, $2, $3, 1, $4, 1, $5, 1, instant.now, instant.now, instant.now + $6, instant.now + $6,
           instant.now + $6, $7, $8
    FROM (SELECT pg_try_advisory_xact_lock($9) AS got OFFSET 0) AS lock
    CROSS JOIN LATERAL (SELECT clock_timestamp() AS now, lock.got) AS instant
    WHERE lock.got AND NOT EXISTS (SELECT FROM stored)
    ON CONFLICT (key_digest) DO NOTHING
    RETURNING 1
)
SELECT {record}, clock_timestamp() AS now, EXISTS (SELECT FROM written) AS written
FROM (VALUES (1)) AS one
LEFT JOIN stored ON true
