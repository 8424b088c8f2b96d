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
        TakeoverIsSentAgain: 82, Exclusive,
            "A takeover is sent again after a lost answer, and answered as the second copy is: refused.",
            "claim::a_live_result_gives_way_to_a_claim_that_expects_it",
            "due was Claimed";
        ResultIsLeftBehind: 95, PastItsTime,
            "A body is kept apart from its record, and left there for a later result that has none.",
            "retention::nothing_of_an_earlier_period_is_left",
            "body: found one, due none";
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
        FirstRevisionIsZero: 401, Exclusive,
            "A claim is written with revision 0.",
            "claim::a_fresh_key_is_granted",
            "revision: found Revision(0)";
        ClaimLosesCheckpoint: 402, Whole,
            "The checkpoint that a claim brings is not stored.",
            "payload::checkpoints_of_all_sizes_come_back",
            "brought by a claim";
        SpansSwapped: 403, OneClock,
            "A claim is kept for as long as it is to be remembered, and remembered for as long as it is to be kept.",
            "claim::its_deadlines_are_the_spans_asked_for",
            "expires_at is";
        TakeoverKeepsFingerprint: 404, Verbatim,
            "A takeover keeps the fingerprint of the displaced claim.",
            "claim::a_claim_expecting_the_stored_version_replaces_every_field",
            "fingerprint: found";
        TakeoverKeepsMemory: 405, Verbatim,
            "A takeover is remembered for as long as the displaced claim.",
            "claim::a_claim_expecting_the_stored_version_replaces_every_field",
            "the taker's deadlines";
        TakeoverCountsOn: 406, Verbatim,
            "A takeover goes on counting the displaced claim's writes.",
            "claim::a_claim_expecting_the_stored_version_replaces_every_field",
            "revision: found Revision(3)";
        AttemptNeverBeginsAnew: 407, Verbatim,
            "The store counts the attempts of a key itself, and never begins anew.",
            "lease::attempts_count_the_takeovers",
            "the attempt's number of a new period";
        MarkStaysMarked: 408, Exclusive,
            "A claim over a mark leaves it marked as released.",
            "release::a_released_key_can_be_claimed_at_once",
            "status: found Released";
        LiveClaimsCannotBeReplaced: 409, Exclusive,
            "A guarded claim of a live claim is refused.",
            "claim_many::a_batch_answers_as_single_claims_do",
            "the answers to a mixed batch";
        GuardAcceptsOlder: 410, Exclusive,
            "A takeover is granted over a record that is older than what it expects.",
            "claim::a_claim_expecting_another_version_is_refused",
            "expecting a newer revision answered Claimed";
        ClaimIsAnUpsert: 411, Exclusive,
            "A claim is written over whatever is there.",
            "claim::a_second_claim_is_refused_and_shown_the_whole_record",
            "due was Occupied";
        RefusedClaimCounts: 412, Exclusive,
            "A refused claim counts as an attempt.",
            "claim::a_second_claim_is_refused_and_shown_the_whole_record",
            "attempt: found 8, due 7";
        PastIsVacant: 413, PastItsTime,
            "A claim that meets a record past its time answers Vacant.",
            "claim::a_record_past_its_time_is_not_overwritten_by_a_claim_expecting_absence",
            "answered Vacant";
        LoserIsShownTheTimeOfTheClaim: 414, PastItsTime,
            "A refused claim is told the time at which the record was claimed.",
            "claim::a_record_past_its_time_is_not_overwritten_by_a_claim_expecting_absence",
            "shown with a time before its deadline";
        FormerClaimTakesBack: 415, Held,
            "A claim delivered again takes its key back from a taker.",
            "repeat::a_late_copy_of_any_call_leaves_a_taker_alone",
            "a late Claim of the displaced holder";
        OwnClaimCountsAgain: 416, Repeating,
            "A claim repeated by its own token counts as another attempt.",
            "repeat::a_call_repeated_after_a_lost_reply_has_its_effect_once",
            "the attempt: found 2";
        TakeoverKeepsLongerRetention: 417, Verbatim,
            "A takeover keeps the retention of what it displaces, where that is longer.",
            "claim::a_claim_expecting_the_stored_version_replaces_every_field",
            "the taker's deadlines";
    } };
}

pub(super) use claims;
