//! What a store and the model were told one after the other, and where they parted, as a reader sees it.

mod answers;
mod wording;

use onceonly::{RecordKey, Timestamp};

use self::wording::Words;
use crate::call::{Answer, Request};
use crate::compare::Wording;

/// The calls so far, with the model's answers.
pub(crate) struct Account {
    start: Timestamp,
    lines: Vec<Line>,
}

enum Line {
    Clock { to: Timestamp, jump: Jump },
    Call(Box<Call>),
}

struct Call {
    at: Timestamp,
    request: Request,
    /// The place of the line of which this one is a late copy.
    copy_of: Option<usize>,
    answer: Answer,
}

/// Where a clock was set to.
pub(crate) enum Jump {
    /// To so many microseconds behind a deadline of a record.
    ToDeadline { key: RecordKey, deadline: &'static str, behind: i64 },
    /// A little ahead.
    Ahead,
    /// To where every record is past its time.
    PastAll,
}

impl Account {
    /// An empty account, in which times count from `start`.
    pub(crate) const fn from(start: Timestamp) -> Self {
        Self { start, lines: Vec::new() }
    }

    pub(crate) fn clock_was_set(&mut self, to: Timestamp, jump: Jump) {
        self.lines.push(Line::Clock { to, jump });
    }

    pub(crate) fn call_was_made(
        &mut self,
        at: Timestamp,
        request: Request,
        copy_of: Option<usize>,
        answer: Answer,
    ) {
        self.lines.push(Line::Call(Box::new(Call { at, request, copy_of, answer })));
    }

    /// The calls so far, each with the place of its line.
    pub(crate) fn calls(&self) -> impl DoubleEndedIterator<Item = (usize, &Request)> {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(place, line)| Some((place, line.request()?)))
    }

    /// The whole account, if the last call was answered with `store` by the store: every line with its number and its
    /// time, keys and tokens as letters, times in milliseconds from the start, and what differs.
    pub(crate) fn of_parting(&self, store: &Answer) -> String {
        let Some(Line::Call(last)) = self.lines.last() else {
            unreachable!("a store and the model part over a call");
        };
        let words = Words::of(self.start, self.calls().map(|(_, request)| request));
        let parting = words.parting(last.request.verb(), store, &last.answer);

        let mut text = vec![format!("step {}: {parting}", self.lines.len())];
        let times: Vec<String> = self.lines.iter().map(|line| words.time(line.at())).collect();
        let width = times.iter().map(String::len).max().unwrap_or(0).max(2);
        text.push(format!("    {:>width$}", "ms"));
        let numbered = self.lines.iter().zip(times).enumerate();
        text.extend(numbered.map(|(place, (line, time))| {
            let ended = if place + 1 < self.lines.len() { line.answer(&words) } else { String::new() };
            format!("{:>3} {time:>width$}  {}{ended}", place + 1, line.shown(&words))
        }));
        let indent = " ".repeat(width + 6);
        text.push(format!("{indent}the store  {}", words.whole_answer(store)));
        text.push(format!("{indent}the model  {}", words.whole_answer(&last.answer)));
        let differences = words.differences(store, &last.answer);
        text.extend(differences.iter().map(|difference| format!("{indent}{difference}")));
        text.extend(words.legend());
        text.join("\n")
    }
}

impl Line {
    const fn at(&self) -> Timestamp {
        match self {
            Self::Clock { to, .. } => *to,
            Self::Call(call) => call.at,
        }
    }

    const fn request(&self) -> Option<&Request> {
        match self {
            Self::Clock { .. } => None,
            Self::Call(call) => Some(&call.request),
        }
    }

    fn shown(&self, words: &Words<'_>) -> String {
        match self {
            Self::Clock { jump, .. } => format!("the clock is set to {}", words.jump(jump)),
            Self::Call(call) => match call.copy_of {
                None => words.request(&call.request),
                Some(place) => format!("a late copy of {}: {}", place + 1, words.request(&call.request)),
            },
        }
    }

    fn answer(&self, words: &Words<'_>) -> String {
        match self {
            Self::Clock { .. } => String::new(),
            Self::Call(call) => format!(" -> {}", words.answer(&call.answer)),
        }
    }
}
