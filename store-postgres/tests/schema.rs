//! Creating the table, and refusing what is not it.

use onceonly::StoreErrorKind;
use onceonly_postgres::PostgresStore;

use crate::support::Table;

#[tokio::test]
async fn a_table_that_was_not_migrated_is_refused() {
    let table = Table::named("never_migrated");

    let refusal = table.options().connect(&table.url).await.unwrap_err();

    assert_eq!(refusal.kind(), StoreErrorKind::Rejected);
    assert!(refusal.to_string().contains("migrate first"), "{refusal}");
}

#[tokio::test]
async fn migrating_again_changes_nothing() {
    let table = Table::migrated().await;

    table.options().migrate(&table.url).await.unwrap();

    table.store().await;
}

#[tokio::test]
async fn several_processes_may_migrate_at_once() {
    let table = Table::named("migrated_by_many");
    let mut migrations = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (options, url) = (table.options(), table.url.clone());
        migrations.spawn(async move { options.migrate(&url).await });
    }

    while let Some(migrated) = migrations.join_next().await {
        migrated.unwrap().unwrap();
    }

    table.store().await;
}

#[tokio::test]
async fn a_foreign_table_of_the_name_is_refused_and_left_alone() {
    let table = Table::named("somebody_elses");
    table.execute("CREATE TABLE {table} AS SELECT 1 AS number").await;

    for refusal in [
        table.options().migrate(&table.url).await.unwrap_err(),
        table.options().connect(&table.url).await.unwrap_err(),
    ] {
        assert_eq!(refusal.kind(), StoreErrorKind::Rejected);
        assert!(refusal.to_string().contains("not Onceonly's"), "{refusal}");
    }
    assert_eq!(table.number("SELECT number::bigint FROM {table}").await, 1);
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let table = Table::migrated().await;
    table.execute("UPDATE onceonly_schema SET version = 99 WHERE table_name = '{table}'").await;

    for refusal in [
        table.options().migrate(&table.url).await.unwrap_err(),
        table.options().connect(&table.url).await.unwrap_err(),
    ] {
        assert_eq!(refusal.kind(), StoreErrorKind::Rejected);
        assert!(refusal.to_string().contains("newer release"), "{refusal}");
    }
}

#[tokio::test]
async fn a_table_whose_shape_was_changed_is_refused() {
    for (change, reason) in [
        ("ALTER TABLE {table} DROP COLUMN checkpoint", "columns"),
        ("ALTER TABLE {table} ALTER COLUMN lease_until TYPE timestamp", "columns"),
        ("ALTER TABLE {table} DROP CONSTRAINT \"{table}_pkey\"", "unique index"),
    ] {
        let table = Table::migrated().await;
        table.execute(change).await;

        let refusal = table.options().connect(&table.url).await.unwrap_err();

        assert_eq!(refusal.kind(), StoreErrorKind::Rejected, "{change}");
        assert!(refusal.to_string().contains(reason), "{change}: {refusal}");
    }
}

#[tokio::test]
async fn options_that_make_no_sense_are_refused() {
    let table = Table::named("anything");
    for options in [
        table.options().table("a\"b"),
        table.options().schema(""),
        table.options().lanes(0),
        table.options().lock_timeout(std::time::Duration::from_secs(10)),
        table.options().call_timeout(std::time::Duration::ZERO),
    ] {
        let refusal = options.connect(&table.url).await.unwrap_err();
        assert_eq!(refusal.kind(), StoreErrorKind::Rejected, "{refusal}");
    }
}

#[tokio::test]
async fn a_url_that_cannot_be_read_is_refused_without_repeating_it() {
    let refusal = PostgresStore::options().connect("postgres://user:secret@host:port").await.unwrap_err();

    assert_eq!(refusal.kind(), StoreErrorKind::Rejected);
    assert!(!format!("{refusal:?}").contains("secret"), "{refusal:?}");
}
