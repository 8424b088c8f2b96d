//! Clocks, deadlines, and lengths of time.

macro_rules! times {
    ([$next:ident $($later:ident)*] $($rows:tt)*) => { $next! { [$($later)*] $($rows)*
        LeaseTickLate: 1, OneClock,
            "A lease ends one tick late.",
            "lease::a_lease_ends_at_its_deadline_and_not_before",
            "the lease ends at";
        LeaseTickEarly: 2, OneClock,
            "A lease ends one tick early.",
            "lease::a_lease_ends_at_its_deadline_and_not_before",
            "the lease ends at";
        TakeoverRefusedAtDeadline: 5, OneClock,
            "A takeover is refused in the tick in which the lease ends.",
            "lease::a_lease_ends_at_its_deadline_and_not_before",
            "answered Occupied";
        NeverPastUnlessPurged: 7, PastItsTime,
            "A record never counts as past its time until it is purged.",
            "retention::past_its_time_every_verb_takes_the_record_for_gone",
            "past the record's time";
        WholeSeconds: 8, OneClock,
            "Deadlines are cut to whole seconds.",
            "lease::spans_from_a_microsecond_to_a_century_are_exact",
            "cut, wrapped or rounded";
        LoadHidesPastTime: 59, PastItsTime,
            "load answers a record past its time with an earlier time.",
            "retention::a_result_is_replayed_until_its_deadline_and_not_after",
            "shown with a time before it";
        ClockOfTheHandle: 68, OneClock,
            "Time is taken from the handle's own clock.",
            "load::every_answer_carries_the_stores_time",
            "on a clock that stands still";
        TimeOfTheLastCall: 70, OneClock,
            "A write takes the time of its handle's last call for now.",
            "instants::a_write_on_an_idle_handle_is_stamped_with_the_present",
            "claim was called after";
        ClockReadBeforeTheLock: 71, OneClock,
            "A write reads the clock before it waits for the lock.",
            "instants::a_lease_starts_when_it_is_granted",
            "the time was read before the wait";
        ClockOfTwoMinds: 109, OneClock,
            "Every second write of a handle goes by a clock that is a second behind.",
            "load::every_answer_carries_the_stores_time",
            "which lies before";
        SpansCapped: 222, OneClock,
            "Spans are kept in thirty-two bits.",
            "lease::spans_from_a_microsecond_to_a_century_are_exact",
            "cut, wrapped or rounded";
        HourLostInSpring: 288, OneClock,
            "A day on which clocks go forward has 23 hours.",
            "boundaries::no_date_moves_a_deadline",
            "clocks go forward in Europe";
        TimesInFloatingDays: 481, OneClock,
            "Times are kept as days in a floating-point number.",
            "lease::spans_from_a_microsecond_to_a_century_are_exact",
            "cut, wrapped or rounded";
        TimesInThirtyTwoBits: 482, OneClock,
            "Times are kept as seconds in thirty-two bits.",
            "boundaries::no_date_moves_a_deadline",
            "2038";
        CreationInWholeSeconds: 483, Verbatim,
            "The time of a claim is kept in whole seconds.",
            "claim::a_claim_expecting_the_stored_version_replaces_every_field",
            "created_at: found";
        FutureIsForeign: 484, Held,
            "A record that is dated in the future is taken for absent.",
            "lease::results_are_safe_when_the_clock_steps_back",
            "due was Occupied";
        RenewalReadsClockFirst: 485, OneClock,
            "A renewal reads the clock before it waits for the lock.",
            "instants::a_renewed_lease_starts_when_the_renewal_is_written",
            "the time was read before the wait";
        CompletionReadsClockFirst: 486, OneClock,
            "A completion reads the clock before it waits for the lock.",
            "instants::a_retention_starts_when_the_result_is_written",
            "the time was read before the wait";
        ReleaseReadsClockFirst: 487, OneClock,
            "A release reads the clock before it waits for the lock.",
            "instants::a_mark_stands_from_when_the_release_is_written",
            "its time counts from before the wait";
    } };
}

pub(super) use times;
