-- Takes the write lock and changes nothing, so that the clock can be read after the wait for it.
DELETE FROM main."{table}" WHERE rowid IS NULL
