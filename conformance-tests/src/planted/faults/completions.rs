//! Completions: which result stands, and for how long.

macro_rules! completions {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        RetentionTickEarly: 4, PastItsTime,
            "A result is kept one tick too short.",
            "retention::a_result_is_replayed_until_its_deadline_and_not_after",
            "the result is kept until";
        RetentionFromClaim: 10, PastItsTime,
            "The retention counts from the claim.",
            "retention::retention_counts_from_completion",
            "the result is kept until";
        RetentionFromLease: 11, PastItsTime,
            "The retention counts from the end of the lease.",
            "retention::retention_counts_from_completion",
            "the result is kept until";
        NoLateCompletion: 25, Held,
            "A late completion is refused although nobody took over.",
            "lease::a_late_holder_that_nobody_displaced_may_complete",
            "the effect has happened";
        SecondCompletionFails: 34, Repeating,
            "A repeated completion is an error.",
            "complete::completing_again_is_told_so_and_shown_the_record",
            "complete failed on a store that is well";
        CompletionCommittedLater: 76, Durable,
            "A completion is answered, and committed by its handle's next call.",
            "load::a_write_is_seen_by_every_other_handle",
            "the version of the record";
        CompletionIsSentAgain: 83, Held,
            "A completion is sent again after a lost answer, and answered as the second copy is: as repeated.",
            "races::of_many_deliveries_of_a_completion_one_is_first",
            "were applied: found 0";
        LastResultWins: 212, Held,
            "A second completion overwrites the first.",
            "complete::the_first_result_stands",
            "due was AlreadyCompleted";
        RetentionMovesBack: 213, PastItsTime,
            "A completion sets the retention, also to an earlier end.",
            "complete::a_result_is_kept_for_its_retention_at_least",
            "moved the deadline back";
        ReplayExtends: 219, PastItsTime,
            "A replay extends the retention.",
            "retention::replays_do_not_extend_it",
            "expires_at: found";
        RetentionOfAYear: 287, PastItsTime,
            "No result is kept for longer than a year.",
            "boundaries::retentions_from_a_second_to_a_century_end_exactly",
            "a result kept for 34560000s";
        CompletionKeepsRevision: 441, Verbatim,
            "A completion does not write its revision.",
            "complete::a_result_comes_back_as_it_was_given",
            "revision: found";
        CompletionBeginsAnew: 442, Verbatim,
            "A completion puts the attempt back to 1.",
            "complete::a_result_comes_back_as_it_was_given",
            "attempt: found 1";
        CompletionUnbindsKey: 443, Verbatim,
            "A result is kept without the fingerprint of its request.",
            "complete::a_result_comes_back_as_it_was_given",
            "fingerprint: found";
        StaleCompletionDropped: 444, Durable,
            "A completion under a revision that is no news is answered, and not stored.",
            "complete::a_completion_is_stored_whatever_its_revision",
            "what a completion under a lower revision leaves";
        RepeatIsShownItsOwnResult: 445, Held,
            "A repeated completion is shown the result that it has brought.",
            "complete::the_first_result_stands",
            "the caller cannot tell which result stands";
        RepeatExtends: 446, PastItsTime,
            "A repeated completion extends the retention.",
            "retention::replays_do_not_extend_it",
            "expires_at: found";
        CompletionCreates: 447, Held,
            "A completion of an absent record creates one.",
            "complete::a_completion_of_nothing_creates_nothing",
            "complete answered Applied";
    } };
}

pub(super) use completions;
