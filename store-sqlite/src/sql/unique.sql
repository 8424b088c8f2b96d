-- Whether some unique, whole index is on key_digest alone. Without it, one key could have two records.
SELECT EXISTS (
    SELECT 1
    FROM pragma_index_list(?1, 'main') AS list
    WHERE list."unique" AND NOT list.partial
      AND (SELECT group_concat(info.name) FROM pragma_index_info(list.name, 'main') AS info) = 'key_digest'
)
