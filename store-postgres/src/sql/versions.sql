-- The schema version of each of Onceonly's tables in this schema.
CREATE TABLE IF NOT EXISTS {versions} (
    table_name text        NOT NULL PRIMARY KEY,
    version    integer     NOT NULL,
    migrated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
