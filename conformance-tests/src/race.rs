//! Callers that start at the same instant.

use std::future::Future;
use std::hint;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle as RuntimeHandle;
use tokio::task::JoinHandle;

use crate::evidence::Notes;
use crate::verdict::inconclusive;

/// A call that takes part in a race.
pub(crate) type Contender<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Rounds of a race, and how many callers really met in them.
///
/// A race in which calls ran one after the other shows nothing: it must not count as passed.
pub(crate) struct Race {
    rounds: usize,
    round: usize,
    began: Instant,
    overlap_max: usize,
    notes: Arc<Notes>,
}

impl Race {
    pub(crate) fn of_rounds(rounds: usize, notes: Arc<Notes>) -> Self {
        notes.race_planned(rounds);
        Self { rounds, round: 0, began: Instant::now(), overlap_max: 0, notes }
    }

    /// The number of the next round, until there were enough. On a busy machine, calls as short as those of a store
    /// in memory seldom meet: then it goes on until two have, for a while.
    pub(crate) fn next_round(&mut self) -> Option<usize> {
        let met = self.overlap_max >= OVERLAP_MIN;
        if self.round >= self.rounds && (met || self.began.elapsed() > PATIENCE) {
            return None;
        }
        self.round += 1;
        self.notes.round_begun();
        Some(self.round)
    }

    /// Begins all contenders at the same instant, each on a thread of its own, and waits for their answers.
    ///
    /// Whoever comes to the barrier last tends to go first, so each round begins with another contender.
    pub(crate) async fn round<T: Send + 'static>(&mut self, mut contenders: Vec<Contender<T>>) -> Vec<T> {
        let barrier = Arc::new(SpinBarrier::of(contenders.len()));
        let runtime = RuntimeHandle::current();
        let first = self.round % contenders.len();
        contenders.rotate_left(first);
        let running: Vec<_> = contenders
            .into_iter()
            .map(|contender| {
                let (barrier, runtime) = (Arc::clone(&barrier), runtime.clone());
                tokio::task::spawn_blocking(move || {
                    barrier.wait();
                    let began = Instant::now();
                    let answer = runtime.block_on(contender);
                    (answer, began, Instant::now())
                })
            })
            .collect();
        let mut answers = Vec::with_capacity(running.len());
        let mut intervals = Vec::with_capacity(running.len());
        for contender in running {
            let (answer, began, ended) = joined(contender).await;
            answers.push(answer);
            intervals.push((began, ended));
        }
        self.saw_overlap(overlap(&intervals));
        answers.rotate_right(first);
        answers
    }

    /// Takes note of calls that ran in other processes, where so many were under way at one instant.
    pub(crate) fn saw_overlap(&mut self, overlap: usize) {
        self.notes.overlapped(overlap);
        self.overlap_max = self.overlap_max.max(overlap);
    }

    /// Voids the attempt if no two calls were ever under way at the same time.
    pub(crate) fn check_overlap(&self) {
        if self.overlap_max < OVERLAP_MIN {
            inconclusive(format!(
                "in {} rounds no two calls were ever under way at the same time: the callers do not run in parallel\n\
                 if it stays so, the handles share a connection or a lock: Fixture::handle must open each for itself",
                self.round
            ));
        }
    }
}

/// What a task gave; if it panicked, its panic goes on here.
pub(crate) async fn joined<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(output) => output,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(error) => panic!("a task of the suite was cancelled: {error}"),
        },
    }
}

/// The largest number of intervals that share an instant.
fn overlap(intervals: &[(Instant, Instant)]) -> usize {
    let under_way =
        |at: Instant| intervals.iter().filter(|(began, ended)| *began <= at && at < *ended).count();
    intervals.iter().map(|(began, _)| under_way(*began)).max().unwrap_or(0)
}

/// Lets callers go within a fraction of a microsecond of each other: a sleeping barrier wakes them one after the
/// other, further apart than a call takes.
struct SpinBarrier {
    missing: AtomicUsize,
}

impl SpinBarrier {
    const fn of(callers: usize) -> Self {
        Self { missing: AtomicUsize::new(callers) }
    }

    fn wait(&self) {
        self.missing.fetch_sub(1, Ordering::AcqRel);
        loop {
            for _ in 0..200 {
                if self.missing.load(Ordering::Acquire) == 0 {
                    return;
                }
                hint::spin_loop();
            }
            // Gives way now and then: there may be fewer processors than callers.
            thread::yield_now();
        }
    }
}

/// Below this a race was none.
const OVERLAP_MIN: usize = 2;

/// How long a race goes on in which no two calls have met.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_counts_the_calls_that_share_an_instant() {
        let start = Instant::now();
        let at = |began, ended| (start + Duration::from_micros(began), start + Duration::from_micros(ended));

        assert_eq!(overlap(&[]), 0);
        assert_eq!(overlap(&[at(0, 5), at(5, 9)]), 1, "one call ends as the other begins");
        assert_eq!(overlap(&[at(0, 6), at(5, 9), at(7, 8)]), 2);
        assert_eq!(overlap(&[at(0, 9), at(1, 8), at(2, 7)]), 3);
    }
}
