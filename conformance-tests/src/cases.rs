//! The table of contents: every case, its id in the catalogue, its clause, and the behaviour in a sentence.

mod boundaries;
mod caller;
mod churn;
mod claim;
mod claim_many;
mod complete;
mod dropped;
mod endings;
mod failures;
mod held;
mod instants;
mod interleaved;
mod keys;
mod kills;
mod late;
mod lease;
mod load;
mod locks;
mod model;
mod names;
mod neighbours;
mod pauses;
mod payload;
mod processes;
mod purge;
mod races;
mod release;
mod renew;
mod repeat;
mod retention;
mod scope;
mod shutdown;
mod sweeping;
mod takeover;
mod verbs;
mod words;
mod workload;

use crate::clause::Clause;
use crate::suite::{CaseInfo, Flake, RegisteredCase};

macro_rules! cases {
    ($($file:ident { $($name:ident: $id:literal, $clause:ident $(($flake:ident))?, $sentence:literal;)+ })+) => {
        pub(crate) static CASES: &[RegisteredCase] = &[$($(RegisteredCase {
            info: CaseInfo {
                name: concat!(stringify!($file), "::", stringify!($name)),
                id: $id,
                clause: Clause::$clause,
                flake: flake!($($flake)?),
                sentence: $sentence,
            },
            run: |case| Box::pin($file::$name(case)),
        },)+)+];
    };
}

/// A case whose verdict depends on nothing but the store, unless it is marked otherwise behind its clause.
macro_rules! flake {
    () => {
        Flake::Never
    };
    ($flake:ident) => {
        Flake::$flake
    };
}

