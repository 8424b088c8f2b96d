//! What a call makes of a record, where nobody knows whether it ran.

use std::time::Duration;

use onceonly::{LeaseChange, ManualClock, Record, RecordKey, Snapshot, Span, Timestamp};

use crate::call::Request;
use crate::handle::Handle;
use crate::reference::ReferenceStore;
use crate::verdict::check;

/// A call that ran, if it did, at some instant since `earliest`, on a record that was as `before`.
pub(crate) struct Effect {
    pub(crate) request: Request,
    /// The record that is looked at; in a batch, that of one item.
    pub(crate) key: RecordKey,
    pub(crate) before: Option<Record>,
    /// The store's time before the call.
    pub(crate) earliest: Timestamp,
    /// What the store's deadlines are multiples of.
    pub(crate) resolution: Duration,
}

impl Effect {
    /// Ends the case unless the record is as before the call, or as after it.
    pub(crate) async fn check_whole(&self, handle: &Handle) {
        let found = handle.load(&self.key).await;
        let untouched = found.as_ref().map(|found| &found.record) == self.before.as_ref();
        check!(
            untouched || self.is_seen_in(found.as_ref()).await,
            "a {:?} that was cut off left half of its effect: {found:?}",
            self.request.verb()
        );
    }

    /// Ends the case unless the record is as after the call, which was repeated.
    pub(crate) async fn check_done(&self, handle: &Handle) {
        let found = handle.load(&self.key).await;
        check!(
            self.is_seen_in(found.as_ref()).await,
            "{:?}, repeated after it had been cut off, did not have its effect: {found:?}",
            self.request.verb()
        );
    }

    /// Whether what was found is what the call makes of the record, in every field: one instant explains all of it.
    pub(crate) async fn is_seen_in(&self, found: Option<&Snapshot>) -> bool {
        let Some(found) = found else {
            return self.at(self.earliest).await.is_none();
        };
        for instant in self.instants(&found.record) {
            // A deadline that was rounded up speaks of an instant that is as much too late.
            let late = instant.since(found.now);
            let possible = self.earliest <= instant && (late.is_zero() || late < self.resolution);
            if possible && self.at(instant).await.as_ref() == Some(&found.record) {
                return true;
            }
        }
        false
    }

    /// The record after the call, had it run at `instant`. Reckoned by the reference store, which says in words of its
    /// own what a verb does.
    pub(crate) async fn at(&self, instant: Timestamp) -> Option<Record> {
        let model = ReferenceStore::new(ManualClock::starting_at(instant)).with_resolution(self.resolution);
        model.edit(&self.key, |slot, _| slot.clone_from(&self.before));
        self.request.deliver(&model).await;
        model.edit(&self.key, |slot, _| slot.clone())
    }

    /// The instants at which the call may have run: the one that its deadline speaks of, and the earliest one for a call
    /// that has moved none.
    fn instants(&self, found: &Record) -> [Timestamp; 2] {
        let told = match &self.request {
            Request::Claim { .. } | Request::ClaimMany { .. } => found.created_at,
            Request::Renew { renewal, .. } => match renewal.lease {
                LeaseChange::Extend(lease) => before(found.lease_until, lease),
                LeaseChange::End => found.lease_until,
            },
            Request::Complete { completion, .. } => before(found.expires_at, completion.retention),
            Request::Release { release, .. } => before(found.expires_at, release.keep),
            Request::Load { .. } | Request::PurgeExpired { .. } => self.earliest,
        };
        [told, self.earliest]
    }
}

/// The instant whose deadline, `span` later, is `deadline`.
const fn before(deadline: Timestamp, span: Span) -> Timestamp {
    Timestamp::from_micros(deadline.as_micros().saturating_sub(span.as_micros()))
}
