//! What usually breaks single cases.

/// For each group of cases what is particular to it.
pub(super) const CASES: &[(&[&str], &[&str])] = &[
    (
        &[
            "claim::its_deadlines_are_the_spans_asked_for",
            "lease::spans_from_a_microsecond_to_a_century_are_exact",
        ],
        &[
            "a column of seconds or milliseconds where microseconds are declared",
            "spans in 32 bits, or through a floating-point number; rounded to the nearest instead of up",
        ],
    ),
    (
        &["claim::a_second_claim_is_refused_and_shown_the_whole_record"],
        &[
            "a unique violation is passed on as an error",
            "the SELECT that answers a refused claim leaves a column out, or answers from what the caller sent",
        ],
    ),
    (
        &["claim::a_claim_repeated_by_its_own_token_changes_nothing"],
        &["ON CONFLICT DO UPDATE … WHERE token = excluded.token, which writes the deadlines once more"],
    ),
    (
        &[
            "claim::a_claim_expecting_another_version_is_refused",
            "takeover::a_taker_that_looked_before_another_claim_is_refused",
        ],
        &["the guard of a takeover compares the token alone, or the revision alone; it takes both"],
    ),
    (
        &[
            "claim::a_claim_expecting_a_version_of_nothing_is_vacant",
            "renew::a_renewal_of_nothing_creates_nothing",
            "complete::a_completion_of_nothing_creates_nothing",
            "release::a_release_of_nothing_creates_nothing",
        ],
        &["the write is an upsert, or a SET without XX, where it must only update"],
    ),
    (
        &["claim::a_claim_expecting_the_stored_version_replaces_every_field"],
        &["the UPDATE of a takeover leaves a column out: a deadline, the checkpoint, the response"],
    ),
    (
        &["claim::a_live_result_gives_way_to_a_claim_that_expects_it"],
        &["the guard of a takeover also asks for a lease that is over: whether it is, core has decided"],
    ),
    (
        &["claim::a_record_past_its_time_is_not_overwritten_by_a_claim_expecting_absence"],
        &[
            "an insert that takes a row past its time for absent: ON CONFLICT DO UPDATE … WHERE expires_at <= now",
        ],
    ),
    (
        &["claim::exclusive_across_handles"],
        &[
            "SELECT, then INSERT, without a unique index that decides",
            "an upsert (ON CONFLICT DO UPDATE, SET without NX) where only an insert may win",
            "a mutex or map of one handle or process, which the others do not share",
        ],
    ),
    (
        &["load::an_unknown_key_is_none_and_stays_unknown"],
        &["a get-or-create call, or a placeholder that reserves the key for later"],
    ),
    (
        &[
            "load::every_answer_carries_the_stores_time",
            "claim_many::each_item_is_stamped_with_its_own_deadlines",
        ],
        &[
            "the time of the answer is the application's, not the one that the write was made with",
            "one time or one stamp is computed for a batch or a connection, and used for all of its answers",
        ],
    ),
    (
        &["claim_many::each_item_is_stored_as_it_was_given"],
        &[
            "a parameter is bound once for the whole batch, or the rows of a batch are padded with those of the first",
        ],
    ),
    (
        &["load::reading_moves_no_deadline", "retention::replays_do_not_extend_it"],
        &["a sliding expiry: a read touches the record, or the refused claim writes"],
    ),
    (
        &[
            "renew::an_extension_never_shortens_the_lease",
            "renew::an_extension_moves_the_lease_forward_and_nothing_else",
        ],
        &["lease_until is set to now + span; it takes the greater of that and what is stored"],
    ),
    (
        &[
            "renew::an_overtaken_renewal_changes_nothing_and_is_applied",
            "repeat::a_late_renewal_does_not_bring_back_an_old_checkpoint",
        ],
        &["the revision is stored and not compared: UPDATE … without AND revision < ?"],
    ),
    (
        &["renew::a_checkpoint_comes_back_and_stays_until_the_next"],
        &["SET checkpoint = ? with NULL where the renewal brings none; an empty one is stored as NULL"],
    ),
    (
        &["renew::a_lease_longer_than_the_memory_carries_the_memory_along"],
        &["a renewal moves lease_until and leaves unresolved_until, or the TTL, before it"],
    ),
    (
        &[
            "complete::a_result_that_is_not_retained_is_no_empty_body",
            "payload::empty_absent_and_missing_are_three_things",
        ],
        &["no body, an empty body and no headers share one NULL or one empty value"],
    ),
    (
        &["complete::the_first_result_stands", "complete::completing_again_is_told_so_and_shown_the_record"],
        &[
            "UPDATE … WHERE token = ? without a condition on the status",
            "the second call is answered without the stored record",
        ],
    ),
    (
        &["complete::a_completed_token_renews_no_more"],
        &["UPDATE … WHERE token = ? without a condition on the status: the heartbeat comes after the end"],
    ),
    (
        &[
            "complete::a_result_is_kept_for_its_retention_at_least",
            "retention::retention_counts_from_completion",
        ],
        &["expires_at stays as it was claimed, or is set also to an earlier instant; it only moves forward"],
    ),
    (
        &[
            "complete::a_completion_is_stored_whatever_its_revision",
            "release::a_release_is_carried_out_whatever_its_revision",
        ],
        &["the condition on the revision, which belongs to renew, stands in every UPDATE"],
    ),
    (
        &["release::a_released_key_can_be_claimed_at_once"],
        &["the claim stays in progress, or waits for its lease"],
    ),
    (
        &[
            "release::a_release_leaves_a_mark_for_as_long_as_asked",
            "release::a_late_copy_of_a_released_claim_meets_the_mark",
            "repeat::a_late_copy_of_any_call_changes_nothing",
        ],
        &["release deletes the record, or keeps the mark for another span than `keep`"],
    ),
    (
        &[
            "held::a_superseded_holder_writes_nothing_after_a_purge_and_a_new_claim",
            "release::a_released_token_writes_no_more",
        ],
        &["a write finds its record by token alone, in a table, cache or index that outlives the record"],
    ),
    (
        &["held::a_token_that_differs_in_one_byte_writes_nothing"],
        &["tokens are compared by a prefix, as text without letter case, or after a lossy conversion"],
    ),
    (
        &["held::the_token_writes_only_under_its_own_key", "held::the_token_of_another_key_writes_nothing"],
        &["UPDATE … WHERE token = ? without AND key = ?"],
    ),
    (
        &[
            "claim_many::answers_come_in_the_order_of_the_items",
            "claim_many::a_second_item_of_the_same_key_sees_the_first",
            "claim_many::a_batch_answers_as_single_claims_do",
            "claim_many::a_large_mixed_batch_answers_as_single_claims_do",
            "claim_many::a_thousand_items_are_one_batch",
        ],
        &[
            "one statement for all items, whose rows come back without their order, or only for those granted",
            "the batch is cut at a limit of the database, such as the number of bound parameters",
        ],
    ),
    (
        &["claim_many::batches_in_opposite_order_do_not_block_each_other"],
        &["rows are locked in the order of the items; sort them by key, or claim one by one"],
    ),
    (
        &[
            "lease::a_lease_ends_at_its_deadline_and_not_before",
            "retention::a_result_is_replayed_until_its_deadline_and_not_after",
        ],
        &[
            "a deadline that was rounded down, to whole seconds or milliseconds, instead of up",
            "the store itself decides that a record is over, and off by one: past is now >= deadline",
            "a TTL that removes the record early",
        ],
    ),
    (
        &[
            "lease::a_late_holder_that_nobody_displaced_may_complete",
            "lease::a_late_holder_that_nobody_displaced_may_renew",
            "lease::a_late_holder_that_nobody_displaced_may_release",
        ],
        &[
            "the write asks for a lease that still runs: AND lease_until > now. Being the holder is all it takes",
        ],
    ),
    (
        &["lease::an_abandoned_key_stays_bound_to_its_request"],
        &["a refused claim writes its fingerprint or token before it is refused"],
    ),
    (
        &["lease::attempts_count_the_takeovers"],
        &["the store counts attempts by itself; it stores the one that the claim brings"],
    ),
    (
        &["lease::results_are_safe_when_the_clock_steps_back"],
        &["a write is refused, or a deadline moved back, because the time is earlier than the stored one"],
    ),
    (
        &[
            "retention::an_unfinished_key_is_remembered_past_the_retention",
            "purge::nothing_that_is_not_past_its_time_is_deleted",
        ],
        &[
            "purge goes by expires_at, or by the lease, also where the record is in progress: there it is unresolved_until",
        ],
    ),
    (
        &["retention::nothing_of_an_earlier_period_is_left"],
        &["the UPDATE of a takeover leaves columns of the earlier period: checkpoint, result, created_at"],
    ),
    (
        &["payload::all_byte_values_come_back", "payload::look_alikes_are_not_interpreted"],
        &[
            "bytes go through text: a lossy UTF-8 conversion, a NUL that ends a string, line breaks that are normalised",
            "values are put into a statement as text instead of bound",
        ],
    ),
    (
        &[
            "payload::headers_keep_order_duplicates_case_and_bytes",
            "payload::many_headers_come_back",
            "payload::long_headers_come_back",
        ],
        &[
            "headers are kept in a map, as text, or in columns with a limit; they are an ordered list of bytes",
        ],
    ),
    (
        &[
            "payload::bodies_of_all_sizes_come_back",
            "payload::checkpoints_of_all_sizes_come_back",
            "payload::a_response_beyond_the_limit_is_stored_whole_or_refused_whole",
        ],
        &["a column or packet with a limit at which the database cuts instead of refusing"],
    ),
    (
        &[
            "payload::codes_keep_their_value",
            "payload::revisions_keep_their_value",
            "payload::fingerprints_and_attempts_keep_their_value",
        ],
        &["a column that is too narrow, or signed; a number that goes through a double, as in Lua and JSON"],
    ),
    (
        &["payload::no_debug_output_shows_a_body"],
        &["a derived Debug on a row or statement type that is printed with the answer"],
    ),
    (
        &["keys::letter_case_tells_keys_apart"],
        &["a collation without letter case: citext, NOCASE, utf8mb4_0900_ai_ci. Keys are compared as bytes"],
    ),
    (
        &["keys::blanks_tell_keys_apart"],
        &["a CHAR or padded collation, which ignores blanks at the end; a key that is trimmed on its way"],
    ),
    (
        &["keys::forms_of_unicode_tell_keys_apart"],
        &["a collation or a driver that normalises Unicode. Keys are compared as bytes"],
    ),
    (
        &[
            "keys::keys_of_every_length_are_stored",
            "keys::the_longest_scope_and_key_together_are_stored",
            "keys::keys_that_begin_alike_are_apart",
        ],
        &[
            "a column or an index with a limit below 255 bytes, or one that counts characters",
            "an index over a prefix of the key that is declared unique",
        ],
    ),
    (
        &["keys::patterns_and_quotes_are_plain_text"],
        &["LIKE, KEYS or SCAN with a key as the pattern; a key that is put into a statement as text"],
    ),
    (
        &["keys::numbers_in_disguise_are_plain_text"],
        &["a column without a fixed type, where '01' and '1' are one number (SQLite's NUMERIC affinity)"],
    ),
    (
        &["keys::thousands_of_random_keys_never_meet"],
        &["records are found by a digest that is too short, and the key beside it is not compared"],
    ),
    (
        &[
            "scope::one_key_in_two_scopes_is_two_records",
            "scope::bytes_do_not_move_between_scope_and_key",
            "scope::scope_and_key_are_not_interchangeable",
        ],
        &[
            "scope and key are joined by a separator that both may contain, or the scope is no part of the index",
        ],
    ),
    (
        &["scope::the_global_scope_is_apart_from_every_named_one"],
        &[
            "the global scope is stored as an empty or a made-up name",
            "NULL in a unique index, where no two are equal",
        ],
    ),
    (
        &[
            "purge::everything_past_its_time_goes_in_batches",
            "purge::what_is_past_its_time_is_found_behind_thousands_of_live_records",
            "races::purges_at_the_same_time_count_each_record_once",
        ],
        &[
            "the limit is applied to what is looked at, not to what is past its time",
            "what is counted are the records chosen, not those deleted",
        ],
    ),
    (
        &["purge::a_record_renewed_in_time_survives", "races::a_purge_never_takes_a_new_claim"],
        &[
            "purge chooses keys first and deletes by key: the deleting step must ask for the deadline, or the version, again",
        ],
    ),
    (
        &[
            "takeover::one_taker_of_an_abandoned_record_is_granted",
            "claim_many::batches_of_takeovers_grant_each_key_once",
        ],
        &["the version is read, compared in the application, and the record then written by key alone"],
    ),
    (
        &[
            "takeover::a_renewal_and_a_takeover_do_not_both_win",
            "takeover::a_completion_and_a_takeover_do_not_both_win",
            "takeover::a_release_and_takeovers_grant_the_key_once",
        ],
        &[
            "the holder's token is checked in one statement and the record written in another",
            "the takeover compares the token without the revision, which the holder's write has just raised",
        ],
    ),
    (
        &[
            "races::of_many_deliveries_of_a_completion_one_is_first",
            "races::of_a_completion_and_a_release_one_is_applied",
            "endings::renewals_never_take_away_a_result",
            "endings::renewals_never_take_away_a_mark",
        ],
        &[
            "the record is read, changed in the application and written back whole; the status must be a condition of the write",
        ],
    ),
    (
        &["races::readers_never_see_half_a_write"],
        &["status and body are written by two statements, or read by two"],
    ),
    (
        &["races::a_busy_key_does_not_hold_up_others"],
        &[
            "one lock, or one connection, for all keys; a table lock; a lock that is held while waiting for the network",
        ],
    ),
    (
        &["model::random_sequences_agree_with_the_model", "words::all_short_words_agree_with_the_model"],
        &["see the last step, at which the store differs first; the cases of its verb say more"],
    ),
    (
        &[
            "instants::a_lease_starts_when_it_is_granted",
            "instants::a_renewed_lease_starts_when_the_renewal_is_written",
            "instants::a_retention_starts_when_the_result_is_written",
            "instants::a_mark_stands_from_when_the_release_is_written",
        ],
        &[
            "time is read before the wait for the lock: now() and CURRENT_TIMESTAMP are those of the transaction's start",
            "the application computes the deadline and sends it as a value",
        ],
    ),
    (
        &["instants::a_write_on_an_idle_handle_is_stamped_with_the_present"],
        &[
            "a transaction that stays open between calls, or a time that is read once and kept with the connection",
        ],
    ),
    (
        &[
            "locks::a_lock_that_stays_makes_every_write_unavailable",
            "locks::a_purge_beside_a_lock_ends",
            "locks::a_locked_record_holds_up_writes_of_others_within_bounds",
        ],
        &["no limit on the wait for a lock: lock_timeout, busy_timeout, or a timeout around the call"],
    ),
    (
        &["locks::a_write_that_was_locked_out_can_be_repeated"],
        &["a transaction that gave up at a lock is left open, and the next call runs within it"],
    ),
    (
        &["locks::a_locked_record_does_not_hold_up_looks_at_others"],
        &["looks take the lock of a write, or the only connection, which waits with the call before"],
    ),
    (
        &["locks::calls_given_up_at_a_lock_keep_nothing"],
        &[
            "a call that is dropped while it waits keeps its connection, its place in a queue or its transaction",
        ],
    ),
    (
        &[
            "failures::an_unreadable_record_is_never_absent_claimed_or_a_replay",
            "failures::an_unreadable_record_is_corrupt_to_every_verb",
        ],
        &[
            "an error of decoding that becomes none: `.ok()`, a default, or a WHERE that passes over the row",
            "a format or version that is stored and never compared",
        ],
    ),
    (
        &["failures::an_unreadable_record_spoils_no_other"],
        &[
            "one `?` over all rows: a record that cannot be read ends the batch, or the purge, that it is part of",
        ],
    ),
    (
        &["failures::a_purge_goes_past_an_unreadable_record"],
        &[
            "the purge reads whole records where their deadlines would do, and ends at the first that it cannot read",
            "the limit counts what was chosen, not what was deleted: the same unreadable records are chosen each time",
        ],
    ),
    (
        &["failures::an_error_that_is_definite_has_changed_nothing"],
        &["the record is written first and checked afterwards, without a rollback"],
    ),
    (
        &["failures::a_handle_that_has_met_every_failure_is_well_afterwards"],
        &["a call that fails goes past the place where it gives its connection, lock or permit back"],
    ),
    (
        &[
            "neighbours::one_key_in_two_stores_is_two_records",
            "neighbours::a_token_writes_in_its_own_store_only",
            "neighbours::a_purge_stays_in_its_store",
        ],
        &["a statement that names the default table or prefix instead of the one that was set"],
    ),
];
