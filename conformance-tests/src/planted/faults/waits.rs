//! Calls that wait.

macro_rules! waits {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        WaitsWithoutLimit: 271, Bounded,
            "A write waits for a lock without limit.",
            "locks::a_lock_that_stays_makes_every_write_unavailable",
            "waits without limit";
        LockedOutIsNotHeld: 272, Bounded,
            "A renewal that cannot get the lock answers NotHeld.",
            "locks::a_lock_that_stays_makes_every_write_unavailable",
            "Renew on a locked record answered \"not held\"";
        LooksWaitForLocks: 273, Isolated,
            "A look waits while any record is locked.",
            "locks::a_locked_record_does_not_hold_up_looks_at_others",
            "due was the record";
        WaitersKeepTheirPlaces: 274, Bounded,
            "A call that is dropped while it waits for a lock keeps its place in a pool of 64.",
            "locks::calls_given_up_at_a_lock_keep_nothing",
            "waits without limit";
        OthersWaitWithoutLimit: 302, Bounded,
            "A write waits without limit while any other record is locked.",
            "locks::a_locked_record_holds_up_writes_of_others_within_bounds",
            "waits without limit";
        BegunIsDone: 303, Whole,
            "A renewal that is repeated counts as done, also if it was locked out the first time.",
            "locks::a_write_that_was_locked_out_can_be_repeated",
            "the revision after a call that was locked out first";
        PurgeWaitsWithoutLimit: 601, Bounded,
            "A purge waits for locks without limit.",
            "locks::a_purge_beside_a_lock_ends",
            "waits without limit";
        LocksAreCrossed: 602, Bounded,
            "Claims and purges take two locks in opposite order.",
            "races::a_purge_never_takes_a_new_claim",
            "waits without limit";
        ClaimWaitsForHolder: 603, Bounded,
            "A claim of a key that is held waits for its holder.",
            "claim::a_second_claim_is_refused_and_shown_the_whole_record",
            "waits without limit";
        ClaimBlocksItsThread: 604, Bounded,
            "A claim of a key that is held blocks its thread.",
            "claim::a_second_claim_is_refused_and_shown_the_whole_record",
            "has blocked its thread";
        RenewalsGoFirst: 605, Bounded,
            "Other calls wait until no renewal is under way.",
            "races::a_busy_key_does_not_hold_up_others",
            "waits without limit";
    } };
}

pub(super) use waits;
