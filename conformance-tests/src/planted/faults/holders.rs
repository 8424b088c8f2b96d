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
    } };
}

pub(super) use holders;
