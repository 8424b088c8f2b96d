//! Releases, and the mark that they leave.

macro_rules! releases {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        RefusedReleaseDeletes: 19, Held,
            "A refused release deletes the record all the same.",
            "held::a_strangers_token_writes_nothing",
            "no record where one is due";
        ReleaseOnlySaysSo: 20, Exclusive,
            "release answers Applied and keeps the claim.",
            "release::a_released_key_can_be_claimed_at_once",
            "due was Expired";
        ReleaseDeletes: 209, Repeating,
            "A release deletes the record.",
            "release::a_late_copy_of_a_released_claim_meets_the_mark",
            "answered Claimed";
        MarkKeptTooShort: 210, Repeating,
            "A released mark stands no longer than the claim would have.",
            "release::a_release_leaves_a_mark_for_as_long_as_asked",
            "the mark stands until";
        SecondReleaseRefused: 211, Repeating,
            "A repeated release is refused.",
            "release::releasing_again_is_applied_and_changes_nothing",
            "release by the holder answered NotHeld";
        ReleaseAfterCompletion: 242, Held,
            "A release by its token takes away a result.",
            "release::a_release_after_completion_is_refused",
            "release answered Applied";
        MarkHeldForEver: 259, PastItsTime,
            "A release is repeated also past the time of its mark.",
            "release::a_mark_past_its_time_is_no_longer_the_holders",
            "release answered Applied";
        ThirdReleaseForgets: 286, Repeating,
            "A release that comes for the third time deletes the record.",
            "late::a_call_delivered_thrice_has_its_effect_once",
            "Release, was delivered thrice";
        NoLateRelease: 451, Held,
            "A late release is refused although nobody took over.",
            "lease::a_late_holder_that_nobody_displaced_may_release",
            "a release at the end of the lease: found NotHeld";
        ReleaseKeepsRevision: 452, Repeating,
            "A release does not write its revision.",
            "release::a_release_leaves_a_mark_for_as_long_as_asked",
            "the revision of the mark";
        MarkKeptAsResult: 453, Repeating,
            "A mark stands for as long as a result would.",
            "release::a_release_leaves_a_mark_for_as_long_as_asked",
            "the mark stands until";
        StaleReleaseDropped: 454, Durable,
            "A release under a revision that is no news is answered, and not carried out.",
            "release::a_release_is_carried_out_whatever_its_revision",
            "what a release under a lower revision leaves";
        SecondReleaseExtends: 455, Repeating,
            "A repeated release lets the mark stand longer.",
            "release::releasing_again_is_applied_and_changes_nothing",
            "expires_at: found";
        ReleaseCreates: 456, Held,
            "A release of an absent record leaves a mark.",
            "release::a_release_of_nothing_creates_nothing",
            "release answered Applied";
    } };
}

pub(super) use releases;
