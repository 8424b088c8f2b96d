-- The schema version of each of Onceonly's tables in this file. SQLite's own user_version is the application's.
CREATE TABLE IF NOT EXISTS main.onceonly_schema (
    table_name TEXT    NOT NULL PRIMARY KEY COLLATE NOCASE,
    version    INTEGER NOT NULL
) STRICT;
