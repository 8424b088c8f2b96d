//! Two steps where one is due: between a look and a write, or between two writes, somebody comes in or the call is
//! dropped.

macro_rules! gaps {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        CheckThenInsert: 61, Exclusive,
            "claim looks, and then inserts.",
            "claim::exclusive_across_handles",
            "claims of one key were granted";
        TakeoverLooksThenWrites: 62, Exclusive,
            "A takeover looks, and then writes.",
            "takeover::one_taker_of_an_abandoned_record_is_granted",
            "takeovers were granted";
        RenewLooksThenWrites: 64, Exclusive,
            "renew looks, and then writes.",
            "takeover::a_renewal_and_a_takeover_do_not_both_win",
            "due was all of the first or one of the second";
        ReleaseLooksThenWrites: 65, Exclusive,
            "release looks, and then writes.",
            "takeover::a_release_and_takeovers_grant_the_key_once",
            "due was all of the first or one of the second";
        HalfWrittenOnDrop: 85, Whole,
            "A completion that is dropped leaves its status without its body.",
            "dropped::a_dropped_completion_happened_whole_or_not_at_all",
            "left half of its effect";
        CompleteLooksThenWrites: 237, Held,
            "complete looks, and then writes.",
            "races::of_many_deliveries_of_a_completion_one_is_first",
            "how many deliveries of one completion were applied";
        CompletionInTwoWrites: 238, Whole,
            "A completion writes its status first and its body later.",
            "races::readers_never_see_half_a_write",
            "a reader saw a record";
        RenewalTakesBackResult: 245, Held,
            "renew reads, and writes back over a result under its token.",
            "endings::renewals_never_take_away_a_result",
            "what is left of an ended claim";
        RenewalTakesBackMark: 246, Held,
            "renew reads, and writes back over a mark under its token.",
            "endings::renewals_never_take_away_a_mark",
            "what is left of an ended claim";
        ClaimInTwoWrites: 248, Whole,
            "A claim that is dropped leaves a record with another fingerprint and retention.",
            "dropped::a_dropped_claim_happened_whole_or_not_at_all",
            "left half of its effect";
        ReleaseInTwoWrites: 249, Whole,
            "A release that is dropped leaves the claim without its checkpoint.",
            "dropped::a_dropped_release_happened_whole_or_not_at_all",
            "left half of its effect";
        RenewalGuardedByToken: 295, Held,
            "A renewal compares its revision when it looks, and the token alone when it writes.",
            "interleaved::a_renewal_that_stands_still_is_one_step",
            "no order explains what came of Renew";
        TakeoverGuardedByToken: 296, Exclusive,
            "A takeover compares the version when it looks, and the token alone when it writes.",
            "interleaved::a_takeover_that_stands_still_is_one_step",
            "no order explains what came of Claim";
        ReleaseGuardedByToken: 297, Held,
            "A release compares the status when it looks, and the token alone when it writes.",
            "interleaved::a_release_that_stands_still_is_one_step",
            "no order explains what came of Release";
        CompletionGuardedByToken: 298, Held,
            "A completion compares the status when it looks, and the token alone when it writes.",
            "interleaved::a_completion_that_stands_still_is_one_step",
            "no order explains what came of Complete";
        CompletionFinishedLater: 300, Whole,
            "The body of a result is written by the handle's next call.",
            "shutdown::a_handle_that_goes_with_its_calls_leaves_whole_records",
            "left a record that none of its calls writes";
        MarkLooksThenWrites: 581, Held,
            "A claim over a mark looks, and then writes.",
            "races::versions_never_repeat_under_churn",
            "the version of a claim while it is held";
        CompletionOverMark: 582, Held,
            "A completion looks, and then writes over a mark too.",
            "races::of_a_completion_and_a_release_one_is_applied",
            "due was all of one";
        CompletionGuardedByStatus: 583, Held,
            "A completion compares the token when it looks, and the status alone when it writes.",
            "takeover::a_completion_and_a_takeover_do_not_both_win",
            "due was all of the first or one of the second";
        ClaimOverWhatHasEnded: 584, Exclusive,
            "A claim looks for absence, and then writes over whatever is not in progress.",
            "interleaved::a_claim_that_stands_still_is_one_step",
            "no order explains what came of Claim";
        RenewalInTwoWrites: 585, Whole,
            "A renewal that is dropped leaves its checkpoint without its lease and revision.",
            "dropped::a_dropped_renewal_happened_whole_or_not_at_all",
            "left half of its effect";
    } };
}

pub(super) use gaps;
