//! Who counts as the holder.

macro_rules! holders {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        CompleteWithoutToken: 14, Held,
            "complete does not compare the token.",
            "held::a_strangers_token_writes_nothing",
            "complete answered Applied";
        CompleteByFormerHolder: 16, Held,
            "complete accepts whoever has ever held the record.",
            "held::a_superseded_holder_writes_nothing",
            "complete answered Applied";
        ReleaseWithoutToken: 17, Held,
            "release does not compare the token.",
            "held::a_strangers_token_writes_nothing",
            "release answered Applied";
        ReleaseLeavesToken: 28, Held,
            "A released claim can still be completed.",
            "release::a_released_token_writes_no_more",
            "complete answered Applied";
        PurgeLeavesToken: 29, Held,
            "A purged claim can still be completed.",
            "held::a_superseded_holder_writes_nothing_after_a_purge_and_a_new_claim",
            "complete answered Applied";
        TokensCompareEightBytes: 256, Held,
            "Tokens are compared by their first eight bytes.",
            "held::a_token_that_differs_in_one_byte_writes_nothing",
            "answered Applied";
        ReleaseByFormerHolder: 283, Held,
            "release accepts whoever has ever held the record.",
            "late::a_late_release_after_a_takeover_is_refused",
            "a late release has changed the taker's record";
        RenewByFormerHolder: 461, Held,
            "renew accepts whoever has ever held the record.",
            "lease::a_late_renewal_after_a_takeover_is_refused",
            "renew answered Applied";
        MarkIsAnybodys: 462, Held,
            "A mark has no holder: whoever held the key before may complete it.",
            "held::a_superseded_holder_writes_nothing_after_the_taker_has_released",
            "complete answered Applied";
        AnybodyHasCompleted: 463, Held,
            "Whoever completes a completed record is told that it was they.",
            "held::a_superseded_holder_writes_nothing_after_the_taker_has_completed",
            "complete answered AlreadyCompleted";
        AbandonedIsAnybodys: 464, Held,
            "The token is compared only while the lease is live.",
            "held::a_strangers_token_writes_nothing",
            "answered Applied";
        AnyHeldTokenWillDo: 465, Held,
            "A write checks that its token holds a record, and not that it holds this one.",
            "held::the_token_of_another_key_writes_nothing",
            "renew answered Applied";
        WritesGoByTokenAlone: 466, Isolated,
            "A write goes to the record that its token holds, whatever its key.",
            "held::the_token_writes_only_under_its_own_key",
            "renew answered Applied";
        TokensIgnoreCase: 467, Held,
            "Tokens are compared as text, without letter case.",
            "held::a_token_that_differs_in_one_byte_writes_nothing",
            "answered Applied";
        RenewedAtTheDeadline: 468, PastItsTime,
            "A renewal is applied in the tick in which its record is past its time.",
            "held::a_holder_whose_record_is_past_its_time_writes_nothing",
            "renew answered Applied";
        CompletedAtTheDeadline: 469, PastItsTime,
            "A completion is applied in the tick in which its record is past its time.",
            "held::a_holder_whose_record_is_past_its_time_writes_nothing",
            "complete answered Applied";
        ReleasedAtTheDeadline: 470, PastItsTime,
            "A release is applied in the tick in which its record is past its time.",
            "held::a_holder_whose_record_is_past_its_time_writes_nothing",
            "release answered Applied";
        NoCompletionInTheLastTick: 471, Held,
            "A completion is refused in the last tick of its record.",
            "lease::a_late_holder_that_nobody_displaced_may_complete",
            "one tick before the deadline answered";
        RepeatedPastItsTime: 472, PastItsTime,
            "A completion is repeated also past the time of its result.",
            "retention::past_its_time_every_verb_takes_the_record_for_gone",
            "complete past the record's time";
        NoRepeatInTheLastTick: 473, PastItsTime,
            "A repeated completion is refused in the last tick of its result.",
            "retention::a_result_is_replayed_until_its_deadline_and_not_after",
            "a repeated completion one tick before the deadline";
        RenewedMarkIsHeld: 474, Held,
            "A claim that was renewed before its release can still be completed.",
            "words::all_short_words_agree_with_the_model",
            "complete answered Applied";
    } };
}

pub(super) use holders;
