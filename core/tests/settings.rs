//! Settings that make no sense are refused where they are made.

use std::time::Duration;

use onceonly::{Idempotency, InvalidSettings, InvalidSpan, Settings, Waiting};
use onceonly_memory::MemoryStore;

fn refused(change: impl FnOnce(Settings) -> Settings) -> InvalidSettings {
    Idempotency::builder(MemoryStore::new()).settings(change).build().expect_err("the settings make no sense")
}

fn accepted(change: impl FnOnce(Settings) -> Settings) {
    Idempotency::builder(MemoryStore::new()).settings(change).build().expect("the settings make sense");
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[test]
fn b103_durations_that_no_store_can_keep_are_refused() {
    let zero = |name| InvalidSettings::Span { name, source: InvalidSpan::Zero };
    let long = |name| InvalidSettings::Span { name, source: InvalidSpan::TooLong };
    assert_eq!(refused(|settings| settings.lease(Duration::ZERO)), zero("lease"));
    assert_eq!(refused(|settings| settings.longest_run(Duration::ZERO)), zero("longest run"));
    assert_eq!(refused(|settings| settings.retention(Duration::ZERO)), zero("retention"));
    assert_eq!(refused(|settings| settings.retention(Duration::MAX)), long("retention"));
    assert_eq!(refused(|settings| settings.unresolved(Duration::MAX)), long("unresolved"));
    assert_eq!(refused(|settings| settings.keep_released(Duration::ZERO)), zero("keep released"));
    assert_eq!(refused(|settings| settings.waiting(Waiting::UpTo(Duration::ZERO))), zero("waiting"));
}

#[test]
fn b103_settings_that_contradict_each_other_are_refused() {
    assert_eq!(refused(|settings| settings.lease(Duration::from_millis(9))), InvalidSettings::Lease);
    let days = secs(86_401);
    assert_eq!(refused(|settings| settings.lease(days).longest_run(days)), InvalidSettings::Lease);
    assert_eq!(refused(|settings| settings.longest_run(secs(59))), InvalidSettings::LongestRunBelowLease);
    assert_eq!(refused(|settings| settings.retention(secs(59))), InvalidSettings::RetentionBelowLease);
    assert_eq!(
        refused(|settings| settings.retention(secs(3_600)).unresolved(secs(3_600))),
        InvalidSettings::UnresolvedBelowRetention
    );
    assert_eq!(
        refused(|settings| settings.waiting(Waiting::UpTo(secs(901)))),
        InvalidSettings::WaitingAboveLongestRun
    );
    assert_eq!(refused(|settings| settings.response_bytes_max(0)), InvalidSettings::ResponseBytes);
    assert_eq!(refused(|settings| settings.response_bytes_max(65 << 20)), InvalidSettings::ResponseBytes);
}

#[test]
fn settings_at_their_limits_are_accepted() {
    accepted(|settings| settings.lease(Duration::from_millis(10)));
    accepted(|settings| settings.lease(secs(86_400)).longest_run(secs(86_400)).retention(secs(86_400)));
    accepted(|settings| settings.retention(secs(60)));
    accepted(|settings| settings.retention(secs(400 * 86_400)));
    accepted(|settings| settings.response_bytes_max(64 << 20).waiting(Waiting::UpTo(secs(900))));
}

#[test]
fn settings_for_one_route_are_checked_too() {
    let idempotency = Idempotency::new(MemoryStore::new());
    let refused = idempotency.configured(|settings| settings.lease(Duration::ZERO)).unwrap_err();
    assert_eq!(refused.to_string(), "lease");
    assert!(idempotency.configured(|settings| settings.lease(secs(5))).is_ok());
}
