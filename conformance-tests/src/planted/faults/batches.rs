//! Batches of claims.

macro_rules! batches {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        BatchGrantsDuplicates: 100, Exclusive,
            "Two items of one key are both granted.",
            "claim_many::a_second_item_of_the_same_key_sees_the_first",
            "the second of two claims";
        BatchLocksInOrder: 101, Bounded,
            "A batch locks its keys in the order of its items.",
            "claim_many::batches_in_opposite_order_do_not_block_each_other",
            "waits without limit";
        BatchAnswersBackwards: 239, Exclusive,
            "The answers of a batch come backwards.",
            "claim_many::answers_come_in_the_order_of_the_items",
            "which is not its own";
        BatchLosesItsLast: 240, Bounded,
            "A batch of more than a hundred items is cut.",
            "claim_many::a_thousand_items_are_one_batch",
            "which claim is whose cannot be told";
        BatchTakeoverLooksThenWrites: 247, Exclusive,
            "A takeover in a batch looks, and then writes.",
            "claim_many::batches_of_takeovers_grant_each_key_once",
            "of 8 batches were granted";
        BatchStampedOnce: 250, OneClock,
            "Every item of a batch is answered with the stamp of the first.",
            "claim_many::each_item_is_stamped_with_its_own_deadlines",
            "in the stamp of item";
        LargeBatchSkipsGuarded: 251, Exclusive,
            "Guarded items of a batch of more than eight are skipped.",
            "claim_many::a_large_mixed_batch_answers_as_single_claims_do",
            "of a mixed batch of 120";
    } };
}

pub(super) use batches;
