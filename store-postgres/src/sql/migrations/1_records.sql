-- Version 1: one row per record key. {table} is the table's name with its schema, {name} without.
--
-- Readable by hand: SELECT encode(key, 'escape'), status, lease_until FROM {table}. Nothing in here is to be written by
-- hand, but for what the operator's queries in the documentation do.

CREATE TABLE {table} (
    -- The first half of SHA-256 over scope and key, as a uuid since that is the smallest fixed-size type with an index
    -- of its own. Both stand beside it and are compared on every hit, so that two keys with one digest are an error and
    -- never a wrong replay.
    key_digest       uuid        NOT NULL,
    -- NULL is the global scope. Both are UTF-8, kept as bytes so that no collation touches them.
    scope            bytea       CHECK (octet_length(scope) BETWEEN 1 AND 255),
    key              bytea       NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
    -- 0 in progress, 1 completed, 2 released.
    status           smallint    NOT NULL CHECK (status IN (0, 1, 2)),
    -- Who holds the record, and the number of the holder's last write.
    token            uuid        NOT NULL,
    revision         bigint      NOT NULL CHECK (revision BETWEEN 0 AND 4294967295),
    -- What the key is bound to: the digest of the request.
    fingerprint      bytea       NOT NULL CHECK (octet_length(fingerprint) = 36),
    -- 1 for the first grant, one more for each takeover.
    attempt          bigint      NOT NULL CHECK (attempt BETWEEN 0 AND 4294967295),
    -- When this attempt was granted.
    created_at       timestamptz NOT NULL,
    -- How long it stands without renewal.
    lease_until      timestamptz NOT NULL,
    -- How long a result, or the mark of a release, is kept at least.
    expires_at       timestamptz NOT NULL,
    -- How long an unfinished key is remembered.
    unresolved_until timestamptz NOT NULL,
    -- When a purge looks at the row: never later than the row is past its time. Completing in time leaves it as it is,
    -- so that the frequent write touches no index.
    sweep_at         timestamptz NOT NULL,
    -- The result, if completed: an HTTP status or another code, the headers in a format of Onceonly's, the body as it
    -- was given. A completed row without a body is one whose body was not kept.
    code             integer     CHECK (code BETWEEN 0 AND 65535),
    headers          bytea,
    body             bytea,
    -- What the handler saved, if in progress.
    checkpoint       bytea,
    CONSTRAINT "{name}_pkey" PRIMARY KEY (key_digest),
    CONSTRAINT "{name}_result" CHECK (
        (status = 1) = (code IS NOT NULL) AND (code IS NULL) = (headers IS NULL) AND (body IS NULL OR status = 1)
    ),
    CONSTRAINT "{name}_checkpoint" CHECK (checkpoint IS NULL OR status = 0)
)
-- Room for the completed version of each row beside the claimed one, on the same page: a batch of completions cannot use
-- the room of the versions that it replaces.
WITH (fillfactor = 40);

CREATE INDEX "{name}_sweep_at" ON {table} (sweep_at);

-- Half the CPU for bodies of many kilobytes. A server built without lz4 keeps its default.
DO $$
BEGIN
    ALTER TABLE {table} ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION
    WHEN feature_not_supported OR invalid_parameter_value THEN NULL;
END
$$;
