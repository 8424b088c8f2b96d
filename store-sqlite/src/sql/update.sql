-- Everything but the key, on a row that was read in this transaction.
UPDATE main."{table}"
SET status = ?2, token = ?3, revision = ?4, fingerprint = ?5, attempt = ?6, created_at = ?7, lease_until = ?8,
    expires_at = ?9, unresolved_until = ?10, sweep_at = ?11, code = ?12, headers = ?13, body = ?14, checkpoint = ?15
WHERE rowid = ?1
