DELETE FROM main."{table}" WHERE rowid = ?1
