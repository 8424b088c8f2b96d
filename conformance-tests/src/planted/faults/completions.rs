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
    } };
}

pub(super) use completions;
