-- Claims that expect absence. It looks first and inserts only where it found nothing, so that a replay writes nothing,
-- takes no transaction id and waits for nobody. `ON CONFLICT DO UPDATE` would lock the row, and wait for a flush, each
-- time.
--
-- A key of which no row comes back was inserted by somebody else after this statement's snapshot: look again.
WITH asked AS ({asked}),
stored AS (
    SELECT stored.*
    FROM asked
    CROSS JOIN LATERAL (SELECT * FROM {table} WHERE key_digest = asked.key_digest LIMIT 1) AS stored
),
written AS (
    INSERT INTO {table} (
        key_digest, scope, key, status, token, revision, fingerprint, attempt, created_at, lease_until, expires_at,
        unresolved_until, sweep_at, checkpoint
    )
    SELECT fresh.key_digest, fresh.scope, fresh.key, 0, fresh.token, 1, fresh.fingerprint, fresh.attempt,
           instant.now, instant.now + fresh.lease, instant.now + fresh.keep, instant.now + fresh.keep_unresolved,
           instant.now + least(fresh.keep, fresh.keep_unresolved), fresh.checkpoint
    FROM (
        -- In one order everywhere, so that two statements never wait for each other.
        SELECT * FROM asked
        WHERE NOT EXISTS (SELECT FROM stored WHERE stored.key_digest = asked.key_digest)
        ORDER BY key_digest
    ) AS fresh
    CROSS JOIN LATERAL (SELECT clock_timestamp() AS now, fresh.key_digest) AS instant
    ON CONFLICT (key_digest) DO NOTHING
    RETURNING key_digest, created_at, lease_until, expires_at, clock_timestamp() AS written_at
)
SELECT {record}, clock_timestamp() AS now, NULL::timestamptz AS written_at
FROM stored
UNION ALL
SELECT {no_record}, written.created_at, written.written_at
FROM written
