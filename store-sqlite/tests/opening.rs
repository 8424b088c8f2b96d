//! A file that is not as it should be is refused with a reason, and left as it is.

use std::fs;

use onceonly::{
    Fingerprint, KeyStore, Record, RecordKey, ResponseHead, Revision, Scope, Status, StoreError,
    StoreErrorKind, StoredResponse, StoredResult, Version,
};
use onceonly_sqlite::SqliteStore;

use crate::support::{self, Database};

/// Opens the file, which must be refused and stay byte for byte what it was.
#[track_caller]
fn refusal(database: &Database) -> StoreError {
    let before = fs::read(database.path()).expect("the file is there");
    let error = SqliteStore::open(database.path()).expect_err("the file is refused");
    let after = fs::read(database.path()).expect("the file is there");
    assert!(before == after, "a refused file must not be touched: {error}");
    error
}

#[track_caller]
fn assert_rejected(error: &StoreError, reason: &str) {
    assert_eq!(error.kind(), StoreErrorKind::Rejected, "{error}");
    assert!(error.to_string().contains(reason), "{error}");
}

/// A file with our table in it, and nobody who has it open.
fn with_table() -> Database {
    let database = Database::new();
    let store = database.open();
    drop(store);
    // The last connection to close carries the log over and deletes it.
    support::wait_until(|| !database.log_path().exists());
    database
}

#[test]
fn a_foreign_table_of_that_name_is_refused() {
    let database = Database::new();
    database.raw().execute_batch("CREATE TABLE onceonly_records (id INTEGER, note TEXT)").unwrap();
    assert_rejected(&refusal(&database), "not Onceonly's");
}

#[test]
fn a_foreign_view_of_that_name_is_refused() {
    let database = Database::new();
    database.raw().execute_batch("CREATE VIEW OnceOnly_Records AS SELECT 1 AS one").unwrap();
    assert_rejected(&refusal(&database), "not Onceonly's");
}

#[test]
fn an_applications_tables_named_like_pragmas_are_not_taken_for_them() {
    let database = Database::new();
    for name in ["pragma_table_xinfo", "pragma_table_list", "pragma_index_list", "pragma_index_info"] {
        database.raw().execute_batch(&format!("CREATE TABLE {name} (note TEXT)")).unwrap();
        // Made by the first, and looked at by the second.
        drop(database.open());
        drop(database.open());
    }
}

#[test]
fn a_foreign_table_of_versions_is_refused() {
    let database = Database::new();
    database.raw().execute_batch("CREATE TABLE onceonly_schema (version TEXT)").unwrap();
    assert_rejected(&refusal(&database), "onceonly_schema is taken");
}

#[test]
fn a_newer_schema_is_refused() {
    let database = with_table();
    database.raw().execute_batch("UPDATE onceonly_schema SET version = 2").unwrap();
    support::wait_until(|| !database.log_path().exists());
    assert_rejected(&refusal(&database), "newer release");
}

#[test]
fn an_unknown_schema_version_is_refused() {
    let database = with_table();
    database.raw().execute_batch("UPDATE onceonly_schema SET version = 0").unwrap();
    assert_rejected(&refusal(&database), "version is unknown");
}

#[test]
fn a_changed_table_is_refused() {
    let changes = [
        "ALTER TABLE onceonly_records RENAME COLUMN attempt TO attempts",
        "ALTER TABLE onceonly_records ADD COLUMN note TEXT",
        "DROP TABLE onceonly_records",
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, 'lease_until      INTEGER', 'lease_until      TEXT')",
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, 'token            BLOB    NOT NULL', 'token            BLOB')",
    ];
    for change in changes {
        let database = with_table();
        database.raw().execute_batch(change).unwrap();
        assert_rejected(&refusal(&database), "columns are not those");
    }
}

