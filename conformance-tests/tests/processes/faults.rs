//! The ways in which the store of files can be broken.

use onceonly_conformance::FailureKind;

macro_rules! faults {
    ($($name:ident, $case:literal, $piece:literal, $sentence:literal;)+) => {
        /// What a broken store does wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Fault {
            $(#[doc = $sentence] $name,)+
        }

        impl Fault {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)+];

            /// The case that must find it.
            pub(crate) const fn case(self) -> &'static str {
                match self { $(Self::$name => $case,)+ }
            }

            /// What the report of that case must say.
            pub(crate) const fn piece(self) -> &'static str {
                match self { $(Self::$name => $piece,)+ }
            }

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }
        }
    };
}

faults! {
    ClaimChecksThenWrites, "processes::of_two_hundred_claims_in_four_processes_one_is_granted",
        "of 200 claims in four processes were granted",
        "A claim of an absent key gives the lock back between its look and its write.";
    TakeoverChecksThenWrites, "processes::of_takers_in_four_processes_one_is_granted",
        "of 16 takeovers in four processes were granted",
        "A takeover gives the lock back between its look and its write.";
    CompletionChecksThenWrites, "processes::of_completions_in_four_processes_one_is_first",
        "how many deliveries of one completion were applied",
        "A completion gives the lock back between its look and its write.";
    HeldByItsProcess, "processes::the_token_decides_who_writes_and_not_the_process",
        "renew by the holder answered NotHeld",
        "Whoever did not claim the key cannot write, token or not.";
    CachedReads, "processes::a_write_in_one_process_is_seen_by_all_others",
        "a process does not see write 2",
        "A record that was read once is read from the memory of the process.";
    TrustsItsMemory, "pauses::a_holder_paused_past_its_lease_writes_nothing",
        "a holder that had been paused answered",
        "A process remembers what it holds, and writes without looking.";
    TrustsItsLook, "pauses::a_taker_paused_after_its_look_is_refused",
        "expects a version long gone answered",
        "A takeover is compared with what the process last read.";
    WaitsForEver, "pauses::a_paused_process_does_not_hold_up_others",
        "waits without limit",
        "A call waits for the lock for as long as it is held.";
    WritesLater, "kills::every_acknowledged_write_survives_a_kill",
        "before its process",
        "Writes are answered first and written sixteen at a time.";
    WritesInTwoSteps, "kills::a_write_cut_off_by_a_kill_happened_whole_or_not_at_all",
        "left half of its effect",
        "The version is written first and the rest of the record after it.";
    LockStays, "kills::a_write_cut_off_by_a_kill_can_be_repeated_to_its_end",
        "still has no certain answer",
        "The lock is a file, which whoever is killed leaves behind.";
    PurgeCopiesWhatLives, "kills::a_purge_cut_off_by_a_kill_takes_nothing_that_lives",
        "no record where one is due",
        "A purge moves everything away and then what is to stay back.";
    ForgetsTheDead, "kills::a_key_whose_holder_was_killed_goes_on_after_the_lease",
        "no record where one is due",
        "The claim of a process that is gone is deleted by whoever reads it.";
    QueuedClaims, "kills::a_claim_that_waits_when_its_process_dies_does_not_win_the_key",
        "whoever waited for it is dead",
        "A claim that waits is written down, and carried out by whoever has the lock next.";
    DroppedInTwoSteps, "kills::calls_under_way_when_their_process_ends_happened_whole_or_not_at_all",
        "left half of its effect",
        "A call that is dropped half-way leaves the new version with the rest of the old record.";
    Aborts, "processes::the_token_decides_who_writes_and_not_the_process",
        "this store ends its process",
        "A renewal ends the process.";
    Panics, "processes::the_token_decides_who_writes_and_not_the_process",
        "a call panicked: this store panics",
        "A renewal panics.";
    Prints, "processes::the_token_decides_who_writes_and_not_the_process",
        "this store prints",
        "A renewal writes to the standard output.";
    JoinedClockRuns, "processes::the_token_decides_who_writes_and_not_the_process",
        "not of the declared kind",
        "In other processes the store goes by a clock that the suite cannot set.";
    WithoutAddress, "processes::the_token_decides_who_writes_and_not_the_process",
        "has no address",
        "Nobody says where other processes find the place.";
    CannotBeJoined, "processes::the_token_decides_who_writes_and_not_the_process",
        "nobody can join this place",
        "There is no way to open the place in another process.";
}

impl Fault {
    /// What its report must say of the store.
    pub(crate) const fn kind(self) -> FailureKind {
        match self {
            Self::Aborts
            | Self::Prints
            | Self::JoinedClockRuns
            | Self::WithoutAddress
            | Self::CannotBeJoined => FailureKind::SetUp,
            _ => FailureKind::Broken,
        }
    }
}
