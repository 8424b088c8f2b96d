-- A row that was just found to be held. Without RETURNING, which builds a temporary table each time and makes the whole
-- statement half as slow again; and without touching sweep_at, which is indexed.
UPDATE main."{table}"
SET status = 1, revision = ?2, expires_at = ?3, code = ?4, headers = ?5, body = ?6, checkpoint = NULL
WHERE rowid = ?1