cases! {
    claim {
        a_fresh_key_is_granted: "B1", Exclusive,
            "a fresh key is granted, with the token, fingerprint and attempt offered";
        its_deadlines_are_the_spans_asked_for: "B1", OneClock,
            "a claim's three deadlines are the store's time plus its spans";
        a_second_claim_is_refused_and_shown_the_whole_record: "B3", Exclusive,
            "a second claim is refused and shown the whole stored record";
        a_claim_repeated_by_its_own_token_changes_nothing: "B4", Repeating (Window),
            "a claim repeated with its own token changes nothing";
        a_claim_expecting_another_version_is_refused: "B15", Exclusive,
            "a guarded claim with another token or revision is refused";
        a_claim_expecting_a_version_of_nothing_is_vacant: "B15", Exclusive,
            "a guarded claim of an absent record writes nothing";
        a_claim_expecting_the_stored_version_replaces_every_field: "B15", Verbatim (Window),
            "a granted takeover replaces every field of the record";
        a_live_result_gives_way_to_a_claim_that_expects_it: "B15", Exclusive,
            "a guarded claim is granted over a live result too";
        a_record_past_its_time_is_not_overwritten_by_a_claim_expecting_absence: "X4", PastItsTime (Window),
            "a claim expecting absence never overwrites, also not what is past its time";
        exclusive_across_handles: "R1", Exclusive (Race),
            "of eight claims at once on eight handles, one is granted";
    }
    load {
        an_unknown_key_is_none_and_stays_unknown: "B2", Durable,
            "load of an unknown key is none and creates nothing";
        a_write_is_seen_by_every_other_handle: "B5", Durable,
            "every acknowledged write is seen by every handle";
        a_write_outlives_the_handle_that_made_it: "B5", Durable,
            "an acknowledged write outlives the handle that made it";
        every_answer_carries_the_stores_time: "B16", OneClock,
            "every answer carries the store's time";
        reading_moves_no_deadline: "X3", PastItsTime (Window),
            "loads and refused claims move no deadline";
    }
    renew {
        an_extension_moves_the_lease_forward_and_nothing_else: "B13", OneClock (Window),
            "a renewal moves the lease and the revision, and nothing else";
        an_extension_never_shortens_the_lease: "B13", Held,
            "a renewal by less than remains leaves the lease";
        ending_the_lease_ends_it_now_and_nothing_else: "B13", OneClock,
            "ending a lease ends it now, and keeps the rest";
        an_overtaken_renewal_changes_nothing_and_is_applied: "B13", Repeating,
            "a renewal with a lower or equal revision changes nothing";
        a_checkpoint_comes_back_and_stays_until_the_next: "B17", Verbatim,
            "a checkpoint comes back, and stays until the next one";
        a_checkpoint_is_written_by_the_holder_only: "B17", Held,
            "only the holder writes the checkpoint";
        a_lease_longer_than_the_memory_carries_the_memory_along: "X8", PastItsTime,
            "a lease never outlasts how long the record is remembered";
        a_renewal_of_nothing_creates_nothing: "B6", Held,
            "a renewal of an absent record is refused and creates nothing";
    }
    complete {
        a_result_comes_back_as_it_was_given: "B5", Verbatim,
            "a completed record holds the result as it was given, and else what it held";
        a_result_that_is_not_retained_is_no_empty_body: "P2", Verbatim,
            "a result that is not retained is told from an empty body";
        completing_again_is_told_so_and_shown_the_record: "B7", Repeating,
            "a repeated completion is told so and shown the record";
        the_first_result_stands: "B8", Held,
            "a second, different completion changes nothing, and the caller can tell";
        a_completion_is_stored_whatever_its_revision: "B5", Durable, "a completion is stored also under a revision that is no news";
        a_completed_token_renews_no_more: "B14", Held,
            "a completed claim can be renewed no more";
        a_completion_of_nothing_creates_nothing: "B6", Held,
            "a completion of an absent record is refused and creates nothing";
        a_result_is_kept_for_its_retention_at_least: "X2", PastItsTime,
            "a completion moves the retention forward, never back";
    }
    release {
        a_released_key_can_be_claimed_at_once: "B11", Exclusive,
            "a released key is free at once, for any request";
        a_release_leaves_a_mark_for_as_long_as_asked: "L12", Repeating,
            "a release leaves a mark for as long as asked";
        releasing_again_is_applied_and_changes_nothing: "B12", Repeating,
            "a repeated release is applied and changes nothing";
        a_release_is_carried_out_whatever_its_revision: "B11", Durable, "a release is carried out also under a revision that is no news";
        a_mark_past_its_time_is_no_longer_the_holders: "X4", PastItsTime (Window),
            "a release repeated past the time of its mark is refused";
        a_release_after_completion_is_refused: "B12", Held,
            "a release after completion is refused, and the result stays";
        a_released_token_writes_no_more: "B14", Held,
            "a released claim can neither renew nor complete";
        a_late_copy_of_a_released_claim_meets_the_mark: "L12", Repeating,
            "a late copy of a claim after its release is not granted while the mark stands";
        a_release_of_nothing_creates_nothing: "B6", Held,
            "a release of an absent record is refused and creates nothing";
    }
    held {
        a_strangers_token_writes_nothing: "B9", Held,
            "another token can neither renew, complete nor release";
        a_token_that_differs_in_one_byte_writes_nothing: "B9", Held,
            "a token that differs from the holder's in one byte is another one";
        the_token_of_another_key_writes_nothing: "B10", Held,
            "a token that holds another key writes nothing here";
        the_token_writes_only_under_its_own_key: "B10", Isolated,
            "a holder's writes under another key or scope are refused";
        a_superseded_holder_writes_nothing: "L3", Held (Window),
            "a late holder is refused after a takeover, and the record stays the taker's";
        a_superseded_holder_writes_nothing_after_the_taker_has_released: "L4", Held (Window),
            "a late holder is refused after the taker has released";
        a_superseded_holder_writes_nothing_after_the_taker_has_completed: "L5", Held (Window),
            "a late holder is refused after the taker has completed, whose result stays";
        a_superseded_holder_writes_nothing_after_a_purge_and_a_new_claim: "L6", Held (Window),
            "a token from before a purge is refused for ever";
        a_holder_whose_record_is_past_its_time_writes_nothing: "X7", PastItsTime (Window),
            "the holder of a record past its time is refused";
    }
    claim_many {
        an_empty_batch_has_no_answers: "B18", Exclusive,
            "an empty batch is answered with nothing";
        answers_come_in_the_order_of_the_items: "B18", Exclusive,
            "the answers of a batch come in the order of its items";
        a_second_item_of_the_same_key_sees_the_first: "B18", Exclusive,
            "two items of one key are granted once";
        a_batch_answers_as_single_claims_do: "B18", Exclusive,
            "a batch of all kinds of items answers as single claims do";
        a_large_mixed_batch_answers_as_single_claims_do: "B18", Exclusive,
            "a batch of more than a hundred items of all kinds answers as single claims do";
        each_item_is_stamped_with_its_own_deadlines: "B18", OneClock,
            "each granted item of a batch is stamped with its own deadlines";
        each_item_is_stored_as_it_was_given: "B18", Verbatim,
            "each granted item of a batch is stored with what it has brought, and no other's";
        batches_of_takeovers_grant_each_key_once: "R2", Exclusive (Race),
            "of eight batches of takeovers, one is granted each key";
        a_thousand_items_are_one_batch: "B18", Bounded,
            "a batch of a thousand fresh keys is granted whole";
        batches_in_opposite_order_do_not_block_each_other: "R13", Bounded (Race),
            "batches over the same keys in opposite order neither block each other nor fail";
    }
    lease {
        a_lease_ends_at_its_deadline_and_not_before: "L1", OneClock (Window),
            "a lease stands until one tick before its deadline, and is over at it";
        a_late_holder_that_nobody_displaced_may_complete: "L7", Held (Window),
            "a late holder that nobody displaced may complete";
        a_late_holder_that_nobody_displaced_may_renew: "L9", Held (Window),
            "a late holder that nobody displaced may renew, and a taker that looked before loses";
        a_late_holder_that_nobody_displaced_may_release: "L7", Held (Window),
            "a late holder that nobody displaced may release";
        a_late_renewal_after_a_takeover_is_refused: "L8", Held (Window),
            "a renewal that comes after a takeover is refused and recreates nothing";
        an_abandoned_key_stays_bound_to_its_request: "L13", Held (Window),
            "an abandoned key stays bound to its request until it is past its time";
        attempts_count_the_takeovers: "L14", Verbatim,
            "the attempt is the one that the claim brings, at each takeover";
        a_renewed_lease_is_never_seen_as_over: "L15", OneClock (Window),
            "a lease renewed in time is never seen as over; after the last renewal it is";
        spans_from_a_microsecond_to_a_century_are_exact: "L16", OneClock,
            "spans from the shortest to the longest come back exact, rounded up";
        results_are_safe_when_the_clock_steps_back: "F25", Held,
            "a clock that steps back shortens nothing and lets no stranger write";
    }
    retention {
        a_result_is_replayed_until_its_deadline_and_not_after: "X1", PastItsTime (Window),
            "a result is there until one tick before its deadline, and past at it";
        retention_counts_from_completion: "X2", PastItsTime (Window),
            "the retention counts from the completion, not from the claim";
        replays_do_not_extend_it: "X3", PastItsTime (Window),
            "a hundred replays leave the deadline where it was";
        past_its_time_every_verb_takes_the_record_for_gone: "X4", PastItsTime (Window),
            "past its time a record is gone for every verb, swept or not";
        nothing_of_an_earlier_period_is_left: "X5", PastItsTime (Window),
            "a new period starts with nothing of the earlier one";
        an_unfinished_key_is_remembered_past_the_retention: "X7", PastItsTime (Window),
            "an unfinished key outlives the retention, until it is no longer remembered";
        many_retentions_end_each_at_its_time: "X10", PastItsTime (Window),
            "records with ten retentions end each at its own time";
    }
    payload {
        all_byte_values_come_back: "P1", Verbatim,
            "all byte values and all pairs of dangerous ones come back";
        empty_absent_and_missing_are_three_things: "P2", Verbatim,
            "an empty body, no body and no headers are told apart";
        headers_keep_order_duplicates_case_and_bytes: "P3", Verbatim,
            "headers keep their order, duplicates, letter case and bytes";
        codes_keep_their_value: "P4", Verbatim,
            "codes of all protocols keep their value";
        bodies_of_all_sizes_come_back: "P5", Whole,
            "bodies of all sizes come back whole";
        checkpoints_of_all_sizes_come_back: "P5", Whole,
            "checkpoints of all sizes come back whole";
        many_headers_come_back: "P3", Whole,
            "up to a thousand headers come back, each of them";
        long_headers_come_back: "P3", Whole,
            "long names and values of headers come back whole";
        a_response_beyond_the_limit_is_stored_whole_or_refused_whole: "P6", Whole,
            "a response beyond the limit is stored whole or refused whole";
        look_alikes_are_not_interpreted: "P7", Verbatim,
            "text that looks like something else is not interpreted";
        parallel_replays_are_one_byte_string: "P8", Verbatim (Race),
            "two hundred replays at once see one byte string";
        random_responses_come_back: "P9", Verbatim,
            "random responses come back";
        fingerprints_and_attempts_keep_their_value: "P10", Verbatim,
            "fingerprints of every algorithm and attempts of every size keep their value";
        revisions_keep_their_value: "P10", Verbatim,
            "revisions keep their value up to the largest";
        no_debug_output_shows_a_body: "P10", Isolated,
            "the Debug form of an answer shows no body";
    }
    keys {
        letter_case_tells_keys_apart: "K1", Isolated,
            "keys that differ in letter case are different keys";
        blanks_tell_keys_apart: "K2", Isolated,
            "keys that differ in blanks are different keys";
        forms_of_unicode_tell_keys_apart: "K3", Isolated,
            "keys that differ in Unicode form are different keys";
        keys_of_every_length_are_stored: "K5", Isolated,
            "keys of every length up to the longest are stored";
        the_longest_scope_and_key_together_are_stored: "K5", Isolated,
            "the longest scope and the longest key together are stored";
        keys_that_begin_alike_are_apart: "K6", Isolated,
            "keys that differ only near their end are different keys";
        patterns_and_quotes_are_plain_text: "K7", Isolated,
            "patterns, quotes and separators in keys are plain text";
        numbers_in_disguise_are_plain_text: "K8", Isolated,
            "keys that look like numbers or null are plain text";
        thousands_of_random_keys_never_meet: "K9", Isolated,
            "two thousand random keys each find their own result";
        characters_at_the_edges_of_unicode_are_stored_or_refused: "K4", Isolated,
            "control characters are refused, and what is no character, or none to see, is stored as it is";
        what_happens_to_one_key_leaves_others_alone: "K10", Isolated,
            "calls on a key leave a key that is called much the same alone";
    }
    scope {
        one_key_in_two_scopes_is_two_records: "S1", Isolated,
            "one key in two scopes is two records";
        scopes_are_compared_byte_for_byte: "S1", Isolated,
            "scopes that differ in letter case, blanks, Unicode form or near their end are different scopes";
        the_global_scope_is_apart_from_every_named_one: "S1", Isolated,
            "the global scope is apart from every named one";
        bytes_do_not_move_between_scope_and_key: "S2", Isolated,
            "every split of one text into scope and key is a record of its own";
        scope_and_key_are_not_interchangeable: "S3", Isolated,
            "scope and key swapped are another record";
    }
    purge {
        nothing_that_is_not_past_its_time_is_deleted: "G1", PastItsTime (Window),
            "a purge deletes nothing that is not past its time, not one tick early";
        everything_past_its_time_goes_in_batches: "G2", PastItsTime (Window),
            "everything past its time goes, in batches, and the counts are right";
        what_is_past_its_time_is_found_behind_thousands_of_live_records: "G2", PastItsTime (Window),
            "a purge finds what is past its time also behind thousands of live records";
        a_late_end_after_a_purge_goes_at_its_time: "G2", PastItsTime (Window), "a record that ends late, after a purge has passed it by, goes at its own time";
        a_purge_of_nothing_deletes_nothing: "G3", PastItsTime (Window),
            "a purge of an empty store, or of at most none, deletes nothing";
        a_purge_in_one_handle_is_seen_by_all: "G2", Durable (Window),
            "what one handle has purged is gone on all";
        a_record_renewed_in_time_survives: "G5", PastItsTime (Window),
            "a record renewed before its deadline survives that deadline";
    }
    takeover {
        one_taker_of_an_abandoned_record_is_granted: "R2", Exclusive (Race),
            "of eight takers of one abandoned record, one is granted";
        a_renewal_and_a_takeover_do_not_both_win: "R3", Exclusive (Race),
            "of a late renewal and takeovers, one wins";
        a_completion_and_a_takeover_do_not_both_win: "R4", Held (Race),
            "of a late completion and takeovers, one wins, and its result stands";
        a_taker_that_looked_before_another_claim_is_refused: "R5", Exclusive,
            "a taker that looked before a whole other claim is refused";
        a_release_and_takeovers_grant_the_key_once: "R5", Exclusive (Race),
            "of a late release and takeovers, one wins";
    }
    races {
        of_many_deliveries_of_a_completion_one_is_first: "R6", Held (Race),
            "of eight completions under one token, one is stored and all learn which";
        of_a_completion_and_a_release_one_is_applied: "R7", Held (Race),
            "of completions and releases under one token, all of one kind are applied";
        a_purge_never_takes_a_new_claim: "R8", PastItsTime (Race),
            "a purge never takes the claim that replaces an expired record";
        purges_at_the_same_time_count_each_record_once: "G4", PastItsTime (Race),
            "purges at the same time count each record once";
        readers_never_see_half_a_write: "R11", Whole (Race),
            "readers beside a completion see the record before or after it";
        versions_never_repeat_under_churn: "R12", Held (Race),
            "a key claimed and released by eight callers is held by one at a time";
        a_loser_that_looks_again_sees_the_winner: "R15", Primary (Race),
            "whoever looks right after a claim, on another handle, sees the winner";
        a_busy_key_does_not_hold_up_others: "R14", Bounded (Race),
            "a key under constant renewal does not hold up others";
    }
    endings {
        renewals_never_take_away_a_result: "R6", Held (Race),
            "a result that is stored beside renewals of the same claim stands";
        renewals_never_take_away_a_mark: "R7", Held (Race),
            "a release beside renewals of the same claim stands";
    }
    repeat {
        a_call_repeated_after_a_lost_request_has_its_effect: "F1", Repeating,
            "a call repeated after its request was lost has its effect";
        a_call_repeated_after_a_lost_reply_has_its_effect_once: "F2", Repeating,
            "a call repeated after its reply was lost has its effect once";
        a_call_delivered_twice_has_its_effect_once: "F4", Repeating,
            "a call delivered twice has its effect once";
        a_late_copy_of_any_call_changes_nothing: "F3", Repeating,
            "a late copy of any call changes nothing after the end of its claim";
        a_late_copy_of_any_call_leaves_a_taker_alone: "F3", Held,
            "a late copy of any call leaves a taker's record alone";
        a_late_renewal_does_not_bring_back_an_old_checkpoint: "F3", Repeating,
            "a late renewal does not bring back an old checkpoint or lease";
    }
    dropped {
        a_dropped_claim_happened_whole_or_not_at_all: "D1", Whole,
            "a claim dropped at any poll happened whole or not at all";
        a_dropped_load_leaves_the_handle_usable: "D1", Whole,
            "a load dropped at any poll leaves the handle usable";
        a_dropped_renewal_happened_whole_or_not_at_all: "D1", Whole,
            "a renewal dropped at any poll happened whole or not at all";
        a_dropped_completion_happened_whole_or_not_at_all: "D1", Whole,
            "a completion dropped at any poll happened whole or not at all";
        a_dropped_release_happened_whole_or_not_at_all: "D1", Whole,
            "a release dropped at any poll happened whole or not at all";
        a_dropped_purge_leaves_the_handle_usable: "D1", Whole,
            "a purge dropped at any poll leaves the handle usable";
        a_dropped_batch_happened_item_by_item: "D1", Whole,
            "each item of a batch dropped at any poll happened whole or not at all";
        aborted_tasks_leave_every_record_legal_and_every_handle_usable: "D3", Whole (Race),
            "a thousand tasks aborted at random leave legal records and usable handles";
    }
    processes {
        of_two_hundred_claims_in_four_processes_one_is_granted: "R10", Exclusive (Race),
            "of two hundred claims at once in four processes, one is granted";
        of_takers_in_four_processes_one_is_granted: "R10", Exclusive (Race),
            "of takers of one abandoned record in four processes, one is granted";
        of_completions_in_four_processes_one_is_first: "R10", Held (Race),
            "of completions under one token in four processes, one is stored and all learn which";
        the_token_decides_who_writes_and_not_the_process: "R10", Held (Control),
            "in every process the holder's token writes, and no other";
        a_write_in_one_process_is_seen_by_all_others: "R10", Durable (Control),
            "every acknowledged write is seen by every process";
    }
    pauses {
        a_holder_paused_past_its_lease_writes_nothing: "L17", Held (Control),
            "a holder whose process stood still past its lease is refused after a takeover";
        a_taker_paused_after_its_look_is_refused: "L18", Exclusive (Control),
            "a taker whose process stood still after its look is refused if the record has moved on";
        a_paused_process_does_not_hold_up_others: "F12", Bounded (Control),
            "while a process stands still in the middle of its calls, every call of others comes to an end";
    }
    kills {
        every_acknowledged_write_survives_a_kill: "F10", Durable (Race),
            "every write that was acknowledged before its process was killed is there for others";
        a_write_cut_off_by_a_kill_happened_whole_or_not_at_all: "F11", Whole (Race),
            "a write that was under way when its process was killed happened whole or not at all";
        a_write_cut_off_by_a_kill_can_be_repeated_to_its_end: "F9", Repeating (Race),
            "a write that was under way when its process was killed can be repeated to its end";
        a_purge_cut_off_by_a_kill_takes_nothing_that_lives: "F9", PastItsTime (Race),
            "a purge whose process was killed took nothing that lives, and can be repeated to its end";
        a_key_whose_holder_was_killed_goes_on_after_the_lease: "F10", Durable (Control),
            "a key whose holder was killed, whatever it was at, is free from the end of its lease on";
        a_claim_that_waits_when_its_process_dies_does_not_win_the_key: "F15", Whole (Control),
            "a claim that waited for a lock when its process was killed does not win the key later";
        calls_under_way_when_their_process_ends_happened_whole_or_not_at_all: "D4", Whole (Race),
            "calls that were under way when their process ended happened whole or not at all";
    }
    model {
        random_sequences_agree_with_the_model: "B19", Repeating,
            "random sequences of calls agree with an independent model";
    }
    words {
        all_short_words_agree_with_the_model: "B20", Held,
            "whatever two callers do in up to five steps, an independent model agrees";
    }
    instants {
        a_lease_starts_when_it_is_granted: "L2", OneClock (Control),
            "the lease of a claim that waited for a lock starts when it is granted";
        a_renewed_lease_starts_when_the_renewal_is_written: "L2", OneClock (Control),
            "a lease whose renewal waited for a lock starts when that is written";
        a_retention_starts_when_the_result_is_written: "L2", OneClock (Control),
            "the retention of a result that waited for a lock starts when that is written";
        a_mark_stands_from_when_the_release_is_written: "L2", OneClock (Control),
            "the mark of a release that waited for a lock stands from when that is written";
        a_write_on_an_idle_handle_is_stamped_with_the_present: "L2", OneClock,
            "a write on a handle that was idle is stamped with the present, not with its last call";
    }
    locks {
        a_lock_that_stays_makes_every_write_unavailable: "F19", Bounded (Control),
            "beside a lock that stays every write ends, as Unavailable";
        a_purge_beside_a_lock_ends: "F19", Bounded (Control),
            "beside a lock that stays a purge ends, and does its work afterwards";
        a_write_that_was_locked_out_can_be_repeated: "F19", Whole (Control),
            "a write that was locked out has its effect when it is repeated";
        a_locked_record_does_not_hold_up_looks_at_others: "R14", Isolated (Control),
            "while one record is locked, others are loaded as ever";
        a_locked_record_holds_up_writes_of_others_within_bounds: "R14", Bounded (Control),
            "while one record is locked, writes of others are done or end as Unavailable";
        calls_given_up_at_a_lock_keep_nothing: "D6", Bounded (Control),
            "two hundred calls that are dropped while they wait for a lock keep nothing";
    }
    failures {
        an_unreadable_record_is_never_absent_claimed_or_a_replay: "F5", Exclusive,
            "no verb takes a record that cannot be read for absent, claimed or a replay";
        an_unreadable_record_is_corrupt_to_every_verb: "F20", Verbatim,
            "a record that is cut, swapped, or of a newer format is Corrupt to every verb";
        an_error_that_is_definite_has_changed_nothing: "F6", Whole,
            "an error that is definite has changed nothing, not a byte";
        an_unreadable_record_spoils_no_other: "F20", Isolated,
            "a record that cannot be read fails neither the rest of its batch nor a purge";
        a_purge_goes_past_an_unreadable_record: "F20", Isolated (Window),
            "a purge comes to the records beside one that is past its time and cannot be read";
        a_handle_that_has_met_every_failure_is_well_afterwards: "F27", Bounded (Control),
            "a handle on which calls have failed, in every way, does its work again";
    }
    neighbours {
        one_key_in_two_stores_is_two_records: "S4", Isolated,
            "one key in two stores of one database is two records";
        a_token_writes_in_its_own_store_only: "S4", Isolated,
            "the token of a claim writes nothing in another store of the database";
        a_purge_stays_in_its_store: "S5", Isolated (Window),
            "purges and counts stay within their store";
    }
    late {
        a_copy_of_any_call_changes_nothing_after_one_to_three_later_ones: "F3", Repeating,
            "a copy of any call changes nothing, whichever of the next three calls it comes after";
        a_call_delivered_thrice_has_its_effect_once: "F4", Repeating,
            "a call delivered thrice has its effect once";
        a_late_release_after_a_takeover_is_refused: "L10", Held,
            "a release that comes after a takeover is refused, and the record stays the taker's";
        a_claim_that_comes_again_after_its_completion_is_shown_the_result: "L11", Repeating,
            "a claim delivered again after its own completion is shown the result";
    }
    interleaved {
        a_claim_that_stands_still_is_one_step: "R17", Exclusive,
            "a claim that stands still at any await while others come in is one step";
        a_takeover_that_stands_still_is_one_step: "R17", Exclusive,
            "a takeover that stands still at any await while others come in is one step";
        a_renewal_that_stands_still_is_one_step: "R17", Held,
            "a renewal that stands still at any await while others come in is one step";
        a_completion_that_stands_still_is_one_step: "R17", Held,
            "a completion that stands still at any await while others come in is one step";
        a_release_that_stands_still_is_one_step: "R17", Held,
            "a release that stands still at any await while others come in is one step";
        a_purge_that_stands_still_is_one_step: "R17", PastItsTime (Window),
            "a purge that stands still at any await while others come in is one step";
    }
    boundaries {
        retentions_from_a_second_to_a_century_end_exactly: "X6", PastItsTime,
            "retentions from a second to a century end exactly";
        no_date_moves_a_deadline: "X9", OneClock,
            "leap days, clocks set in spring, and the years 2038, 2100 and 2106 move no deadline";
        every_deadline_holds_without_a_purge: "G8", PastItsTime (Window),
            "nine periods of one key each end at their deadline without any purge";
    }
    sweeping {
        a_claim_that_waits_beside_a_purge_survives_it: "G5", PastItsTime (Control),
            "a purge judges again what it chose before it waited for a lock";
        a_purge_beside_a_long_reader_judges_by_the_present: "G7", PastItsTime (Window),
            "a purge beside a long reader judges by the present state";
        a_renewal_at_the_last_moment_survives_a_purge: "R9", PastItsTime (Race),
            "a renewal in the last moment of a record's time survives purges in the next";
        purges_beside_a_workload_change_no_answer: "G6", PastItsTime (Race),
            "a workload is answered the same with and without purges beside it";
    }
    shutdown {
        a_runtime_that_ends_leaves_whole_records_and_a_usable_handle: "D4", Whole (Race),
            "a runtime that ends while calls are under way leaves whole records and a usable handle";
        a_handle_that_goes_with_its_calls_leaves_whole_records: "D4", Whole (Race),
            "a handle that goes together with its calls leaves whole records";
    }
}
