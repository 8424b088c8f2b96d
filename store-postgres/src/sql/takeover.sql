-- Claims that expect a version. The row is locked first and the clock read after: whoever waits for a lock has its
-- deadlines from after the wait.
WITH asked AS ({asked})
UPDATE {table} AS stored
SET status = 0, token = held.token, revision = 1, fingerprint = held.fingerprint, attempt = held.attempt,
    created_at = held.now, lease_until = held.now + held.lease, expires_at = held.now + held.keep,
    unresolved_until = held.now + held.keep_unresolved,
    sweep_at = held.now + least(held.keep, held.keep_unresolved),
    code = NULL, headers = NULL, body = NULL, checkpoint = held.checkpoint
FROM (
    SELECT ordered.*, seen.place, instant.now
    FROM (SELECT * FROM asked ORDER BY key_digest) AS ordered
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM {table}
        WHERE key_digest = ordered.key_digest AND scope IS NOT DISTINCT FROM ordered.scope AND key = ordered.key
          AND token = ordered.expected_token AND revision = ordered.expected_revision AND {sound}
        LIMIT 1
        FOR UPDATE
    ) AS seen
    CROSS JOIN LATERAL (SELECT clock_timestamp() AS now, seen.place) AS instant
) AS held
-- By place and not by key: it can only be a look-up, also if the statement was planned while the table was empty.
WHERE stored.ctid = held.place
RETURNING stored.key_digest, stored.created_at AS now, stored.lease_until, stored.expires_at
