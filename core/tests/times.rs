//! Lengths of time at the edges of what a store can keep.

use std::time::Duration;

use onceonly::{Clock as _, InvalidSpan, ManualClock, Span, Timestamp};

#[test]
fn fractions_of_a_microsecond_round_up() {
    assert_eq!(Span::new(Duration::from_nanos(1)).unwrap().as_micros(), 1);
    assert_eq!(Span::new(Duration::from_nanos(1_000)).unwrap().as_micros(), 1);
    assert_eq!(Span::new(Duration::from_nanos(1_001)).unwrap().as_micros(), 2);
}

#[test]
fn nothing_and_more_than_a_hundred_years_are_refused() {
    assert_eq!(Span::new(Duration::ZERO), Err(InvalidSpan::Zero));
    assert_eq!(Span::new(Span::MAX.as_duration()), Ok(Span::MAX));
    assert_eq!(Span::new(Span::MAX.as_duration() + Duration::from_nanos(1)), Err(InvalidSpan::TooLong));
    assert_eq!(Span::new(Duration::MAX), Err(InvalidSpan::TooLong));
}

#[test]
fn a_deadline_beyond_the_last_timestamp_stops_there() {
    let last = Timestamp::from_micros(i64::MAX);
    assert_eq!(last.plus(Span::MAX), last);
}

#[test]
fn time_since_a_later_point_is_zero() {
    let (early, late) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
    assert_eq!(early.since(late), Duration::ZERO);
    assert_eq!(Timestamp::from_micros(5).since(Timestamp::from_micros(2)), Duration::from_micros(3));
}

#[test]
fn a_clock_that_is_moved_beyond_the_last_timestamp_stops_there() {
    let clock = ManualClock::starting_at(Timestamp::from_micros(1));
    clock.advance(Duration::MAX);
    assert_eq!(clock.now(), Timestamp::from_micros(i64::MAX));
    clock.advance(Duration::from_secs(1));
    assert_eq!(clock.now(), Timestamp::from_micros(i64::MAX));
}
