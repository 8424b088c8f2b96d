SELECT rowid, scope, key, status, token, revision, fingerprint, attempt, created_at, lease_until, expires_at,
       unresolved_until, code, headers, body, checkpoint
FROM main."{table}"
WHERE key_digest = ?1
