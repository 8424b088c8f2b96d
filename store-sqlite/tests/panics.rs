//! A runtime's waker is called on the writer's thread, and may panic there. The thread lives on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use onceonly::{ClaimOutcome, Expected, KeyStore};

use crate::support::{self, Database};

/// A runtime's waker, counting how often it panicked.
#[derive(Default)]
struct PanickingWaker(AtomicUsize);

impl Wake for PanickingWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("the waker is broken");
    }
}

#[tokio::test]
async fn a_waker_that_panics_is_not_the_neighbours_matter() {
    let database = Database::new();
    let store = database.open();
    let (first, second, claim) = (support::key("first"), support::key("second"), support::new_claim(1));
    let panicking = Arc::new(PanickingWaker::default());
    let raw = database.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut broken = store.claim(&first, &claim, Expected::Absent);
    let mut neighbour = store.claim(&second, &claim, Expected::Absent);
    let waker = Waker::from(Arc::clone(&panicking));
    assert!(broken.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(support::poll_once(&mut neighbour).is_pending());
    raw.execute_batch("COMMIT").unwrap();
    let outcome = neighbour.await.unwrap();
    assert!(matches!(outcome, ClaimOutcome::Claimed(_)), "{outcome:?}");
    assert_eq!(panicking.0.load(Ordering::SeqCst), 1);
    // It was answered all the same, and whoever asks again is told.
    assert!(matches!(broken.await.unwrap(), ClaimOutcome::Claimed(_)));
    support::claim(&store, &support::key("third"), 1).await;
}
