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
    } };
}

pub(super) use renewals;
