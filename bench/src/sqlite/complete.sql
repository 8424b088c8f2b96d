UPDATE onceonly_records
SET status = 1, revision = 2, code = :code, headers = :headers, body = :body,
    expires_at = max(expires_at, :expires_at)
WHERE key_digest = :digest AND token = :token AND status = 0
