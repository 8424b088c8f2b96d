INSERT INTO onceonly_records (
    key_digest, scope, key, status, token, revision, fingerprint, attempt, created_at, lease_until, expires_at,
    unresolved_until, sweep_at
)
VALUES (
    :digest, :scope, :key, 0, :token, 1, :fingerprint, 1, :now, :lease_until, :expires_at, :unresolved_until, :expires_at
)
ON CONFLICT (key_digest) DO NOTHING
