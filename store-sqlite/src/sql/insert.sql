INSERT INTO main."{table}" (
    key_digest, scope, key, status, token, revision, fingerprint, attempt, created_at, lease_until, expires_at,
    unresolved_until, sweep_at, code, headers, body, checkpoint
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
ON CONFLICT (key_digest) DO NOTHING