#[test]
fn a_table_without_its_guards_is_refused() {
    let database = with_table();
    database.raw().execute_batch("DROP INDEX onceonly_records_key_digest").unwrap();
    assert_rejected(&refusal(&database), "no unique index");

    let partial = "CREATE UNIQUE INDEX partial ON onceonly_records (key_digest) WHERE status = 0";
    database.raw().execute_batch(partial).unwrap();
    assert_rejected(&refusal(&database), "no unique index");

    let with_expression =
        "CREATE UNIQUE INDEX expression ON onceonly_records (key_digest, length(key_digest) + status)";
    database.raw().execute_batch(with_expression).unwrap();
    assert_rejected(&refusal(&database), "no unique index");

    let database = with_table();
    let loosened = "PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'onceonly_records'";
    database.raw().execute_batch(loosened).unwrap();
    assert_rejected(&refusal(&database), "not STRICT");
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let database = Database::new();
    fs::write(database.path(), [b'x'; 8192]).unwrap();
    assert_eq!(refusal(&database).kind(), StoreErrorKind::Corrupt);
}

/// The log goes by the file's name: under a second name there is a second log, and each side grants the other's keys.
#[cfg(unix)]
#[test]
fn a_file_with_a_second_name_is_refused() {
    let database = with_table();
    let link = database.directory().join("link.db");
    fs::hard_link(database.path(), &link).unwrap();
    assert_rejected(&refusal(&database), "second name");
    let by_uri = SqliteStore::open(format!("file:{}", link.display())).unwrap_err();
    assert_rejected(&by_uri, "second name");
    fs::remove_file(&link).unwrap();
    // A symbolic link leads to the one name.
    std::os::unix::fs::symlink(database.path(), &link).unwrap();
    SqliteStore::open(&link).unwrap();
}

// Other systems have file systems that refuse the name.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf_8_is_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let database = Database::new();
    let directory = database.directory().join(OsStr::from_bytes(b"directory \xff"));
    fs::create_dir(&directory).unwrap();
    assert_rejected(&SqliteStore::open(directory.join("records.db")).unwrap_err(), "not UTF-8");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "a file was made");
    // The name that was given is UTF-8, and the one it leads to is not.
    let link = database.directory().join("link");
    std::os::unix::fs::symlink(&directory, &link).unwrap();
    assert_rejected(&SqliteStore::open(link.join("records.db")).unwrap_err(), "not UTF-8");
}

