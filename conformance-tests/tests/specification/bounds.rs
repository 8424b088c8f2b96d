//! How large the world of one run is, and what is wrong in it.

/// What an engine does with an abandoned key. See [`onceonly::Policy`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    Park,
    Rerun,
    Resolve,
}

/// The world of one run. Everything in it happens in every order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) policy: Policy,
    /// Callers of `run`, each with an engine of its own.
    pub(crate) engines: u8,
    /// The last of them asks for something else under the same key.
    pub(crate) stranger: bool,
    /// Somebody settles the abandoned key by hand.
    pub(crate) operator: bool,
    /// How often each caller calls.
    pub(crate) calls: u8,
    /// A caller that was told that nothing happened calls again.
    pub(crate) returns: bool,
    /// A caller may go away before its handler runs.
    pub(crate) leaves: bool,
    /// How many claims each engine may send.
    pub(crate) claims: u8,
    /// The highest revision that a holder uses for anything but its last write.
    pub(crate) revisions: u8,
    pub(crate) crashes: u8,
    /// Handlers save where they stand, and resume.
    pub(crate) checkpoints: bool,
    pub(crate) heartbeats: bool,
    /// Handlers commit effect and result in one transaction.
    pub(crate) transaction: bool,
    /// Handlers stop when the claim can no longer be relied on, and are never paused between looking and acting.
    pub(crate) heed_lost: bool,
    /// The answer to a claim may arrive after its lease.
    pub(crate) slow_answers: bool,
    /// Copies of a request arrive also after its sender was answered, without end.
    pub(crate) late_copies: bool,
    /// Until when the clock ticks. All durations are in ticks.
    pub(crate) ticks: u8,
    pub(crate) lease: u8,
    pub(crate) keep: u8,
    pub(crate) retention: u8,
    pub(crate) keep_unresolved: u8,
    pub(crate) keep_released: u8,
    pub(crate) weakness: Option<Weakness>,
}

impl Bounds {
    /// The same world, with one more tick, one more claim for each engine and one more write for each holder.
    pub(crate) const fn deeper(self) -> Self {
        Self { ticks: self.ticks + 1, claims: self.claims + 1, revisions: self.revisions + 1, ..self }
    }
}

/// One thing done otherwise than the design says. Each must be found out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weakness {
    /// Store: a takeover compares the token only.
    TokenOnlyGuard,
    /// Store: a takeover compares a per-record counter only.
    RevisionOnlyGuard,
    /// Store: every renewal that its holder sends is written, in the order in which they arrive.
    RenewalsWithoutRevisions,
    /// Store: completing leaves the revision as it was.
    CompleteKeepsRevision,
    /// Store: a result is accepted from whoever sends it.
    CompleteByAnyToken,
    /// Store: a result sent again by the claim that completed the record is refused.
    RepeatedResultRefused,
    /// Store: a lease that its holder ends goes on.
    EndIsIgnored,
    /// Store: a released record is gone at once.
    ReleaseDeletes,
    /// Store: an unfinished record is remembered no longer than a finished one.
    UnfinishedForgottenLikeFinished,
    /// Store: purging takes what is abandoned.
    PurgeTakesAbandoned,
    /// Engine: one's own claim counts as granted after its lease.
    OwnLapsedClaimTrusted,
    /// Engine: one's own lapsed claim is taken over without the question that belonged to it.
    OwnLapsedClaimSkipsQuestion,
    /// Engine: one's own lapsed claim is taken over as another attempt.
    OwnLapsedClaimCounts,
    /// Engine: work starts without a look whether the claim outlived the wait for its answer.
    StartsWithoutConfirming,
    /// Engine: a claim without an answer is forgotten.
    UnansweredClaimForgotten,
    /// Engine: `NoEffect` releases, whatever the attempt.
    ReleaseOnAnyAttempt,
    /// Engine: a grant that nobody awaits is released, whatever the attempt.
    UnawaitedAlwaysReleased,
    /// Engine: `NoEffect` ends the lease once a checkpoint was saved, also under Park.
    CheckpointForbidsRelease,
    /// Engine: a save without an answer is repeated under its number after later writes were sent.
    SaveRepeatedUnderOldNumber,
    /// Engine: a repeated claim is relied on for a whole lease.
    WholeLeaseRelied,
    /// Engine: another fingerprint is let through.
    FingerprintIgnored,
    /// Engine: the key for calls downstream comes from the token.
    DerivedFromToken,
    /// Embedder: a transaction commits although its result was there already.
    CommitsDespiteCompleted,
}
