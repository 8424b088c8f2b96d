//! What is wanted, and what goes wrong on the way: all of it decided by one seed.
//!
//! Every fault is a function of the seed and of what it strikes, never of timing. So both runs meet the same network,
//! however differently they fare in it.

use crate::random::Random;
use crate::wire::Trouble;

/// How many operations are wanted.
pub(crate) const OPERATIONS: usize = 200;

/// Something that must be done once: a customer pays one amount.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) index: u64,
    /// Every customer pays once, so charges can be counted by customer.
    pub(crate) customer: String,
    pub(crate) amount: i64,
    pub(crate) clicks: Clicks,
    /// What befalls the worker that handles it first.
    pub(crate) trouble: Trouble,
}

/// How often the button is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clicks {
    Once,
    /// Twice, by an impatient finger: two requests of the same operation at the same time.
    Twice,
}

/// What the network does to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weather {
    /// It arrives, and so does its reply.
    Fair,
    /// It never arrives.
    RequestLost,
    /// It arrives, and its reply does not. To the client this looks the same.
    ReplyLost,
    /// It arrives twice.
    Duplicated,
}

/// Which request it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestId {
    pub(crate) operation: u64,
    pub(crate) click: u64,
    pub(crate) attempt: u64,
}

/// The plan that `seed` makes.
pub(crate) fn operations(seed: u64) -> Vec<Operation> {
    let mut random = Random::new(&[seed, 0]);
    let mut operations: Vec<Operation> = (0..OPERATIONS as u64)
        .map(|index| Operation {
            index,
            customer: format!("cus_{index:04}"),
            amount: 100 + random.below(100_000) as i64,
            clicks: if random.percent(15) { Clicks::Twice } else { Clicks::Once },
            trouble: Trouble::None,
        })
        .collect();
    // Fixed numbers of the rare ones, so that no seed makes a demonstration of nothing.
    for trouble in TROUBLES {
        let calm =
            |operation: &Operation| operation.trouble == Trouble::None && operation.clicks == Clicks::Once;
        let count = operations.iter().filter(|operation| calm(operation)).count() as u64;
        let chosen = random.below(count) as usize;
        let struck = operations.iter_mut().filter(|operation| calm(operation)).nth(chosen);
        struck.expect("fewer are struck than there are").trouble = *trouble;
    }
    operations
}

/// What the network of `seed` does to a request.
pub(crate) fn weather(seed: u64, request: RequestId) -> Weather {
    let RequestId { operation, click, attempt } = request;
    match Random::new(&[seed, 1, operation, click, attempt]).below(100) {
        0..12 => Weather::RequestLost,
        12..30 => Weather::ReplyLost,
        30..36 => Weather::Duplicated,
        _ => Weather::Fair,
    }
}

const TROUBLES: &[Trouble] = &[
    Trouble::KilledBeforeCharge,
    Trouble::KilledBeforeCharge,
    Trouble::KilledBeforeCharge,
    Trouble::KilledAfterCharge,
    Trouble::KilledAfterCharge,
    Trouble::KilledAfterCharge,
    Trouble::Slow,
    Trouble::Slow,
    Trouble::Slow,
    Trouble::Slow,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_one_plan_and_every_seed_makes_trouble() {
        for seed in 0..50 {
            let (one, other) = (operations(seed), operations(seed));
            assert_eq!(format!("{one:?}"), format!("{other:?}"), "seed {seed}");
            let troubled = one.iter().filter(|operation| operation.trouble != Trouble::None).count();
            assert_eq!(troubled, TROUBLES.len(), "seed {seed}");
            assert!(one.iter().any(|operation| operation.clicks == Clicks::Twice), "seed {seed}");
        }
    }

    #[test]
    fn the_network_does_everything_to_somebody() {
        let requests = (0..OPERATIONS as u64).map(|operation| RequestId { operation, click: 0, attempt: 1 });
        let seen: Vec<Weather> = requests.map(|request| weather(1, request)).collect();
        for weather in [Weather::Fair, Weather::RequestLost, Weather::ReplyLost, Weather::Duplicated] {
            assert!(seen.contains(&weather), "{weather:?}");
        }
    }
}
