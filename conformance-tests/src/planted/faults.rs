//! The catalogue of planted faults.

use crate::clause::Clause;

/// A way of being broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultInfo {
    /// Its stable number. Those from 201 on are not in the specification's own list.
    pub number: u16,
    /// The clause of the contract that it breaks, as the report says it.
    pub clause: Clause,
    /// What the store does wrong, in a sentence.
    pub sentence: &'static str,
    /// The case that must find it.
    pub case: &'static str,
    /// What the report must say, for its reader to see what is wrong.
    pub message: &'static str,
}

macro_rules! faults {
    ($($name:ident: $number:literal, $clause:ident, $sentence:literal, $case:literal, $message:literal;)+) => {
        /// What is wrong with a [`PlantedStore`](crate::PlantedStore).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Fault {
            $(#[doc = $sentence] $name,)+
        }

        impl Fault {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// What it is, and what must find it.
            pub const fn info(self) -> FaultInfo {
                match self {
                    $(Self::$name => FaultInfo {
                        number: $number,
                        clause: Clause::$clause,
                        sentence: $sentence,
                        case: $case,
                        message: $message,
                    },)+
                }
            }
        }
    };
}

faults! {
    LeaseTickLate: 1, OneClock, "A lease ends one tick late.",
        "lease::a_lease_ends_at_its_deadline_and_not_before",
        "the lease ends at";
    LeaseTickEarly: 2, OneClock, "A lease ends one tick early.",
        "lease::a_lease_ends_at_its_deadline_and_not_before",
        "the lease ends at";
    RetentionTickEarly: 4, PastItsTime, "A result is kept one tick too short.",
        "retention::a_result_is_replayed_until_its_deadline_and_not_after",
        "the result is kept until";
    TakeoverRefusedAtDeadline: 5, OneClock, "A takeover is refused in the tick in which the lease ends.",
        "lease::a_lease_ends_at_its_deadline_and_not_before",
        "answered Occupied";
    NeverPastUnlessPurged: 7, PastItsTime, "A record never counts as past its time until it is purged.",
        "retention::past_its_time_every_verb_takes_the_record_for_gone",
        "past the record's time";
    WholeSeconds: 8, OneClock, "Deadlines are cut to whole seconds.",
        "lease::spans_from_a_microsecond_to_a_century_are_exact",
        "cut, wrapped or rounded";
    RetentionFromClaim: 10, PastItsTime, "The retention counts from the claim.",
        "retention::retention_counts_from_completion",
        "the result is kept until";
    RetentionFromLease: 11, PastItsTime, "The retention counts from the end of the lease.",
        "retention::retention_counts_from_completion",
        "the result is kept until";
    TakeoverKeepsDeadline: 13, Verbatim, "A takeover keeps the lease of the displaced claim.",
        "claim::a_claim_expecting_the_stored_version_replaces_every_field",
        "the taker's deadlines";
    CompleteWithoutToken: 14, Held, "complete does not compare the token.",
        "held::a_strangers_token_writes_nothing",
        "complete answered Applied";
    CompleteByFormerHolder: 16, Held, "complete accepts whoever has ever held the record.",
        "held::a_superseded_holder_writes_nothing",
        "complete answered Applied";
    ReleaseWithoutToken: 17, Held, "release does not compare the token.",
        "held::a_strangers_token_writes_nothing",
        "release answered Applied";
    RefusedReleaseDeletes: 19, Held, "A refused release deletes the record all the same.",
        "held::a_strangers_token_writes_nothing",
        "no record where one is due";
    ReleaseOnlySaysSo: 20, Exclusive, "release answers Applied and keeps the claim.",
        "release::a_released_key_can_be_claimed_at_once",
        "due was Expired";
    RenewShortens: 22, Held, "A renewal sets the lease, also to an earlier end.",
        "renew::an_extension_never_shortens_the_lease",
        "the lease after an extension";
    NoLateRenewal: 23, Held, "A late renewal is refused although nobody took over.",
        "lease::a_late_holder_that_nobody_displaced_may_renew",
        "renew by the holder answered NotHeld";
    NoLateCompletion: 25, Held, "A late completion is refused although nobody took over.",
        "lease::a_late_holder_that_nobody_displaced_may_complete",
        "the effect has happened";
    AttemptNotRaised: 26, Verbatim, "A takeover keeps the attempt of the displaced claim.",
        "lease::attempts_count_the_takeovers",
        "the attempt's number after a takeover";
    ReleaseLeavesToken: 28, Held, "A released claim can still be completed.",
        "release::a_released_token_writes_no_more",
        "complete answered Applied";
    PurgeLeavesToken: 29, Held, "A purged claim can still be completed.",
        "held::a_superseded_holder_writes_nothing_after_a_purge_and_a_new_claim",
        "complete answered Applied";
    OwnClaimGrantedAgain: 31, Repeating, "A claim repeated by its own token is granted again.",
        "claim::a_claim_repeated_by_its_own_token_changes_nothing",
        "due was Occupied";
    OwnClaimExtends: 32, Repeating, "A claim repeated by its own token extends the lease.",
        "claim::a_claim_repeated_by_its_own_token_changes_nothing",
        "lease_until: found";
    SecondCompletionFails: 34, Repeating, "A repeated completion is an error.",
        "complete::completing_again_is_told_so_and_shown_the_record",
        "complete failed on a store that is well";
    LoserBindsFingerprint: 35, Held, "A refused claim leaves its fingerprint in the record.",
        "lease::an_abandoned_key_stays_bound_to_its_request",
        "what the key is bound to";
    BodyCut: 40, Whole, "A body is cut at 64 bytes.",
        "payload::bodies_of_all_sizes_come_back",
        "the first difference is at byte 64";
    BodyLossyText: 41, Verbatim, "A body goes through lossy UTF-8.",
        "payload::all_byte_values_come_back",
        "the first difference is at byte 128";
    HeadersSorted: 43, Verbatim, "Headers are sorted.",
        "payload::headers_keep_order_duplicates_case_and_bytes",
        "headers: found";
    HeadersLowerCased: 44, Verbatim, "Header names are put into lower case.",
        "payload::headers_keep_order_duplicates_case_and_bytes",
        "headers: found";
    CodeInByte: 46, Verbatim, "A code is kept in a byte.",
        "payload::codes_keep_their_value",
        "code: found 0, due 256";
    KeysIgnoreCase: 47, Isolated, "Keys are compared without letter case.",
        "keys::letter_case_tells_keys_apart",
        "key \"Key\" meets";
    KeysCut: 49, Isolated, "Keys are cut at 64 bytes.",
        "keys::keys_that_begin_alike_are_apart",
        "meets one of those";
    ScopeJoinedByColon: 50, Isolated, "Scope and key are joined by a colon.",
        "scope::scope_and_key_are_not_interchangeable",
        "pair 5 of scope and key meets";
    PurgeTakesLive: 52, PastItsTime, "A purge deletes live claims.",
        "purge::nothing_that_is_not_past_its_time_is_deleted",
        "how many live records were purged";
    PurgeTakesAbandoned: 53, PastItsTime, "A purge deletes claims whose lease is over.",
        "purge::nothing_that_is_not_past_its_time_is_deleted",
        "that are remembered";
    PurgeCountsOneMore: 55, PastItsTime, "A purge reports one record too many.",
        "purge::everything_past_its_time_goes_in_batches",
        "at most one deleted: found 2";
    PurgeIgnoresLimit: 56, PastItsTime, "A purge ignores its limit.",
        "purge::everything_past_its_time_goes_in_batches",
        "at most one deleted: found 200";
    PurgeDoesNothing: 58, PastItsTime, "A purge deletes nothing.",
        "purge::everything_past_its_time_goes_in_batches",
        "at most one deleted: found 0";
    LoadHidesPastTime: 59, PastItsTime, "load answers a record past its time with an earlier time.",
        "retention::a_result_is_replayed_until_its_deadline_and_not_after",
        "shown with a time before it";
    CheckThenInsert: 61, Exclusive, "claim looks, and then inserts.",
        "claim::exclusive_across_handles",
        "claims of one key were granted";
    TakeoverLooksThenWrites: 62, Exclusive, "A takeover looks, and then writes.",
        "takeover::one_taker_of_an_abandoned_record_is_granted",
        "takeovers were granted";
    RenewLooksThenWrites: 64, Exclusive, "renew looks, and then writes.",
        "takeover::a_renewal_and_a_takeover_do_not_both_win",
        "due was all of the first or one of the second";
    ReleaseLooksThenWrites: 65, Exclusive, "release looks, and then writes.",
        "takeover::a_release_and_takeovers_grant_the_key_once",
        "due was all of the first or one of the second";
    GuardByRevisionOnly: 67, Exclusive, "A takeover compares the revision without the token.",
        "takeover::a_taker_that_looked_before_another_claim_is_refused",
        "due was Occupied";
    ClockOfTheHandle: 68, OneClock, "Time is taken from the handle's own clock.",
        "load::every_answer_carries_the_stores_time",
        "on a clock that stands still";
    CachedLoads: 74, Durable, "load answers from a cache of the handle.",
        "load::a_write_is_seen_by_every_other_handle",
        "does not see the renewal";
    ConflictIsAnError: 80, Exclusive, "A lost race is reported as an internal error.",
        "claim::a_second_claim_is_refused_and_shown_the_whole_record",
        "claim failed on a store that is well";
    HalfWrittenOnDrop: 85, Whole, "A completion that is dropped leaves its status without its body.",
        "dropped::a_dropped_completion_happened_whole_or_not_at_all",
        "left half of its effect";
    HeadersAsText: 91, Verbatim, "Headers go through text, which loses their bytes.",
        "payload::headers_keep_order_duplicates_case_and_bytes",
        "headers: found";
    RevisionInSixteenBits: 92, Verbatim, "A revision is kept in sixteen bits.",
        "payload::revisions_keep_their_value",
        "the revision: found";
    BatchGrantsDuplicates: 100, Exclusive, "Two items of one key are both granted.",
        "claim_many::a_second_item_of_the_same_key_sees_the_first",
        "the second of two claims";
    BatchLocksInOrder: 101, Bounded, "A batch locks its keys in the order of its items.",
        "claim_many::batches_in_opposite_order_do_not_block_each_other",
        "waits without limit";
    GuardByTokenOnly: 201, Exclusive, "A takeover compares the token without the revision.",
        "claim::a_claim_expecting_another_version_is_refused",
        "expecting an older revision answered Claimed";
    StaleRenewalWritten: 202, Repeating, "A renewal with a lower revision is written.",
        "renew::an_overtaken_renewal_changes_nothing_and_is_applied",
        "an earlier revision (2 after 5) was written";
    EqualRenewalWritten: 203, Repeating, "A renewal with an equal revision is written.",
        "renew::an_overtaken_renewal_changes_nothing_and_is_applied",
        "an equal revision (5 after 5) was written";
    RenewalDropsCheckpoint: 204, Verbatim, "A renewal without a checkpoint drops the one that is there.",
        "renew::a_checkpoint_comes_back_and_stays_until_the_next",
        "after a renewal without one";
    EmptyCheckpointIsNone: 205, Verbatim, "An empty checkpoint is kept as none.",
        "renew::a_checkpoint_comes_back_and_stays_until_the_next",
        "an empty checkpoint";
    EndIgnored: 206, OneClock, "The end of a lease is taken for an extension by nothing.",
        "renew::ending_the_lease_ends_it_now_and_nothing_else",
        "although it was ended";
    MemoryNotCarriedAlong: 207, PastItsTime, "A lease may outlast how long the record is remembered.",
        "renew::a_lease_longer_than_the_memory_carries_the_memory_along",
        "remembered only until";
    RenewalCreates: 208, Held, "A renewal of an absent record creates one.",
        "renew::a_renewal_of_nothing_creates_nothing",
        "a renewal of an absent record";
    ReleaseDeletes: 209, Repeating, "A release deletes the record.",
        "release::a_late_copy_of_a_released_claim_meets_the_mark",
        "answered Claimed";
    MarkKeptTooShort: 210, Repeating, "A released mark stands no longer than the claim would have.",
        "release::a_release_leaves_a_mark_for_as_long_as_asked",
        "the mark stands until";
    SecondReleaseRefused: 211, Repeating, "A repeated release is refused.",
        "release::releasing_again_is_applied_and_changes_nothing",
        "release by the holder answered NotHeld";
    LastResultWins: 212, Held, "A second completion overwrites the first.",
        "complete::the_first_result_stands",
        "due was AlreadyCompleted";
    RetentionMovesBack: 213, PastItsTime, "A completion sets the retention, also to an earlier end.",
        "complete::a_result_is_kept_for_its_retention_at_least",
        "moved the deadline back";
    NotRetainedIsEmpty: 214, Verbatim, "A result that is not retained is kept as an empty body.",
        "complete::a_result_that_is_not_retained_is_no_empty_body",
        "body: found one, due none";
    AbsentOverwritesPast: 215, PastItsTime, "A claim expecting absence overwrites a record past its time.",
        "claim::a_record_past_its_time_is_not_overwritten_by_a_claim_expecting_absence",
        "answered Claimed";
    GuardedClaimInserts: 216, Exclusive, "A guarded claim of an absent record inserts one.",
        "claim::a_claim_expecting_a_version_of_nothing_is_vacant",
        "a version of an absent record";
    LoadCreates: 217, Durable, "load leaves a placeholder for a key that it does not find.",
        "load::an_unknown_key_is_none_and_stays_unknown",
        "load of a key that nobody claimed";
    HandleTakesItsRecords: 218, Durable, "A handle that is dropped takes its records with it.",
        "load::a_write_outlives_the_handle_that_made_it",
        "no record where one is due";
    ReplayExtends: 219, PastItsTime, "A replay extends the retention.",
        "retention::replays_do_not_extend_it",
        "expires_at: found";
    OldCheckpointLeft: 220, PastItsTime, "A claim that brings no checkpoint leaves that of the displaced one.",
        "retention::nothing_of_an_earlier_period_is_left",
        "what the new claim starts with";
    UnfinishedForgotten: 221, PastItsTime, "An unfinished record is purged at the end of the retention.",
        "retention::an_unfinished_key_is_remembered_past_the_retention",
        "at the end of the retention";
    SpansCapped: 222, OneClock, "Spans are kept in thirty-two bits.",
        "lease::spans_from_a_microsecond_to_a_century_are_exact",
        "cut, wrapped or rounded";
    FingerprintWithoutAlgorithm: 223, Verbatim, "A fingerprint is kept without the number of its algorithm.",
        "payload::fingerprints_and_attempts_keep_their_value",
        "a fingerprint came back altered";
    LineBreaksNormalised: 224, Verbatim, "Line breaks in bodies are normalised.",
        "payload::look_alikes_are_not_interpreted",
        "body: found";
    CutAtTheLimit: 225, Whole, "A response beyond the limit is cut.",
        "payload::a_response_beyond_the_limit_is_stored_whole_or_refused_whole",
        "what was stored of a response beyond the limit";
    KeysTrimmed: 226, Isolated, "Keys are trimmed.",
        "keys::blanks_tell_keys_apart",
        "key \" a\" meets";
    KeysNormalised: 227, Isolated, "Keys are put into a normal form of Unicode.",
        "keys::forms_of_unicode_tell_keys_apart",
        "meets one of those";
    KeysUnescaped: 228, Isolated, "Backslashes in keys are taken for escapes.",
        "keys::patterns_and_quotes_are_plain_text",
        "meets one of those";
    KeysAsNumbers: 229, Isolated, "Keys that look like numbers are compared as numbers.",
        "keys::numbers_in_disguise_are_plain_text",
        "key \"01\" meets";
    LongKeysRefused: 230, Isolated, "The longest keys do not fit the index.",
        "keys::keys_of_every_length_are_stored",
        "the key is too long for the index";
    HashWithoutComparison: 231, Isolated, "Records are found by a short hash without comparing the key.",
        "keys::thousands_of_random_keys_never_meet",
        "answered Occupied";
    ScopeIgnored: 232, Isolated, "The scope is no part of the record key.",
        "scope::one_key_in_two_scopes_is_two_records",
        "answered Occupied";
    GlobalIsAName: 233, Isolated, "The global scope is kept under the name \"global\".",
        "scope::the_global_scope_is_apart_from_every_named_one",
        "scope \"global\" meets the global one";
    PurgeByFirstDeadline: 234, PastItsTime, "A purge goes by the deadline that a record was claimed with.",
        "purge::a_record_renewed_in_time_survives",
        "how many renewed records were purged";
    PurgeChoosesThenDeletes: 235, PastItsTime, "A purge chooses records, and then deletes by key.",
        "races::a_purge_never_takes_a_new_claim",
        "one expired key";
    PurgeCountsChosen: 236, PastItsTime, "A purge reports how many records it chose, not how many it deleted.",
        "races::purges_at_the_same_time_count_each_record_once",
        "the sum of what sixteen purges";
    CompleteLooksThenWrites: 237, Held, "complete looks, and then writes.",
        "races::of_many_deliveries_of_a_completion_one_is_first",
        "how many deliveries of one completion were applied";
    CompletionInTwoWrites: 238, Whole, "A completion writes its status first and its body later.",
        "races::readers_never_see_half_a_write",
        "a reader saw a record";
    BatchAnswersBackwards: 239, Exclusive, "The answers of a batch come backwards.",
        "claim_many::answers_come_in_the_order_of_the_items",
        "which is not its own";
    BatchLosesItsLast: 240, Bounded, "A batch of more than a hundred items is cut.",
        "claim_many::a_thousand_items_are_one_batch",
        "which claim is whose cannot be told";
    PermitLostOnDrop: 241, Bounded, "A dropped call keeps the store's only permit.",
        "dropped::a_dropped_claim_happened_whole_or_not_at_all",
        "waits without limit";
    ReleaseAfterCompletion: 242, Held, "A release by its token takes away a result.",
        "release::a_release_after_completion_is_refused",
        "release answered Applied";
    OwnClaimErases: 243, Repeating, "A claim repeated after its release is granted again.",
        "repeat::a_late_copy_of_any_call_changes_nothing",
        "a late copy of Claim";
    LoserIsShownNoCheckpoint: 244, Exclusive, "A refused claim is shown the record without its checkpoint.",
        "claim::a_second_claim_is_refused_and_shown_the_whole_record",
        "another record than the winner's";
    RenewalTakesBackResult: 245, Held, "renew reads, and writes back over a result under its token.",
        "endings::renewals_never_take_away_a_result",
        "what is left of an ended claim";
    RenewalTakesBackMark: 246, Held, "renew reads, and writes back over a mark under its token.",
        "endings::renewals_never_take_away_a_mark",
        "what is left of an ended claim";
    BatchTakeoverLooksThenWrites: 247, Exclusive, "A takeover in a batch looks, and then writes.",
        "claim_many::batches_of_takeovers_grant_each_key_once",
        "of 8 batches were granted";
    ClaimInTwoWrites: 248, Whole, "A claim that is dropped leaves a record with another fingerprint and retention.",
        "dropped::a_dropped_claim_happened_whole_or_not_at_all",
        "left half of its effect";
    ReleaseInTwoWrites: 249, Whole, "A release that is dropped leaves the claim without its checkpoint.",
        "dropped::a_dropped_release_happened_whole_or_not_at_all",
        "left half of its effect";
    BatchStampedOnce: 250, OneClock, "Every item of a batch is answered with the stamp of the first.",
        "claim_many::each_item_is_stamped_with_its_own_deadlines",
        "in the stamp of item";
    LargeBatchSkipsGuarded: 251, Exclusive, "Guarded items of a batch of more than eight are skipped.",
        "claim_many::a_large_mixed_batch_answers_as_single_claims_do",
        "of a mixed batch of 120";
    PurgeLooksAtTheFirst: 252, PastItsTime, "A purge looks at the first records in the order of keys only.",
        "purge::what_is_past_its_time_is_found_behind_thousands_of_live_records",
        "how many records a purge of at most";
    CheckpointCut: 253, Whole, "A checkpoint is cut at 64 KiB.",
        "payload::checkpoints_of_all_sizes_come_back",
        "found 65536, due 65537";
    HeadersCut: 254, Whole, "Headers after the thirty-second are dropped.",
        "payload::many_headers_come_back",
        "33 headers: load gave another result";
    HeaderValueCut: 255, Whole, "The value of a header is cut at 4096 bytes.",
        "payload::long_headers_come_back",
        "4097 bytes in a header: load gave another result";
    TokensCompareEightBytes: 256, Held, "Tokens are compared by their first eight bytes.",
        "held::a_token_that_differs_in_one_byte_writes_nothing",
        "answered Applied";
    ResultsCannotBeReplaced: 257, Exclusive, "A guarded claim of a live result is refused.",
        "claim::a_live_result_gives_way_to_a_claim_that_expects_it",
        "due was Claimed";
    KeysWithPlainDigits: 258, Isolated, "Full-width digits in keys are taken for plain ones.",
        "keys::forms_of_unicode_tell_keys_apart",
        "key \"12\" meets";
    MarkHeldForEver: 259, PastItsTime, "A release is repeated also past the time of its mark.",
        "release::a_mark_past_its_time_is_no_longer_the_holders",
        "release answered Applied";
    LooksLagBehind: 73, Primary, "load answers from a copy that is one write behind, as a replica is.",
        "races::a_loser_that_looks_again_sees_the_winner",
        "found None";
    TimeOfTheLastCall: 70, OneClock, "A write takes the time of its handle's last call for now.",
        "instants::a_write_on_an_idle_handle_is_stamped_with_the_present",
        "claim was called after";
    ClockReadBeforeTheLock: 71, OneClock, "A write reads the clock before it waits for the lock.",
        "instants::a_lease_starts_when_it_is_granted",
        "the time was read before the wait";
    CorruptIsAbsent: 79, Exclusive, "A record that cannot be read counts as absent.",
        "failures::an_unreadable_record_is_never_absent_claimed_or_a_replay",
        "answered \"no record\", due was an error";
    PurgeTakesTheNeighbours: 104, Isolated, "A purge deletes in other stores of the database too.",
        "neighbours::a_purge_stays_in_its_store",
        "of a neighbour's 10 records";
    WaitsWithoutLimit: 271, Bounded, "A write waits for a lock without limit.",
        "locks::a_lock_that_stays_makes_every_write_unavailable",
        "waits without limit";
    LockedOutIsNotHeld: 272, Bounded, "A renewal that cannot get the lock answers NotHeld.",
        "locks::a_lock_that_stays_makes_every_write_unavailable",
        "Renew on a locked record answered \"not held\"";
    LooksWaitForLocks: 273, Isolated, "A look waits while any record is locked.",
        "locks::a_locked_record_does_not_hold_up_looks_at_others",
        "due was the record";
    WaitersKeepTheirPlaces: 274, Bounded, "A call that is dropped while it waits for a lock keeps its place in a pool of 64.",
        "locks::calls_given_up_at_a_lock_keep_nothing",
        "waits without limit";
    CorruptIsReplaced: 275, Exclusive, "A claim takes the place of a record that it cannot read.",
        "failures::an_unreadable_record_is_never_absent_claimed_or_a_replay",
        "answered \"claimed\", due was an error";
    CorruptIsReplayed: 276, Exclusive, "load shows what is left of a record that cannot be read.",
        "failures::an_unreadable_record_is_never_absent_claimed_or_a_replay",
        "Load answered";
    CorruptIsUnavailable: 277, Verbatim, "A record that cannot be read makes its calls Unavailable.",
        "failures::an_unreadable_record_is_corrupt_to_every_verb",
        "found Some(Unavailable), due Some(Corrupt)";
    CorruptPanics: 278, Verbatim, "A call panics over a record that it cannot read.",
        "failures::an_unreadable_record_is_corrupt_to_every_verb",
        "a call panicked";
    CorruptIsDeleted: 279, Whole, "A record that cannot be read is reported and deleted.",
        "failures::an_error_that_is_definite_has_changed_nothing",
        "and has changed the record";
    CorruptStopsPurges: 280, Isolated, "A purge fails while any record cannot be read.",
        "failures::an_unreadable_record_spoils_no_other",
        "a purge beside it failed";
    CorruptFailsBatch: 281, Isolated, "A batch with an item that cannot be read fails as a whole.",
        "failures::an_unreadable_record_spoils_no_other",
        "item 0 of a batch";
    RecordsSharedWithNeighbour: 282, Isolated, "Two stores in one database share their records.",
        "neighbours::one_key_in_two_stores_is_two_records",
        "claimed in its neighbour";
    ReleaseByFormerHolder: 283, Held, "release accepts whoever has ever held the record.",
        "late::a_late_release_after_a_takeover_is_refused",
        "a late release has changed the taker's record";
    OwnClaimOverItsResult: 284, Repeating, "A claim delivered again after its completion is granted again.",
        "late::a_claim_that_comes_again_after_its_completion_is_shown_the_result",
        "has replaced the result";
    OwnTakeoverGrantedAgain: 285, Repeating, "A takeover delivered again is granted again, over what its token has written since.",
        "late::a_copy_of_any_call_changes_nothing_after_one_to_three_later_ones",
        "a late copy of call 3, Claim";
    ThirdReleaseForgets: 286, Repeating, "A release that comes for the third time deletes the record.",
        "late::a_call_delivered_thrice_has_its_effect_once",
        "Release, was delivered thrice";
    RetentionOfAYear: 287, PastItsTime, "No result is kept for longer than a year.",
        "boundaries::retentions_from_a_second_to_a_century_end_exactly",
        "a result kept for 34560000s";
    HourLostInSpring: 288, OneClock, "A day on which clocks go forward has 23 hours.",
        "boundaries::no_date_moves_a_deadline",
        "clocks go forward in Europe";
    KeysWithoutNoncharacters: 289, Isolated, "Code points in keys that are no characters are replaced.",
        "keys::characters_at_the_edges_of_unicode_are_stored_or_refused",
        "meets one of those";
    TakeoverNeedsPurge: 290, PastItsTime, "A record past its time is not given away before it is purged.",
        "boundaries::every_deadline_holds_without_a_purge",
        "due was Claimed";
    PurgeChoosesBeforeTheLock: 291, PastItsTime, "A purge chooses records, waits for the lock, and then deletes by key.",
        "sweeping::a_claim_that_waits_beside_a_purge_survives_it",
        "claimed beside a purge";
    PurgeTakesAllOut: 292, PastItsTime, "A purge empties the table and puts back what lives on.",
        "sweeping::purges_beside_a_workload_change_no_answer",
        "of a workload beside purges";
    PurgeGoesByTheSnapshot: 293, PastItsTime, "A purge judges records as the oldest reader sees them.",
        "sweeping::a_purge_beside_a_long_reader_judges_by_the_present",
        "a purge beside a long reader deleted";
    PurgeReadsBeforeTheClock: 294, PastItsTime, "A purge reads the records first and the clock later, and deletes by key.",
        "sweeping::a_renewal_at_the_last_moment_survives_a_purge",
        "renewed record";
    RenewalGuardedByToken: 295, Held, "A renewal compares its revision when it looks, and the token alone when it writes.",
        "interleaved::a_renewal_that_stands_still_is_one_step",
        "no order explains what came of Renew";
    TakeoverGuardedByToken: 296, Exclusive, "A takeover compares the version when it looks, and the token alone when it writes.",
        "interleaved::a_takeover_that_stands_still_is_one_step",
        "no order explains what came of Claim";
    ReleaseGuardedByToken: 297, Held, "A release compares the status when it looks, and the token alone when it writes.",
        "interleaved::a_release_that_stands_still_is_one_step",
        "no order explains what came of Release";
    CompletionGuardedByToken: 298, Held, "A completion compares the status when it looks, and the token alone when it writes.",
        "interleaved::a_completion_that_stands_still_is_one_step",
        "no order explains what came of Complete";
    RuntimeTakesTheConnection: 299, Whole, "A handle's connection ends with the runtime of its first call.",
        "shutdown::a_runtime_that_ends_leaves_whole_records_and_a_usable_handle",
        "the runtime that made its first calls has ended";
    CompletionFinishedLater: 300, Whole, "The body of a result is written by the handle's next call.",
        "shutdown::a_handle_that_goes_with_its_calls_leaves_whole_records",
        "left a record that none of its calls writes";
    GivesUpAfterFailures: 301, Bounded, "A handle of which three calls have failed refuses all others.",
        "failures::a_handle_that_has_met_every_failure_is_well_afterwards",
        "calls on it have failed";
    OthersWaitWithoutLimit: 302, Bounded, "A write waits without limit while any other record is locked.",
        "locks::a_locked_record_holds_up_writes_of_others_within_bounds",
        "waits without limit";
    BegunIsDone: 303, Whole, "A renewal that is repeated counts as done, also if it was locked out the first time.",
        "locks::a_write_that_was_locked_out_can_be_repeated",
        "the revision after a call that was locked out first";
}
