-- The records of some keys, one row for each that is there.
WITH asked AS ({asked})
SELECT {record}, clock_timestamp() AS now
FROM asked
CROSS JOIN LATERAL (SELECT * FROM {table} WHERE key_digest = asked.key_digest LIMIT 1) AS stored
