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
        BatchFailureIsGranted: 110, Isolated,
            "An item of a batch that fails is answered as granted with the others.",
            "failures::an_unreadable_record_spoils_no_other",
            "of a batch";
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
        BatchAnswersByKey: 561, Exclusive,
            "The answers of a batch come in the order of the keys.",
            "claim_many::answers_come_in_the_order_of_the_items",
            "which is not its own";
        BatchDropsDuplicates: 562, Exclusive,
            "Two items of one key are answered once.",
            "claim_many::a_second_item_of_the_same_key_sees_the_first",
            "which claim is whose cannot be told";
        BatchStopsAtRefusal: 563, Exclusive,
            "A batch stops at the first item that is refused.",
            "claim_many::a_batch_answers_as_single_claims_do",
            "the answers to a mixed batch";
        BatchBindsOnce: 564, Verbatim,
            "Every item of a batch is bound to the fingerprint of the first.",
            "claim_many::each_item_is_stored_as_it_was_given",
            "fingerprint: found";
        LargeBatchPartsBackwards: 565, Exclusive,
            "A batch of more than a hundred items is answered in parts, the last part first.",
            "claim_many::a_large_mixed_batch_answers_as_single_claims_do",
            "of a mixed batch of 120";
        EmptyBatchFails: 566, Exclusive,
            "An empty batch is an error.",
            "claim_many::an_empty_batch_has_no_answers",
            "which claim is whose cannot be told";
        BatchInTwoWrites: 567, Whole,
            "An item of a batch that is dropped is left with another fingerprint and retention.",
            "dropped::a_dropped_batch_happened_item_by_item",
            "left half of its effect";
    } };
}

pub(super) use batches;
