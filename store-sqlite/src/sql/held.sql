-- The row that a token may complete, if everything is as it should be: it is held, and well formed. Where this finds
-- nothing, the whole row is read and the general rule decides what to answer.
SELECT rowid, lease_until, expires_at
FROM main."{table}"
WHERE key_digest = ?1 AND scope IS ?2 AND key = ?3
  AND token = ?4 AND status = 0 AND unresolved_until > ?5
  AND length(fingerprint) = 36 AND attempt BETWEEN 0 AND 4294967295 AND revision BETWEEN 0 AND 4294967295
  AND code IS NULL AND headers IS NULL AND body IS NULL
  -- Otherwise a purge that has put the row off would come too late for the result's retention, which ends at ?6.
  AND sweep_at <= max(expires_at, ?6)
