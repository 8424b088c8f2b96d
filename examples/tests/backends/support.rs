//! Both stores, as the tests open them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fjall::SingleWriterTxDatabase;
use onceonly::{
    Clock, Completion, Fingerprint, IdempotencyKey, KeyStore, NewClaim, RecordKey, Revision, Scope, Span,
    StoreError, StoredResponse, StoredResult, Token,
};
use onceonly_examples::backends::fjall::FjallStore;
use onceonly_examples::backends::redb::RedbStore;
use redb::Database;

pub(crate) trait Backend {
    /// The store in `folder`, as an application opens it.
    fn open(folder: &Path) -> Result<Arc<dyn KeyStore>, StoreError>;

    /// The same on a clock of the test's.
    fn open_with(clock: impl Clock, folder: &Path) -> Arc<dyn KeyStore>;
}

pub(crate) struct Redb;

impl Backend for Redb {
    fn open(folder: &Path) -> Result<Arc<dyn KeyStore>, StoreError> {
        Ok(Arc::new(RedbStore::open(folder.join("keys.redb"))?))
    }

    fn open_with(clock: impl Clock, folder: &Path) -> Arc<dyn KeyStore> {
        let database = Database::create(folder.join("keys.redb")).unwrap();
        Arc::new(RedbStore::over(Arc::new(database), clock).unwrap())
    }
}

pub(crate) struct Fjall;

impl Backend for Fjall {
    fn open(folder: &Path) -> Result<Arc<dyn KeyStore>, StoreError> {
        Ok(Arc::new(FjallStore::open(folder.join("keys.fjall"))?))
    }

    fn open_with(clock: impl Clock, folder: &Path) -> Arc<dyn KeyStore> {
        let database = SingleWriterTxDatabase::builder(folder.join("keys.fjall")).open().unwrap();
        Arc::new(FjallStore::over(database, clock).unwrap())
    }
}

/// Makes tests of functions that are generic over the backend.
macro_rules! on_both {
    ($($test:ident)+) => {
        mod on_redb {
            $(#[tokio::test]
            async fn $test() {
                super::$test::<crate::support::Redb>().await;
            })+
        }

        mod on_fjall {
            $(#[tokio::test]
            async fn $test() {
                super::$test::<crate::support::Fjall>().await;
            })+
        }
    };
}
pub(crate) use on_both;

pub(crate) fn key(name: &str) -> RecordKey {
    RecordKey::new(Scope::named("acct_demo").unwrap(), IdempotencyKey::new(name).unwrap())
}

/// A claim that is remembered for a minute.
pub(crate) fn claim() -> NewClaim {
    NewClaim {
        token: Token::random(),
        fingerprint: Fingerprint::builder().part("body", "charge 1000 usd").finish(),
        attempt: 1,
        checkpoint: None,
        lease: seconds(10),
        keep: seconds(60),
        keep_unresolved: seconds(60),
    }
}

pub(crate) fn completion(body: &'static str) -> Completion {
    let result = StoredResult::Retained(StoredResponse::new(201, body));
    Completion { revision: Revision::from_number(2), result, retention: seconds(60) }
}

fn seconds(seconds: u64) -> Span {
    Span::new(Duration::from_secs(seconds)).unwrap()
}
