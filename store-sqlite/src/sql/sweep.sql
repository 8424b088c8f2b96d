SELECT rowid, sweep_at, status, expires_at, unresolved_until
FROM main."{table}"
WHERE sweep_at <= ?1 AND (sweep_at, rowid) > (?2, ?3)
ORDER BY sweep_at, rowid
LIMIT ?4
