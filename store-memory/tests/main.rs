//! What only a store in memory can do wrong: forget, and leak.

use std::time::Duration;

use onceonly::{
    ClaimOutcome, Expected, Fingerprint, IdempotencyKey, KeyStore, ManualClock, NewClaim, RecordKey, Scope,
    Span, StoreErrorKind, Timestamp, Token,
};
use onceonly_memory::MemoryStore;

fn clock() -> ManualClock {
    ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000))
}

fn key(number: usize) -> RecordKey {
    RecordKey::new(Scope::global(), IdempotencyKey::new(&format!("key {number}")).unwrap())
}

fn claim() -> NewClaim {
    let span = |millis| Span::new(Duration::from_millis(millis)).unwrap();
    NewClaim {
        token: Token::random(),
        fingerprint: Fingerprint::builder().finish(),
        attempt: 1,
        checkpoint: None,
        lease: span(1),
        keep: span(10),
        keep_unresolved: span(10),
    }
}

async fn purge_all(store: &MemoryStore) -> u64 {
    let mut purged = 0;
    loop {
        match store.purge_expired(1_000).await.unwrap() {
            0 => return purged,
            some => purged += some,
        }
    }
}

/// B101: a full store refuses new keys. It never makes room by forgetting a live one.
#[tokio::test]
async fn b101_a_full_store_refuses_new_keys_and_forgets_none() {
    let clock = clock();
    let store = MemoryStore::with_capacity(clock.clone(), 1_000);
    let mut refused = 0;
    for number in 0..2_000 {
        match store.claim(&key(number), &claim(), Expected::Absent).await {
            Ok(ClaimOutcome::Claimed(_)) => assert!(number < 1_000),
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                assert_eq!(error.kind(), StoreErrorKind::Rejected);
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 1_000);
    for number in 0..1_000 {
        assert!(store.load(&key(number)).await.unwrap().is_some(), "key {number} was forgotten");
    }
    // What is there may still be written, and replaced.
    let held = store.load(&key(7)).await.unwrap().unwrap().record.version;
    let taken = store.claim(&key(7), &claim(), Expected::Exactly(held)).await.unwrap();
    assert!(matches!(taken, ClaimOutcome::Claimed(_)));
    // Past its time it makes room, once it is purged.
    clock.advance(Duration::from_millis(10));
    assert_eq!(purge_all(&store).await, 1_000);
    assert!(matches!(
        store.claim(&key(5_000), &claim(), Expected::Absent).await,
        Ok(ClaimOutcome::Claimed(_))
    ));
}

/// B101: many keys of a short retention come and go, and the memory that they took is used again.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn b101_memory_does_not_grow_with_the_keys_that_were() {
    let clock = clock();
    let store = MemoryStore::with_clock(clock.clone());
    let base = resident_pages();
    let mut resident = Vec::new();
    for round in 0..6 {
        for number in 0..50_000 {
            store.claim(&key(round * 50_000 + number), &claim(), Expected::Absent).await.unwrap();
        }
        clock.advance(Duration::from_millis(10));
        assert_eq!(purge_all(&store).await, 50_000);
        resident.push(resident_pages());
    }
    assert_eq!(format!("{store:?}"), "MemoryStore { records: 0, .. }");
    // What stays is what the allocator keeps for later: half of what a store keeps that never gives its tables back.
    assert!(resident[5] < base + 5_000, "{resident:?} pages after each round, {base} before");
}

#[cfg(target_os = "linux")]
fn resident_pages() -> u64 {
    let memory = std::fs::read_to_string("/proc/self/statm").unwrap();
    memory.split(' ').nth(1).unwrap().parse().unwrap()
}

/// B011: two stores in memory share nothing, which is why there is a warning when one is made.
#[tokio::test]
async fn b011_two_stores_share_nothing() {
    let (one, other) = (MemoryStore::new(), MemoryStore::new());
    for store in [&one, &other] {
        assert!(matches!(
            store.claim(&key(1), &claim(), Expected::Absent).await,
            Ok(ClaimOutcome::Claimed(_))
        ));
    }
}

/// A small limit reaches every record in the end, and takes nothing that lives.
#[tokio::test]
async fn purges_of_one_record_at_a_time_reach_them_all() {
    let clock = clock();
    let store = MemoryStore::with_clock(clock.clone());
    for number in 0..500 {
        store.claim(&key(number), &claim(), Expected::Absent).await.unwrap();
    }
    clock.advance(Duration::from_millis(9));
    store.claim(&key(999), &claim(), Expected::Absent).await.unwrap();
    clock.advance(Duration::from_millis(1));
    for _ in 0..500 {
        assert_eq!(store.purge_expired(1).await.unwrap(), 1);
    }
    assert_eq!(store.purge_expired(1).await.unwrap(), 0);
    assert_eq!(store.purge_expired(0).await.unwrap(), 0);
    assert!(store.load(&key(999)).await.unwrap().is_some());
}
