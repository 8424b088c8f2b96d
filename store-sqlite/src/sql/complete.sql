-- Completing in one statement where everything is as it should be: the token holds the row, and the row is well
-- formed. Where this finds nothing, the row is read and the general rule decides what to answer.
UPDATE main."{table}"
SET status = 1, revision = ?5, code = ?6, headers = ?7, body = ?8, checkpoint = NULL,
    expires_at = max(expires_at, ?9)
WHERE key_digest = ?1 AND scope IS ?2 AND key = ?3
  AND token = ?4 AND status = 0 AND unresolved_until > ?10
  AND length(fingerprint) = 36 AND attempt BETWEEN 0 AND 4294967295 AND revision BETWEEN 0 AND 4294967295
  -- Otherwise a purge that has put the row off would come too late for the result's retention.
  AND sweep_at <= max(expires_at, ?9)
  AND code IS NULL AND headers IS NULL AND body IS NULL
RETURNING lease_until, expires_at
