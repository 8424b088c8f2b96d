//! Handlers that run longer than the longest run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use onceonly::{Event, Idempotency, Observer, Outcome, Policy, RecordKey};
use onceonly_memory::MemoryStore;

use super::setup::{World, charged, until};

/// Nobody may take over, so a handler that has overrun is not told to stop, and its result is accepted.
#[tokio::test]
async fn an_overrun_under_park_tells_nobody_to_stop() {
    let lease = Duration::from_millis(60);
    let world = World::with(|settings| settings.lease(lease).longest_run(lease));
    let hung = world.start().await;
    until(async || world.events.has("overran")).await;
    // Four leases.
    world.let_heart_beat(12).await;
    assert!(!hung.attempt.is_lost() && !world.events.has("lost"), "{:?}", world.events.names());
    assert!(matches!(hung.finish(charged()).await.unwrap(), Outcome::Executed(_)));
}

/// Of two handlers, the one whose longest run ends first is reported first, though a renewal of it would be due later
/// than the other's end.
#[tokio::test]
async fn an_overrun_is_reported_when_the_longest_run_ends_and_not_a_renewal_later() {
    let overran = Overran::default();
    let builder = Idempotency::builder(MemoryStore::new()).observer(overran.clone()).policy(Policy::Rerun);
    let millis = Duration::from_millis;
    // Renewed after 0.8, 1.6 and 2.4 s, and once more after 3.2 s if the end did not count.
    let engine = builder.lease(millis(2_400)).longest_run(millis(2_520)).build().unwrap();
    let first = World { engine: engine.clone(), ..World::new() };
    let engine =
        engine.configured(|settings| settings.lease(millis(2_760)).longest_run(millis(2_760))).unwrap();
    let second = World { engine, ..World::new() };
    let handlers = [first.start().await, second.start().await];
    until(async || overran.keys().len() == 2).await;
    assert_eq!(overran.keys(), [first.key, second.key]);
    for handler in handlers {
        handler.finish(charged()).await.unwrap();
    }
}

/// Whose handlers have overrun, in order.
#[derive(Clone, Default)]
struct Overran(Arc<Mutex<Vec<RecordKey>>>);

impl Overran {
    fn keys(&self) -> Vec<RecordKey> {
        self.0.lock().unwrap().clone()
    }
}

impl Observer for Overran {
    fn observe(&self, event: &Event<'_>) {
        if event.kind.name() == "overran" {
            self.0.lock().unwrap().push(event.key.clone());
        }
    }
}
