UPDATE main."{table}" SET sweep_at = ?2 WHERE rowid = ?1
