-- One row per record key. A rowid table on purpose: with random keys, WITHOUT ROWID would touch a leaf full of results
-- for every write, where this one touches a leaf of the small index below.
--
-- Times are microseconds since 1970-01-01T00:00:00Z.
CREATE TABLE main."{table}" (
    -- The first half of SHA-256 over scope and key. Both stand beside it and are compared on every hit.
    key_digest       BLOB    NOT NULL CHECK (length(key_digest) = 16),
    -- NULL is the global scope. Both are UTF-8, kept as bytes so that no affinity or collation touches them.
    scope            BLOB    CHECK (length(scope) BETWEEN 1 AND 255),
    key              BLOB    NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    -- 0 in progress, 1 completed, 2 released.
    status           INTEGER NOT NULL CHECK (status IN (0, 1, 2)),
    token            BLOB    NOT NULL CHECK (length(token) = 16),
    revision         INTEGER NOT NULL CHECK (revision BETWEEN 0 AND 4294967295),
    fingerprint      BLOB    NOT NULL CHECK (length(fingerprint) = 36),
    attempt          INTEGER NOT NULL CHECK (attempt BETWEEN 0 AND 4294967295),
    created_at       INTEGER NOT NULL,
    lease_until      INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    unresolved_until INTEGER NOT NULL,
    -- When a purge looks at the row: never later than the row is past its time. Completing leaves it alone, so that
    -- the frequent write does not touch its index.
    sweep_at         INTEGER NOT NULL,
    -- The result, if completed. A completed row without a body is one whose body was not kept.
    code             INTEGER CHECK (code BETWEEN 0 AND 65535),
    headers          BLOB,
    body             BLOB,
    -- What the handler saved, if in progress.
    checkpoint       BLOB,
    CHECK ((status = 1) = (code IS NOT NULL)),
    CHECK ((code IS NULL) = (headers IS NULL)),
    CHECK (body IS NULL OR status = 1),
    CHECK (checkpoint IS NULL OR status = 0)
) STRICT;

CREATE UNIQUE INDEX main."{table}_key_digest" ON "{table}" (key_digest);

CREATE INDEX main."{table}_sweep_at" ON "{table}" (sweep_at);
