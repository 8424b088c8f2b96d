//! Medians, percentiles and spreads.

use serde::Serialize;

/// The middle of several values, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    /// The median.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Spread {
    /// The spread of `values`; `None` if there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            0 => f64::midpoint(values[middle - 1], values[middle]),
            _ => values[middle],
        };
        Some(Self { median, min, max })
    }

    /// The spread of `dividends[i] / divisors[i]`: what was measured in one round is divided within that round, so that
    /// a disturbance of the machine that lasts longer than a round falls on both sides.
    pub(crate) fn of_ratios(dividends: &[f64], divisors: &[f64]) -> Option<Self> {
        debug_assert_eq!(dividends.len(), divisors.len(), "one value of each per round");
        Self::of(dividends.iter().zip(divisors).map(|(dividend, divisor)| dividend / divisor))
    }
}

/// The smallest of `values` that at least `percent` of a hundred of them do not exceed (nearest rank); `None` if there
/// are none. Reorders `values`.
pub(crate) fn percentile(values: &mut [u64], percent: u32) -> Option<u64> {
    let rank = (values.len() * percent as usize).div_ceil(100).max(1);
    (!values.is_empty()).then(|| *values.select_nth_unstable(rank - 1).1)
}

#[cfg(test)]
mod tests {
    use super::{Spread, percentile};

    #[test]
    fn the_median_of_an_odd_number_of_values_is_the_middle_one() {
        let spread = Spread::of([5.0, 1.0, 100.0]);
        assert_eq!(spread, Some(Spread { median: 5.0, min: 1.0, max: 100.0 }));
    }

    #[test]
    fn the_median_of_an_even_number_of_values_lies_between_the_middle_two() {
        let spread = Spread::of([4.0, 1.0, 3.0, 50.0]);
        assert_eq!(spread, Some(Spread { median: 3.5, min: 1.0, max: 50.0 }));
    }

    #[test]
    fn no_values_have_no_spread() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(percentile(&mut [], 50), None);
    }

    #[test]
    fn ratios_are_taken_within_a_round_and_not_between_medians() {
        // The machine was ten times slower in the second round: both sides saw it, and the ratio is 2 in every round.
        let spread = Spread::of_ratios(&[200.0, 20.0, 180.0], &[100.0, 10.0, 90.0]);
        assert_eq!(spread, Some(Spread { median: 2.0, min: 2.0, max: 2.0 }));
        let spread = Spread::of_ratios(&[10.0, 30.0, 20.0], &[10.0, 10.0, 40.0]);
        assert_eq!(spread, Some(Spread { median: 1.0, min: 0.5, max: 3.0 }));
    }

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let mut values: Vec<u64> = (1..=200).rev().collect();
        assert_eq!(percentile(&mut values, 50), Some(100));
        assert_eq!(percentile(&mut values, 99), Some(198));
        assert_eq!(percentile(&mut values, 100), Some(200));
        assert_eq!(percentile(&mut values, 0), Some(1));
        assert_eq!(percentile(&mut [7], 99), Some(7));
        assert_eq!(percentile(&mut [3, 1, 2], 50), Some(2));
    }
}
