//! Runs the variants of a comparison alternately, and works out what was measured.

use std::error::Error;
use std::time::Duration;

use serde::Serialize;

use crate::statistics::{Spread, percentile};

/// What stops a run: a variant that could not be set up, or that did not do what it is measured doing.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Variants that do the same work, and the figures that are made of their measurements.
pub(crate) struct Comparison {
    /// What is done, such as `"memory fresh"`.
    pub name: String,
    /// Who does it.
    pub variants: Vec<Variant>,
    /// What is wanted to know.
    pub figures: Vec<Figure>,
}

/// One way of doing a comparison's work.
pub(crate) struct Variant {
    /// Unique within the comparison.
    pub name: String,
    /// How many callers ask at the same time.
    pub callers: usize,
    /// Sets up fresh state, works for about the given time, and says how much was done. Setting up is not measured.
    pub run: Box<dyn FnMut(Duration) -> Result<Sample, Failure>>,
}

impl Variant {
    pub(crate) fn new(
        name: impl Into<String>,
        callers: usize,
        run: impl FnMut(Duration) -> Result<Sample, Failure> + 'static,
    ) -> Self {
        Self { name: name.into(), callers, run: Box::new(run) }
    }
}

/// What one variant did in one round.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Operations that were finished. A fresh operation is a claim and its completion; a replay is one claim.
    pub operations: u64,
    /// From the first one's start to the last one's end.
    pub elapsed: Duration,
    /// How long claims took, in nanoseconds; not necessarily all of them.
    pub claim_nanos: Vec<u64>,
}

/// Something to be known about a comparison, and what it should be.
#[derive(Clone, Debug)]
pub(crate) enum Figure {
    /// The throughput of one variant divided by another's.
    Ratio { of: String, over: String, at_least: Option<f64> },
    /// The time that an operation takes one caller.
    MicrosPerOperation { of: String, at_most: Option<f64> },
    /// The time that all but a hundredth of the claims stay below.
    ClaimP99Micros { of: String, at_most: Option<f64> },
}

