//! Claims and takeovers: who is granted, what is written, what a loser is shown.

macro_rules! claims {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        TakeoverKeepsDeadline: 13, Verbatim,
            "A takeover keeps the lease of the displaced claim.",
            "claim::a_claim_expecting_the_stored_version_replaces_every_field",
            "the taker's deadlines";
        AttemptNotRaised: 26, Verbatim,
            "A takeover keeps the attempt of the displaced claim.",
            "lease::attempts_count_the_takeovers",
            "the attempt's number after a takeover";
        OwnClaimGrantedAgain: 31, Repeating,
            "A claim repeated by its own token is granted again.",
            "claim::a_claim_repeated_by_its_own_token_changes_nothing",
            "due was Occupied";
        OwnClaimExtends: 32, Repeating,
            "A claim repeated by its own token extends the lease.",
            "claim::a_claim_repeated_by_its_own_token_changes_nothing",
            "lease_until: found";
        LoserBindsFingerprint: 35, Held,
            "A refused claim leaves its fingerprint in the record.",
            "lease::an_abandoned_key_stays_bound_to_its_request",
            "what the key is bound to";
        GuardByRevisionOnly: 67, Exclusive,
            "A takeover compares the revision without the token.",
            "takeover::a_taker_that_looked_before_another_claim_is_refused",
            "due was Occupied";
        ConflictIsAnError: 80, Exclusive,
            "A lost race is reported as an internal error.",
            "claim::a_second_claim_is_refused_and_shown_the_whole_record",
            "claim failed on a store that is well";
        GuardByTokenOnly: 201, Exclusive,
            "A takeover compares the token without the revision.",
            "claim::a_claim_expecting_another_version_is_refused",
            "expecting an older revision answered Claimed";
        AbsentOverwritesPast: 215, PastItsTime,
            "A claim expecting absence overwrites a record past its time.",
            "claim::a_record_past_its_time_is_not_overwritten_by_a_claim_expecting_absence",
            "answered Claimed";
        GuardedClaimInserts: 216, Exclusive,
            "A guarded claim of an absent record inserts one.",
            "claim::a_claim_expecting_a_version_of_nothing_is_vacant",
            "a version of an absent record";
        OldCheckpointLeft: 220, PastItsTime,
            "A claim that brings no checkpoint leaves that of the displaced one.",
            "retention::nothing_of_an_earlier_period_is_left",
            "what the new claim starts with";
        OwnClaimErases: 243, Repeating,
            "A claim repeated after its release is granted again.",
            "repeat::a_late_copy_of_any_call_changes_nothing",
            "a late copy of Claim";
        LoserIsShownNoCheckpoint: 244, Exclusive,
            "A refused claim is shown the record without its checkpoint.",
            "claim::a_second_claim_is_refused_and_shown_the_whole_record",
            "another record than the winner's";
        ResultsCannotBeReplaced: 257, Exclusive,
            "A guarded claim of a live result is refused.",
            "claim::a_live_result_gives_way_to_a_claim_that_expects_it",
            "due was Claimed";
        OwnClaimOverItsResult: 284, Repeating,
            "A claim delivered again after its completion is granted again.",
            "late::a_claim_that_comes_again_after_its_completion_is_shown_the_result",
            "has replaced the result";
        OwnTakeoverGrantedAgain: 285, Repeating,
            "A takeover delivered again is granted again, over what its token has written since.",
            "late::a_copy_of_any_call_changes_nothing_after_one_to_three_later_ones",
            "a late copy of call 3, Claim";
        TakeoverNeedsPurge: 290, PastItsTime,
            "A record past its time is not given away before it is purged.",
            "boundaries::every_deadline_holds_without_a_purge",
            "due was Claimed";
    } };
}

pub(super) use claims;
