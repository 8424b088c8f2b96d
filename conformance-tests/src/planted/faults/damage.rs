//! Records that cannot be read.

macro_rules! damage {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        CorruptIsAbsent: 79, Exclusive,
            "A record that cannot be read counts as absent.",
            "failures::an_unreadable_record_is_never_absent_claimed_or_a_replay",
            "answered \"no record\", due was an error";
        CorruptIsReplaced: 275, Exclusive,
            "A claim takes the place of a record that it cannot read.",
            "failures::an_unreadable_record_is_never_absent_claimed_or_a_replay",
            "answered \"claimed\", due was an error";
        CorruptIsReplayed: 276, Exclusive,
            "load shows what is left of a record that cannot be read.",
            "failures::an_unreadable_record_is_never_absent_claimed_or_a_replay",
            "Load answered";
        CorruptIsUnavailable: 277, Verbatim,
            "A record that cannot be read makes its calls Unavailable.",
            "failures::an_unreadable_record_is_corrupt_to_every_verb",
            "found Some(Unavailable), due Some(Corrupt)";
        CorruptPanics: 278, Verbatim,
            "A call panics over a record that it cannot read.",
            "failures::an_unreadable_record_is_corrupt_to_every_verb",
            "a call panicked";
        CorruptIsDeleted: 279, Whole,
            "A record that cannot be read is reported and deleted.",
            "failures::an_error_that_is_definite_has_changed_nothing",
            "and has changed the record";
        CorruptStopsPurges: 280, Isolated,
            "A purge fails while any record cannot be read.",
            "failures::an_unreadable_record_spoils_no_other",
            "a purge beside it failed";
        CorruptFailsBatch: 281, Isolated,
            "A batch with an item that cannot be read fails as a whole.",
            "failures::an_unreadable_record_spoils_no_other",
            "item 0 of a batch";
        CorruptAndPastStopsPurges: 490, Isolated,
            "A purge fails at a record past its time that cannot be read.",
            "failures::a_purge_goes_past_an_unreadable_record",
            "and past its time: a purge failed";
        PurgeChoosesTheUnreadable: 491, Isolated,
            "A purge chooses as many records as it may delete, and leaves those that it cannot read.",
            "failures::a_purge_goes_past_an_unreadable_record",
            "purges have not come to a record beside it";
    } };
}

pub(super) use damage;