/// A comparison's measurements.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub name: String,
    pub variants: Vec<MeasuredVariant>,
    pub figures: Vec<MeasuredFigure>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MeasuredVariant {
    pub name: String,
    pub callers: usize,
    pub operations_per_second: Spread,
    /// Median over the rounds of each round's percentile; nothing if no claim was timed.
    pub claim_p50_micros: Option<Spread>,
    pub claim_p99_micros: Option<Spread>,
    /// Operations per second of each round, in order.
    pub rounds: Vec<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MeasuredFigure {
    pub name: String,
    pub value: Spread,
    /// What it should be; nothing if it is only shown.
    pub goal: Option<Goal>,
    /// Whether the median reaches the goal.
    pub reached: Option<bool>,
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

/// Runs every variant once in each round, in their order, so that whatever else the machine does falls on all of them.
pub(crate) fn run(mut comparison: Comparison, rounds: usize, each: Duration) -> Result<Measured, Failure> {
    let mut samples: Vec<Vec<Sample>> = comparison.variants.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (variant, samples) in comparison.variants.iter_mut().zip(&mut samples) {
            let sample = (variant.run)(each)?;
            if sample.operations == 0 || sample.elapsed.is_zero() {
                return Err(format!("{}: {} did nothing", comparison.name, variant.name).into());
            }
            samples.push(sample);
        }
    }
    let named = comparison.variants.iter().zip(samples);
    let variants =
        named.map(|(variant, samples)| summarise(variant, samples)).collect::<Result<Vec<_>, Failure>>()?;
    let figures =
        comparison.figures.iter().map(|figure| work_out(figure, &variants)).collect::<Result<_, _>>()?;
    Ok(Measured { name: comparison.name, variants, figures })
}

fn summarise(variant: &Variant, mut samples: Vec<Sample>) -> Result<MeasuredVariant, Failure> {
    let rounds: Vec<f64> =
        samples.iter().map(|sample| sample.operations as f64 / sample.elapsed.as_secs_f64()).collect();
    let mut claims = |percent| {
        let values = samples.iter_mut().filter_map(|sample| percentile(&mut sample.claim_nanos, percent));
        Spread::of(values.map(|nanos| nanos as f64 / 1e3))
    };
    Ok(MeasuredVariant {
        name: variant.name.clone(),
        callers: variant.callers,
        claim_p50_micros: claims(50),
        claim_p99_micros: claims(99),
        operations_per_second: Spread::of(rounds.iter().copied()).ok_or("no round was run")?,
        rounds,
    })
}

fn work_out(figure: &Figure, variants: &[MeasuredVariant]) -> Result<MeasuredFigure, Failure> {
    let find = |name: &String| {
        let found = variants.iter().find(|variant| variant.name == *name);
        found.ok_or_else(|| Failure::from(format!("no variant is called {name}")))
    };
    let (name, value, goal) = match figure {
        Figure::Ratio { of, over, at_least } => (
            format!("{of} ÷ {over}"),
            Spread::of_ratios(&find(of)?.rounds, &find(over)?.rounds),
            at_least.map(Goal::AtLeast),
        ),
        Figure::MicrosPerOperation { of, at_most } => {
            let variant = find(of)?;
            let micros = variant.rounds.iter().map(|per_second| 1e6 * variant.callers as f64 / per_second);
            (format!("{of}, µs per operation"), Spread::of(micros), at_most.map(Goal::AtMost))
        }
        Figure::ClaimP99Micros { of, at_most } => {
            (format!("{of}, claim p99 in µs"), find(of)?.claim_p99_micros, at_most.map(Goal::AtMost))
        }
    };
    let value = value.ok_or_else(|| format!("nothing was measured for {name}"))?;
    let reached = goal.map(|goal| match goal {
        Goal::AtLeast(least) => value.median >= least,
        Goal::AtMost(most) => value.median <= most,
    });
    Ok(MeasuredFigure { name, value, goal, reached })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::{Comparison, Figure, Goal, Sample, Variant, run};
    use crate::statistics::Spread;

    /// A variant that does a set number of operations in each round, a second long, and writes down that it ran.
    fn scripted(
        name: &'static str,
        callers: usize,
        rounds: Vec<u64>,
        log: &Arc<Mutex<Vec<&'static str>>>,
    ) -> Variant {
        let mut rounds = rounds.into_iter();
        let log = Arc::clone(log);
        Variant::new(name, callers, move |_| {
            log.lock().expect("no test panics while it holds this").push(name);
            let operations = rounds.next().ok_or("ran too often")?;
            let claim_nanos = (1..=100).map(|n| n * operations * 1_000).collect();
            Ok(Sample { operations, elapsed: Duration::from_secs(1), claim_nanos })
        })
    }

    #[test]
    fn variants_take_turns() {
        let log = Arc::default();
        let variants = vec![scripted("a", 1, vec![1, 2, 3], &log), scripted("b", 1, vec![1, 2, 3], &log)];
        let comparison = Comparison { name: "turns".into(), variants, figures: Vec::new() };
        run(comparison, 3, Duration::ZERO).expect("three rounds were scripted");
        assert_eq!(*log.lock().expect("nobody else holds it"), ["a", "b", "a", "b", "a", "b"]);
    }

    #[test]
    fn figures_are_made_of_what_each_round_measured() {
        let log = Arc::default();
        let variants =
            vec![scripted("a", 4, vec![10, 40, 20], &log), scripted("b", 1, vec![10, 10, 10], &log)];
        let figures = vec![
            Figure::Ratio { of: "a".into(), over: "b".into(), at_least: Some(2.5) },
            Figure::MicrosPerOperation { of: "a".into(), at_most: Some(200_000.0) },
            Figure::ClaimP99Micros { of: "b".into(), at_most: None },
        ];
        let comparison = Comparison { name: "figures".into(), variants, figures };
        let measured = run(comparison, 3, Duration::ZERO).expect("three rounds were scripted");

        let [ratio, micros, p99] = measured.figures.try_into().expect("three figures were asked for");
        assert_eq!(ratio.value, Spread { median: 2.0, min: 1.0, max: 4.0 });
        assert_eq!((ratio.goal, ratio.reached), (Some(Goal::AtLeast(2.5)), Some(false)));
        assert_eq!(micros.value, Spread { median: 200_000.0, min: 100_000.0, max: 400_000.0 });
        assert_eq!(micros.reached, Some(true));
        assert_eq!(p99.value.median, 990.0);
        assert_eq!(p99.reached, None);
        assert_eq!(measured.variants[0].operations_per_second, Spread { median: 20.0, min: 10.0, max: 40.0 });
    }

    #[test]
    fn a_variant_that_did_nothing_stops_the_run() {
        let log = Arc::default();
        let variants = vec![scripted("idle", 1, vec![0], &log)];
        let comparison = Comparison { name: "nothing".into(), variants, figures: Vec::new() };
        let error = run(comparison, 1, Duration::ZERO).expect_err("nothing was done");
        assert_eq!(error.to_string(), "nothing: idle did nothing");
    }

    #[test]
    fn a_figure_of_an_unknown_variant_stops_the_run() {
        let log = Arc::default();
        let variants = vec![scripted("a", 1, vec![1], &log)];
        let figures = vec![Figure::Ratio { of: "a".into(), over: "c".into(), at_least: None }];
        let comparison = Comparison { name: "unknown".into(), variants, figures };
        let error = run(comparison, 1, Duration::ZERO).expect_err("there is no c");
        assert_eq!(error.to_string(), "no variant is called c");
    }
}
