//! Renewals: leases and checkpoints.

macro_rules! renewals {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        RenewShortens: 22, Held,
            "A renewal sets the lease, also to an earlier end.",
            "renew::an_extension_never_shortens_the_lease",
            "the lease after an extension";
        NoLateRenewal: 23, Held,
            "A late renewal is refused although nobody took over.",
            "lease::a_late_holder_that_nobody_displaced_may_renew",
            "renew by the holder answered NotHeld";
        RenewalForgetsDeadline: 94, OneClock,
            "A renewal writes the record anew without its time to go: it is remembered for ever.",
            "renew::an_extension_moves_the_lease_forward_and_nothing_else",
            "unresolved_until: found";
        StaleRenewalWritten: 202, Repeating,
            "A renewal with a lower revision is written.",
            "renew::an_overtaken_renewal_changes_nothing_and_is_applied",
            "an earlier revision (2 after 5) was written";
        EqualRenewalWritten: 203, Repeating,
            "A renewal with an equal revision is written.",
            "renew::an_overtaken_renewal_changes_nothing_and_is_applied",
            "an equal revision (5 after 5) was written";
        RenewalDropsCheckpoint: 204, Verbatim,
            "A renewal without a checkpoint drops the one that is there.",
            "renew::a_checkpoint_comes_back_and_stays_until_the_next",
            "after a renewal without one";
        EmptyCheckpointIsNone: 205, Verbatim,
            "An empty checkpoint is kept as none.",
            "renew::a_checkpoint_comes_back_and_stays_until_the_next",
            "an empty checkpoint";
        EndIgnored: 206, OneClock,
            "The end of a lease is taken for an extension by nothing.",
            "renew::ending_the_lease_ends_it_now_and_nothing_else",
            "although it was ended";
        MemoryNotCarriedAlong: 207, PastItsTime,
            "A lease may outlast how long the record is remembered.",
            "renew::a_lease_longer_than_the_memory_carries_the_memory_along",
            "remembered only until";
        RenewalCreates: 208, Held,
            "A renewal of an absent record creates one.",
            "renew::a_renewal_of_nothing_creates_nothing",
            "a renewal of an absent record";
        RenewalFromClaim: 421, OneClock,
            "A renewal counts its lease from the claim.",
            "renew::an_extension_moves_the_lease_forward_and_nothing_else",
            "after the renewal at";
        RenewalAddsUp: 422, Held,
            "A renewal adds its lease to what is left of the one before.",
            "renew::an_extension_never_shortens_the_lease",
            "the lease after an extension";
        RenewalDatesAnew: 423, OneClock,
            "A renewal dates the claim anew.",
            "renew::an_extension_moves_the_lease_forward_and_nothing_else",
            "created_at: found";
        RenewalKeepsRevision: 424, Held,
            "A renewal does not write its revision.",
            "lease::a_late_holder_that_nobody_displaced_may_renew",
            "due was Occupied";
        StoreCountsRevisions: 425, Repeating,
            "The store counts a claim's writes itself, late copies included.",
            "repeat::a_call_delivered_twice_has_its_effect_once",
            "the revision: found";
        OvertakenCheckpointWritten: 426, Repeating,
            "An overtaken renewal still writes its checkpoint.",
            "repeat::a_late_renewal_does_not_bring_back_an_old_checkpoint",
            "a late renewal was written over a later one";
        OvertakenIsNotHeld: 427, Repeating,
            "An overtaken renewal is refused.",
            "renew::an_overtaken_renewal_changes_nothing_and_is_applied",
            "renew by the holder answered NotHeld";
        EndForgets: 428, OneClock,
            "The end of a lease ends how long the record is remembered.",
            "renew::ending_the_lease_ends_it_now_and_nothing_else",
            "unresolved_until: found";
        EndDropsCheckpoint: 429, Verbatim,
            "The end of a lease drops the checkpoint.",
            "renew::a_checkpoint_comes_back_and_stays_until_the_next",
            "the checkpoint after the end of the lease";
        LeaseCutAtMemory: 430, PastItsTime,
            "A lease is cut where the memory of its record ends.",
            "renew::a_lease_longer_than_the_memory_carries_the_memory_along",
            "the lease is cut";
        LeaseCutAtRetention: 431, OneClock,
            "No lease goes past the retention that its claim has reserved.",
            "lease::a_renewed_lease_is_never_seen_as_over",
            "keeps the lease until";
        RenewalSkippedWhileFresh: 432, Verbatim,
            "A renewal is not written while more than half of its lease is left.",
            "renew::a_checkpoint_comes_back_and_stays_until_the_next",
            "the checkpoint that was saved";
        RenewalIsToldWhatItAskedFor: 433, Held,
            "A renewal is told the lease that it asked for, not the one that stands.",
            "renew::an_extension_never_shortens_the_lease",
            "the lease after an extension";
        RefusedCheckpointWritten: 434, Held,
            "A refused renewal replaces the checkpoint, where there is one.",
            "renew::a_checkpoint_is_written_by_the_holder_only",
            "a refused renewal has changed the record";
        RenewalReopensMark: 435, Held,
            "A renewal takes a released claim back.",
            "release::a_released_token_writes_no_more",
            "renew answered Applied";
        RenewalOfResult: 436, Held,
            "A renewal of a completed record is applied.",
            "complete::a_completed_token_renews_no_more",
            "renew answered Applied";
        ExtensionUndoesEnd: 437, OneClock,
            "An extension after the end of a lease brings the former end back.",
            "renew::ending_the_lease_ends_it_now_and_nothing_else",
            "extended by a second";
    } };
}

pub(super) use renewals;
