-- A file as schema version 1 writes it. Never changed: a later release must read it as it stands.
CREATE TABLE IF NOT EXISTS onceonly_schema (
    table_name TEXT    NOT NULL PRIMARY KEY COLLATE NOCASE,
    version    INTEGER NOT NULL
) STRICT;

INSERT INTO onceonly_schema (table_name, version) VALUES ('onceonly_records', 1);
CREATE TABLE "onceonly_records" (
    key_digest       BLOB    NOT NULL CHECK (length(key_digest) = 16),
    scope            BLOB    CHECK (length(scope) BETWEEN 1 AND 255),
    key              BLOB    NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    status           INTEGER NOT NULL CHECK (status IN (0, 1, 2)),
    token            BLOB    NOT NULL CHECK (length(token) = 16),
    revision         INTEGER NOT NULL CHECK (revision BETWEEN 0 AND 4294967295),
    fingerprint      BLOB    NOT NULL CHECK (length(fingerprint) = 36),
    attempt          INTEGER NOT NULL CHECK (attempt BETWEEN 0 AND 4294967295),
    created_at       INTEGER NOT NULL,
    lease_until      INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    unresolved_until INTEGER NOT NULL,
    sweep_at         INTEGER NOT NULL,
    code             INTEGER CHECK (code BETWEEN 0 AND 65535),
    headers          BLOB,
    body             BLOB,
    checkpoint       BLOB,
    CHECK ((status = 1) = (code IS NOT NULL)),
    CHECK ((code IS NULL) = (headers IS NULL)),
    CHECK (body IS NULL OR status = 1),
    CHECK (checkpoint IS NULL OR status = 0)
) STRICT;

CREATE UNIQUE INDEX "onceonly_records_key_digest" ON "onceonly_records" (key_digest);

CREATE INDEX "onceonly_records_sweep_at" ON "onceonly_records" (sweep_at);

INSERT INTO onceonly_records (
    key_digest, scope, key, status, token, revision, fingerprint, attempt, created_at, lease_until, expires_at, unresolved_until,
    sweep_at, code, headers, body, checkpoint
)
VALUES
    (x'260a01e81d4e84c902df8195f9af7482', NULL, x'72756e6e696e67', 0, x'01010101010101010101010101010101', 2, x'00010000000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 3, 1700000000000000, 1700000060000000, 1700090000000000, 1702592000000000, 1700090000000000, NULL, NULL, NULL, x'68616c66'),
    (x'b26ecdf4666f8eeb2f24a1df6f0737c6', x'74656e616e74', x'646f6e65', 1, x'02020202020202020202020202020202', 2, x'00010000000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 1, 1700000000000000, 1700000060000000, 1700090000000000, 1702592000000000, 1700090000000000, 201, x'01080000000a0000004c6f636174696f6e2f636861726765732f31', x'6368617267656400ff', NULL),
    (x'b57bca729db9ede55c9c5267debdafa7', x'74656e616e74', x'6e6f74206b657074', 1, x'03030303030303030303030303030303', 4, x'00010000000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 1, 1700000000000000, 1700000060000000, 1700090000000000, 1702592000000000, 1700090000000000, 204, x'01', NULL, NULL),
    (x'd84d1fd2f8a8a0c322dc64dbb78b73d9', NULL, x'676976656e206261636b', 2, x'04040404040404040404040404040404', 2, x'00010000000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 1, 1700000000000000, 1700000060000000, 1700000900000000, 1702592000000000, 1700000900000000, NULL, NULL, NULL, NULL);

PRAGMA journal_mode = WAL;
