SELECT code, body, expires_at
FROM onceonly_records
WHERE key_digest = :digest AND key = :key AND fingerprint = :fingerprint AND status = 1
