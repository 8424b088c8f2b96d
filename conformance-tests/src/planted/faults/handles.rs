//! What a handle keeps to itself, and what goes with it.

macro_rules! handles {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        LooksLagBehind: 73, Primary,
            "load answers from a copy that is one write behind, as a replica is.",
            "races::a_loser_that_looks_again_sees_the_winner",
            "found None";
        CachedLoads: 74, Durable,
            "load answers from a cache of the handle.",
            "load::a_write_is_seen_by_every_other_handle",
            "does not see the renewal";
        HandleReleasesItsClaims: 86, Durable,
            "A handle that is dropped releases its claims.",
            "load::a_write_outlives_the_handle_that_made_it",
            "status: found Released";
        EvictsWhenFull: 98, Isolated,
            "A store that is full forgets its oldest record.",
            "keys::thousands_of_random_keys_never_meet",
            "no record where one is due";
        LoadCreates: 217, Durable,
            "load leaves a placeholder for a key that it does not find.",
            "load::an_unknown_key_is_none_and_stays_unknown",
            "load of a key that nobody claimed";
        HandleTakesItsRecords: 218, Durable,
            "A handle that is dropped takes its records with it.",
            "load::a_write_outlives_the_handle_that_made_it",
            "no record where one is due";
        PermitLostOnDrop: 241, Bounded,
            "A dropped call keeps the store's only permit.",
            "dropped::a_dropped_claim_happened_whole_or_not_at_all",
            "waits without limit";
        RuntimeTakesTheConnection: 299, Whole,
            "A handle's connection ends with the runtime of its first call.",
            "shutdown::a_runtime_that_ends_leaves_whole_records_and_a_usable_handle",
            "the runtime that made its first calls has ended";
        GivesUpAfterFailures: 301, Bounded,
            "A handle of which three calls have failed refuses all others.",
            "failures::a_handle_that_has_met_every_failure_is_well_afterwards",
            "calls on it have failed";
        LookPermitLostOnDrop: 591, Bounded,
            "A look that is dropped keeps the store's only permit.",
            "dropped::a_dropped_load_leaves_the_handle_usable",
            "waits without limit";
        PurgePermitLostOnDrop: 592, Bounded,
            "A purge that is dropped keeps the only permit of purges.",
            "dropped::a_dropped_purge_leaves_the_handle_usable",
            "waits without limit";
        TurnLostOnDrop: 593, Bounded,
            "A call that is dropped while it waits for its turn never passes it on.",
            "dropped::aborted_tasks_leave_every_record_legal_and_every_handle_usable",
            "waits without limit";
        LoadForgetsPast: 594, PastItsTime,
            "load shows nothing of a record past its time.",
            "retention::a_result_is_replayed_until_its_deadline_and_not_after",
            "no record where one is due";
        LoadDeletesPast: 595, PastItsTime,
            "load deletes a record past its time.",
            "retention::past_its_time_every_verb_takes_the_record_for_gone",
            "answered Vacant";
        LoadExtends: 596, PastItsTime,
            "load extends the retention.",
            "load::reading_moves_no_deadline",
            "expires_at: found";
    } };
}

pub(super) use handles;
