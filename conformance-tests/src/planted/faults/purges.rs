//! Purges: what goes, what stays, and what is counted.

macro_rules! purges {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        PurgeTakesLive: 52, PastItsTime,
            "A purge deletes live claims.",
            "purge::nothing_that_is_not_past_its_time_is_deleted",
            "how many live records were purged";
        PurgeTakesAbandoned: 53, PastItsTime,
            "A purge deletes claims whose lease is over.",
            "purge::nothing_that_is_not_past_its_time_is_deleted",
            "that are remembered";
        PurgeCountsOneMore: 55, PastItsTime,
            "A purge reports one record too many.",
            "purge::everything_past_its_time_goes_in_batches",
            "at most one deleted: found 2";
        PurgeIgnoresLimit: 56, PastItsTime,
            "A purge ignores its limit.",
            "purge::everything_past_its_time_goes_in_batches",
            "at most one deleted: found 200";
        PurgeDoesNothing: 58, PastItsTime,
            "A purge deletes nothing.",
            "purge::everything_past_its_time_goes_in_batches",
            "at most one deleted: found 0";
        PurgeTakesTheNeighbours: 104, Isolated,
            "A purge deletes in other stores of the database too.",
            "neighbours::a_purge_stays_in_its_store",
            "of a neighbour's 10 records";
        UnfinishedForgotten: 221, PastItsTime,
            "An unfinished record is purged at the end of the retention.",
            "retention::an_unfinished_key_is_remembered_past_the_retention",
            "at the end of the retention";
        PurgeByFirstDeadline: 234, PastItsTime,
            "A purge goes by the deadline that a record was claimed with.",
            "purge::a_record_renewed_in_time_survives",
            "how many renewed records were purged";
        PurgeChoosesThenDeletes: 235, PastItsTime,
            "A purge chooses records, and then deletes by key.",
            "races::a_purge_never_takes_a_new_claim",
            "one expired key";
        PurgeCountsChosen: 236, PastItsTime,
            "A purge reports how many records it chose, not how many it deleted.",
            "races::purges_at_the_same_time_count_each_record_once",
            "the sum of what sixteen purges";
        PurgeLooksAtTheFirst: 252, PastItsTime,
            "A purge looks at the first records in the order of keys only.",
            "purge::what_is_past_its_time_is_found_behind_thousands_of_live_records",
            "how many records a purge of at most";
        PurgeChoosesBeforeTheLock: 291, PastItsTime,
            "A purge chooses records, waits for the lock, and then deletes by key.",
            "sweeping::a_claim_that_waits_beside_a_purge_survives_it",
            "claimed beside a purge";
        PurgeTakesAllOut: 292, PastItsTime,
            "A purge empties the table and puts back what lives on.",
            "sweeping::purges_beside_a_workload_change_no_answer",
            "of a workload beside purges";
        PurgeGoesByTheSnapshot: 293, PastItsTime,
            "A purge judges records as the oldest reader sees them.",
            "sweeping::a_purge_beside_a_long_reader_judges_by_the_present",
            "a purge beside a long reader deleted";
        PurgeReadsBeforeTheClock: 294, PastItsTime,
            "A purge reads the records first and the clock later, and deletes by key.",
            "sweeping::a_renewal_at_the_last_moment_survives_a_purge",
            "renewed record";
        PurgeOfNoneIsUnlimited: 541, PastItsTime,
            "A purge of at most none has no limit.",
            "purge::a_purge_of_nothing_deletes_nothing",
            "a purge of at most none deleted";
        PurgeLimitIsSigned: 542, PastItsTime,
            "The limit of a purge is taken for a signed number.",
            "purge::a_purge_of_nothing_deletes_nothing",
            "a purge without a limit deleted";
        PurgeTickLate: 543, PastItsTime,
            "A purge leaves what is past its time since this very tick.",
            "purge::everything_past_its_time_goes_in_batches",
            "at most a thousand deleted";
        PurgeTickEarly: 544, PastItsTime,
            "A purge deletes what is past its time in the next tick.",
            "purge::nothing_that_is_not_past_its_time_is_deleted",
            "one tick early";
        PurgeLeavesMarks: 545, PastItsTime,
            "A purge leaves marks.",
            "purge::everything_past_its_time_goes_in_batches",
            "at most a thousand deleted";
        ResultsGoWithTheirClaim: 546, PastItsTime,
            "A result is purged when its claim would no longer be remembered.",
            "retention::many_retentions_end_each_at_its_time",
            "by the end of retention";
        RenewedIsNeverPurged: 547, PastItsTime,
            "A renewed record is not found by purges any more.",
            "purge::a_record_renewed_in_time_survives",
            "at their present deadline";
        PurgePutsOff: 548, PastItsTime,
            "A record that a purge has put off is not looked at again before that time, whatever becomes of it.",
            "purge::a_late_end_after_a_purge_goes_at_its_time",
            "late ends of a claim";
        PurgedIsStillShown: 549, Durable,
            "A handle goes on showing what another one has purged.",
            "purge::a_purge_in_one_handle_is_seen_by_all",
            "a purged record on another handle";
        PurgeGoesByClasses: 550, PastItsTime,
            "Results are purged by classes of retention, each twice as long as the one before.",
            "retention::many_retentions_end_each_at_its_time",
            "by the end of retention";
        PurgeTakesWhatHasEnded: 551, PastItsTime,
            "A purge chooses records, and then deletes those that are completed by then.",
            "interleaved::a_purge_that_stands_still_is_one_step",
            "no order explains what came of PurgeExpired";
        PurgeWaitsForRetention: 552, Repeating,
            "A purge leaves an unfinished record until its retention is over too.",
            "model::random_sequences_agree_with_the_model",
            "purge_expired answered 0 deleted, due was 1 deleted";
    } };
}

pub(super) use purges;
