//! Futures are polled exactly as often as they are told, and dropped at the moment that was asked for.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use onceonly_conformance::{DropPoint, Moment, Polled, drop_at, poll_times, sweep};

#[tokio::test]
async fn a_future_that_gets_no_poll_is_never_begun() {
    let polls = Cell::new(0);

    let polled = poll_times(Countdown::of(3, &polls), 0).await;

    assert_eq!(polled, Polled::Dropped);
    assert_eq!(polls.get(), 0);
}

#[tokio::test]
async fn a_future_is_polled_as_often_as_told_and_no_more() {
    for allowed in 1..=3 {
        let polls = Cell::new(0);

        let polled = poll_times(Countdown::of(3, &polls), allowed).await;

        assert_eq!(polled, Polled::Dropped, "{allowed} polls are one too few or more");
        assert_eq!(polls.get(), allowed);
    }
}

#[tokio::test]
async fn a_future_that_is_ready_in_time_gives_its_output() {
    let polls = Cell::new(0);

    assert_eq!(poll_times(Countdown::of(3, &polls), 4).await, Polled::Ready("done"));
}

#[tokio::test]
async fn dropped_when_woken_means_after_what_it_waited_for() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let sending = tokio::spawn(async move {
        tokio::task::yield_now().await;
        // `is_closed` tells whether the receiver was dropped before it was woken.
        let dropped_before = sender.is_closed();
        let _ = sender.send(());
        dropped_before
    });

    let polled = drop_at(receiver, DropPoint { polls: 1, moment: Moment::WhenWoken }).await;

    assert!(matches!(polled, Polled::Dropped));
    assert!(!sending.await.unwrap(), "the future was dropped before it was woken");
}

#[tokio::test]
async fn a_sweep_ends_with_the_first_count_at_which_the_future_is_ready() {
    let mut points = Vec::new();

    let polls = sweep(async |point| {
        points.push((point.polls, point.moment));
        drop_at(Countdown::of(2, &Cell::new(0)), point).await
    })
    .await;

    assert_eq!(polls, 3);
    let expected = [
        (0, Moment::AtOnce),
        (1, Moment::AtOnce),
        (1, Moment::WhenWoken),
        (2, Moment::AtOnce),
        (2, Moment::WhenWoken),
        (3, Moment::AtOnce),
        (3, Moment::WhenWoken),
    ];
    assert_eq!(points, expected);
}

/// Pending so many times, waking itself each time; counts its polls.
struct Countdown<'a> {
    pending: usize,
    polls: &'a Cell<usize>,
}

impl<'a> Countdown<'a> {
    const fn of(pending: usize, polls: &'a Cell<usize>) -> Self {
        Self { pending, polls }
    }
}

impl Future for Countdown<'_> {
    type Output = &'static str;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<&'static str> {
        self.polls.set(self.polls.get() + 1);
        if self.pending == 0 {
            return Poll::Ready("done");
        }
        self.pending -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
