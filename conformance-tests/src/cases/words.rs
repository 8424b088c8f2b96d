//! Every short sequence, on the store and on a model side by side.

use onceonly::{Completion, Expected, NewClaim, Record, RecordKey, Release, Status, Timestamp, Token};
use proptest::strategy::Just;

use crate::account::Jump;
use crate::call::Request;
use crate::case::{Case, checkpoint, completion, end_of_lease, release, response, seconds};
use crate::pair::{Pair, deadlines};
use crate::property::{Plan, RowTree, for_all, scope_of};
use crate::reference::is_past;

/// Two callers of one key, and time: whatever up to five steps they take, the store and the model agree.
///
/// A word is a number: its digits, the lowest one first, say how far each letter stands from the one before. So of as many
/// numbers in a row as there are words of some length, each begins with another one of them: 729 begin with every word of
/// three letters, and all 59049 with each of the 66429 words of up to five. Each is played on a key of its own.
pub(super) async fn all_short_words_agree_with_the_model(case: &Case) {
    let plan = Plan { trials: words_of(LENGTH), trials_min: words_of(2), part: 8 };
    let start = case.random().below(words_of(LENGTH));
    let mut numbers = start..;
    let words = || {
        let number = numbers.next().unwrap_or(start);
        RowTree::of(word(number % words_of(LENGTH)).map(Just).to_vec())
    };
    for_all(case, plan, words, async |trial, word: &Vec<Letter>| {
        let mut reading = Reading::of(case, trial).await;
        for letter in word {
            reading.read(*letter).await;
        }
    })
    .await;
}

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Letter {
    Claim(Party),
    Renew(Party),
    Complete(Party),
    Release(Party),
    /// Time passes, to the next deadline of the record.
    Tick,
}

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Party {
    One,
    Other,
}

const LETTERS: [Letter; 9] = [
    Letter::Claim(Party::One),
    Letter::Claim(Party::Other),
    Letter::Renew(Party::One),
    Letter::Renew(Party::Other),
    Letter::Complete(Party::One),
    Letter::Complete(Party::Other),
    Letter::Release(Party::One),
    Letter::Release(Party::Other),
    Letter::Tick,
];

const LENGTH: usize = 5;

/// How many words there are of so many letters.
const fn words_of(length: usize) -> usize {
    let (mut words, mut letters) = (1, 0);
    while letters < length {
        words *= LETTERS.len();
        letters += 1;
    }
    words
}

fn word(number: usize) -> [Letter; LENGTH] {
    let (mut rest, mut place) = (number, 0);
    [(); LENGTH].map(|()| {
        place += rest % LETTERS.len();
        rest /= LETTERS.len();
        LETTERS[place % LETTERS.len()]
    })
}

/// A word being played.
struct Reading<'a> {
    case: &'a Case,
    pair: Pair<'a>,
    key: RecordKey,
    hands: [Hand; 2],
}

/// What a party knows of its claim.
struct Hand {
    token: Token,
    /// The number of the token's last write.
    number: u32,
}

impl<'a> Reading<'a> {
    async fn of(case: &'a Case, trial: usize) -> Self {
        let key = case.key_in(&scope_of(case, trial, ""), "a");
        let hands = [(); 2].map(|()| Hand { token: case.token(), number: 1 });
        Self { case, pair: Pair::of(case).await, key, hands }
    }

    async fn read(&mut self, letter: Letter) {
        let key = self.key.clone();
        let request = match letter {
            Letter::Claim(party) => self.claim(party),
            Letter::Renew(party) => {
                let Hand { token, number } = *self.write(party);
                let renewal = checkpoint(number, seconds(10), format!("saved {number}"));
                Request::Renew { key, token, renewal }
            }
            Letter::Complete(party) => {
                let Hand { token, number } = *self.write(party);
                let retention = self.case.unreached(seconds(25));
                let completion = Completion { retention, ..completion(number, response("done")) };
                Request::Complete { key, token, completion }
            }
            Letter::Release(party) => {
                let Hand { token, number } = *self.write(party);
                let keep = self.case.unreached(seconds(15));
                Request::Release { key, token, release: Release { keep, ..release(number) } }
            }
            Letter::Tick if self.case.sets_clock() => return self.tick().await,
            Letter::Tick => match self.end_of_lease() {
                Some(request) => request,
                None => return,
            },
        };
        self.pair.tell(request).await;
    }

    fn write(&mut self, party: Party) -> &Hand {
        let hand = &mut self.hands[party as usize];
        hand.number += 1;
        hand
    }

    /// A claim as the law has it: of what is there if that is free, else of an absent record. A party whose own claim
    /// stands delivers it once more.
    fn claim(&mut self, party: Party) -> Request {
        let record = self.pair.record(&self.key);
        let next = record.as_ref().and_then(|record| next_attempt(record, self.pair.now()));
        let (expected, attempt) = match (&record, next) {
            (Some(record), Some(attempt)) => (Expected::Exactly(record.version), attempt),
            _ => (Expected::Absent, 1),
        };
        let hand = &mut self.hands[party as usize];
        let stands = record.is_some_and(|record| record.version.token == hand.token);
        if !(stands && expected == Expected::Absent) {
            *hand = Hand { token: self.case.token(), number: 1 };
        }
        let claim = NewClaim {
            token: hand.token,
            attempt,
            lease: self.case.unreached(seconds(10)),
            keep: self.case.unreached(seconds(20)),
            keep_unresolved: self.case.unreached(seconds(30)),
            ..self.case.claim()
        };
        Request::Claim { key: self.key.clone(), claim, expected }
    }

    /// Time passes until the next deadline of the record, which is then past.
    async fn tick(&mut self) {
        let now = self.pair.now();
        let record = self.pair.record(&self.key);
        let coming = record.iter().flat_map(deadlines).filter(|(_, deadline)| now < *deadline);
        let (to, jump) = match coming.min_by_key(|(_, deadline)| *deadline) {
            Some((deadline, to)) => (to, Jump::ToDeadline { key: self.key.clone(), deadline, behind: 0 }),
            None => (now.plus(seconds(1)), Jump::Ahead),
        };
        self.pair.set_clock(to, jump).await;
    }

    /// What takes the place of a tick on a clock that runs: the holder, if there is one, ends its lease.
    fn end_of_lease(&mut self) -> Option<Request> {
        let holder = self.pair.record(&self.key)?.version.token;
        let hand = self.hands.iter_mut().find(|hand| hand.token == holder)?;
        hand.number += 1;
        Some(Request::Renew { key: self.key.clone(), token: holder, renewal: end_of_lease(hand.number) })
    }
}

/// The attempt that may begin over the record, if one may.
fn next_attempt(record: &Record, now: Timestamp) -> Option<u32> {
    match record.status {
        _ if is_past(record, now) => Some(1),
        Status::Released => Some(1),
        Status::InProgress { .. } if record.lease_until <= now => Some(record.attempt + 1),
        Status::InProgress { .. } | Status::Completed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn so_many_numbers_in_a_row_as_there_are_words_of_a_length_begin_with_all_of_them() {
        for (length, start) in [(3, 58_000), (4, 12_345), (5, 1)] {
            let numbers = (start..start + words_of(length)).map(|number| number % words_of(LENGTH));
            let beginnings: HashSet<Vec<Letter>> =
                numbers.map(|number| word(number)[..length].to_vec()).collect();

            assert_eq!(beginnings.len(), words_of(length));
        }
    }
}