#[test]
fn a_directory_that_is_not_there_is_unavailable() {
    let database = Database::new();
    let error = SqliteStore::open(database.directory().join("missing").join("records.db")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
}

#[test]
fn a_file_opened_for_reading_only_is_refused() {
    let database = with_table();
    for parameter in ["mode=ro", "immutable=1"] {
        let uri = format!("file:{}?{parameter}", database.path().display());
        assert_rejected(&SqliteStore::open(uri).unwrap_err(), "read-only");
    }
}

#[test]
fn a_memory_database_by_its_path_is_refused() {
    // Each connection would have one of its own.
    for path in [":memory:", "", "file::memory:?cache=shared"] {
        assert_rejected(&SqliteStore::open(path).unwrap_err(), "write-ahead log");
    }
}

#[test]
fn nonsense_options_are_refused() {
    let too_long = "t".repeat(64);
    for name in
        ["", "1st", "two words", "dot.ted", "quo\"ted", "naïve", "sqlite_mine", "Onceonly_Schema", &too_long]
    {
        let error = SqliteStore::options().table(name).in_memory().expect_err(name);
        assert_rejected(&error, "table name");
    }
    let hours = std::time::Duration::from_hours(2);
    assert_rejected(&SqliteStore::options().busy_timeout(hours).in_memory().unwrap_err(), "busy timeout");
    assert_rejected(&SqliteStore::options().readers(5000).in_memory().unwrap_err(), "readers");
}

#[tokio::test]
async fn tables_of_one_file_know_nothing_of_each_other() {
    let database = Database::new();
    let clock = support::clock();
    let options = |table: &str| SqliteStore::options().clock(clock.clone()).table(table);
    let (left, right) = (database.open_with(options("left_keys")), database.open_with(options("right_keys")));
    database
        .raw()
        .execute_batch("CREATE TABLE business (note TEXT); INSERT INTO business VALUES ('kept')")
        .unwrap();

    let key = support::key("shared");
    support::claim(&left, &key, 1).await;
    support::claim(&right, &key, 2).await;
    clock.advance(support::KEEP_UNRESOLVED);
    assert_eq!(left.purge_expired(10).await.unwrap(), 1);
    assert!(right.load(&key).await.unwrap().is_some(), "another table's record is gone");
    let note: String = database.raw().query_row("SELECT note FROM business", [], |row| row.get(0)).unwrap();
    assert_eq!(note, "kept");
}

#[tokio::test]
async fn the_applications_own_version_number_is_left_alone() {
    let database = Database::new();
    database.raw().execute_batch("PRAGMA user_version = 42; PRAGMA application_id = 7").unwrap();
    support::claim(&database.open(), &support::key("any"), 1).await;
    let raw = database.raw();
    let version: i64 = raw.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let application: i64 = raw.query_row("PRAGMA application_id", [], |row| row.get(0)).unwrap();
    assert_eq!((version, application), (42, 7));
}

#[tokio::test]
async fn a_file_of_schema_version_1_is_read() {
    let database = Database::new();
    database.raw().execute_batch(include_str!("version_1.sql")).unwrap();
    let store = database.open();
    let tenant = Scope::named("tenant").unwrap();
    let record = async |scope: &Scope, key: &str| {
        let key = RecordKey::new(scope.clone(), key.parse().unwrap());
        store.load(&key).await.unwrap().expect("the record is found under its digest").record
    };

    let running = record(&Scope::global(), "running").await;
    let digest: Vec<u8> = [0, 1, 0, 0].into_iter().chain(0..32).collect();
    let expected = Record {
        version: Version { token: support::token(1), revision: Revision::from_number(2) },
        fingerprint: Fingerprint::from_bytes(&digest).unwrap(),
        attempt: 3,
        created_at: support::START,
        lease_until: support::START.plus(support::span(support::LEASE)),
        expires_at: support::START.plus(support::span(support::KEEP)),
        unresolved_until: support::START.plus(support::span(support::KEEP_UNRESOLVED)),
        status: Status::InProgress { checkpoint: Some("half".into()) },
    };
    assert_eq!(running, expected);

    let response = StoredResponse::new(201, &b"charged\0\xff"[..]).with_header("Location", "/charges/1");
    let done = record(&tenant, "done").await;
    assert_eq!(done.status, Status::Completed(StoredResult::Retained(response)));
    let not_kept = record(&tenant, "not kept").await;
    let head = ResponseHead { code: 204, headers: Vec::new() };
    assert_eq!(not_kept.status, Status::Completed(StoredResult::NotRetained(head)));
    assert_eq!(record(&Scope::global(), "given back").await.status, Status::Released);
}

#[test]
fn many_may_create_the_table_at_once() {
    for _ in 0..30 {
        let database = Database::new();
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    database.open();
                });
            }
        });
        let versions: i64 =
            database.raw().query_row("SELECT count(*) FROM onceonly_schema", [], |row| row.get(0)).unwrap();
        assert_eq!(versions, 1);
    }
}

#[tokio::test]
async fn names_of_the_tables_indexes_that_are_taken_leave_the_file_as_it_is() {
    for suffix in ["key_digest", "sweep_at"] {
        let database = Database::new();
        database.raw().execute_batch(&format!("CREATE TABLE onceonly_records_{suffix} (id)")).unwrap();
        let before = fs::read(database.path()).unwrap();
        let error = SqliteStore::open(database.path()).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Rejected, "{error}");
        assert_eq!(fs::read(database.path()).unwrap(), before, "{suffix}");
    }
}

#[tokio::test]
async fn a_table_name_that_hides_a_function_of_sqlites_is_refused() {
    for name in ["pragma_table_xinfo", "PRAGMA_index_list", "sqlite_x"] {
        let error = SqliteStore::options().table(name).in_memory().unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Rejected, "{name}: {error}");
    }
}
