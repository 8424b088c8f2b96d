-- A renewal that is no news is the holder's own, already overtaken: it changes nothing and is told the record's
-- deadlines.
WITH asked AS ({asked}),
held AS MATERIALIZED (
    SELECT ordered.*, seen.*, instant.now
    FROM (SELECT * FROM asked ORDER BY key_digest) AS ordered
    CROSS JOIN LATERAL (
        SELECT ctid AS place, revision AS stored_revision, lease_until, expires_at, unresolved_until FROM {table}
        WHERE key_digest = ordered.key_digest AND scope IS NOT DISTINCT FROM ordered.scope AND key = ordered.key
          AND token = ordered.token AND status = 0 AND {sound}
        LIMIT 1
        FOR UPDATE
    ) AS seen
    CROSS JOIN LATERAL (SELECT clock_timestamp() AS now, seen.place) AS instant
    WHERE instant.now < seen.unresolved_until
),
written AS (
    UPDATE {table} AS stored
    SET revision = held.revision,
        lease_until = CASE WHEN held.extend IS NULL THEN held.now
                           ELSE greatest(stored.lease_until, held.now + held.extend) END,
        unresolved_until = greatest(stored.unresolved_until, held.now + held.extend),
        checkpoint = coalesce(held.checkpoint, stored.checkpoint)
    FROM held
    WHERE stored.ctid = held.place AND held.revision > held.stored_revision
    RETURNING stored.key_digest, held.now, stored.lease_until, stored.expires_at
)
SELECT key_digest, now, lease_until, expires_at FROM written
UNION ALL
SELECT key_digest, now, lease_until, expires_at FROM held WHERE held.revision <= held.stored_revision
