//! What was measured, as Markdown and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use crate::machine::Machine;
use crate::runner::{Goal, Measured, MeasuredFigure, MeasuredVariant};
use crate::statistics::Spread;

/// A whole run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Where and with what it was measured.
    pub machine: Machine,
    /// How often each variant ran.
    pub rounds: usize,
    /// For how long each time.
    pub seconds: f64,
    /// The measurements.
    pub comparisons: Vec<Measured>,
}

impl Report {
    /// A heading, and a table of where it was measured.
    pub(crate) fn markdown_head(&self) -> String {
        let mut text = String::from("# Benchmarks\n\n");
        for (name, value) in self.machine.rows() {
            line(&mut text, format_args!("* {name}: {value}"));
        }
        line(&mut text, format_args!("* {} rounds of {} s, variants in turn", self.rounds, self.seconds));
        text
    }

    /// All of it.
    pub(crate) fn markdown(&self) -> String {
        self.comparisons.iter().fold(self.markdown_head(), |text, measured| text + &section(measured))
    }
}

/// One comparison: a table of its variants and one of its figures.
pub(crate) fn section(measured: &Measured) -> String {
    let mut text = format!("\n## {}\n\n", measured.name);
    text.push_str(
        "| variant | callers | op/s | min–max | claim p50 | claim p99 |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for variant in &measured.variants {
        line(&mut text, format_args!("{}", variant_row(variant)));
    }
    if !measured.figures.is_empty() {
        text.push_str("\n| figure | median | min–max | goal | |\n|---|--:|--:|--:|---|\n");
        for figure in &measured.figures {
            line(&mut text, format_args!("{}", figure_row(figure)));
        }
    }
    text
}

fn variant_row(variant: &MeasuredVariant) -> String {
    let MeasuredVariant { name, callers, operations_per_second: Spread { median, min, max }, .. } = variant;
    let time = |spread: Option<Spread>| spread.map_or_else(|| "–".into(), |spread| micros(spread.median));
    let (p50, p99) = (time(variant.claim_p50_micros), time(variant.claim_p99_micros));
    format!("| {name} | {callers} | {} | {}–{} | {p50} | {p99} |", rate(*median), rate(*min), rate(*max))
}

fn figure_row(figure: &MeasuredFigure) -> String {
    let MeasuredFigure { name, value: Spread { median, min, max }, goal, reached } = figure;
    let goal = match goal {
        Some(Goal::AtLeast(least)) => format!("≥ {least}"),
        Some(Goal::AtMost(most)) => format!("≤ {most}"),
        None => "–".into(),
    };
    let verdict = match reached {
        Some(true) => "reached",
        Some(false) => "missed",
        None => "",
    };
    format!("| {name} | {median:.2} | {min:.2}–{max:.2} | {goal} | {verdict} |")
}

/// Operations per second, in three digits.
fn rate(per_second: f64) -> String {
    match per_second {
        millions if millions >= 1e6 => format!("{:.2} M", millions / 1e6),
        thousands if thousands >= 1e3 => format!("{:.1} k", thousands / 1e3),
        few => format!("{few:.0}"),
    }
}

fn micros(micros: f64) -> String {
    match micros {
        long if long >= 1e3 => format!("{:.2} ms", long / 1e3),
        short => format!("{short:.2} µs"),
    }
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    writeln!(text, "{arguments}").expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use super::section;
    use crate::runner::{Goal, Measured, MeasuredFigure, MeasuredVariant};
    use crate::statistics::Spread;

    #[test]
    fn a_comparison_becomes_two_tables() {
        let spread = |median| Spread { median, min: median / 2.0, max: median * 2.0 };
        let measured = Measured {
            name: "memory fresh".into(),
            variants: vec![MeasuredVariant {
                name: "store".into(),
                callers: 2,
                operations_per_second: spread(1_500_000.0),
                claim_p50_micros: Some(spread(0.5)),
                claim_p99_micros: None,
                rounds: vec![1_500_000.0],
            }],
            figures: vec![MeasuredFigure {
                name: "store ÷ map".into(),
                value: spread(0.8),
                goal: Some(Goal::AtLeast(0.7)),
                reached: Some(true),
            }],
        };
        let expected = "\n## memory fresh\n
| variant | callers | op/s | min–max | claim p50 | claim p99 |
|---|--:|--:|--:|--:|--:|
| store | 2 | 1.50 M | 750.0 k–3.00 M | 0.50 µs | – |

| figure | median | min–max | goal | |
|---|--:|--:|--:|---|
| store ÷ map | 0.80 | 0.40–1.60 | ≥ 0.7 | reached |
";
        assert_eq!(section(&measured), expected);
    }
}
