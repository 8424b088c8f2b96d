//! Rows of values that shrink to the few that matter.

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// As many values of `element` as `length` says, of which any part is as good an input.
///
/// proptest's own vectors keep their least length and spare their elements one by one, once each. These drop halves,
/// then quarters, and so on down to single elements, from the back, since what stands behind a fault never matters;
/// then they simplify what is left, and begin again as long as that helps.
#[derive(Clone, Debug)]
pub(crate) struct Row<S, L> {
    element: S,
    length: L,
}

/// A [`Row`].
pub(crate) const fn row<S, L>(element: S, length: L) -> Row<S, L> {
    Row { element, length }
}

impl<S: Strategy, L: Strategy<Value = usize>> Strategy for Row<S, L> {
    type Tree = RowTree<S::Tree>;
    type Value = Vec<S::Value>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let length = self.length.new_tree(runner)?.current();
        let elements: Result<Vec<_>, _> = (0..length).map(|_| self.element.new_tree(runner)).collect();
        Ok(RowTree::of(elements?))
    }
}

/// The elements that are left of a row, and what is tried next.
#[derive(Clone, Debug)]
pub(crate) struct RowTree<T> {
    elements: Vec<T>,
    next: Attempt,
    /// What was tried last, unless it was undone.
    last: Option<Change<T>>,
    /// Whether anything was gained since elements were last dropped from the beginning.
    gained: bool,
}

#[derive(Clone, Copy, Debug)]
enum Attempt {
    /// To drop so many elements, of which the last one stands before `end`.
    Drop { size: usize, end: usize },
    /// To simplify the element at `place`.
    Simplify { place: usize },
}

#[derive(Clone, Debug)]
enum Change<T> {
    /// These elements were dropped, of which the first one stood at `begin`.
    Dropped { begin: usize, elements: Vec<T> },
    /// The element that is tried next as well was simplified.
    Simplified,
}

impl<T> RowTree<T> {
    pub(crate) fn of(elements: Vec<T>) -> Self {
        let next = Attempt::Drop { size: elements.len().div_ceil(2), end: elements.len() };
        Self { elements, next, last: None, gained: false }
    }

    /// Drops the elements before `end`, and looks at those ahead of them next.
    fn drop_elements(&mut self, size: usize, end: usize) {
        let begin = end.saturating_sub(size);
        let elements = self.elements.drain(begin..end).collect();
        self.last = Some(Change::Dropped { begin, elements });
        self.next = Attempt::Drop { size, end: begin };
    }

    /// What comes once drops of `size` have been tried everywhere.
    fn after_drops(&mut self, size: usize) -> Attempt {
        let end = self.elements.len();
        if size > 1 {
            return Attempt::Drop { size: size / 2, end };
        }
        if std::mem::take(&mut self.gained) {
            return Attempt::Drop { size: 1, end };
        }
        Attempt::Simplify { place: 0 }
    }
}

impl<T: ValueTree> ValueTree for RowTree<T> {
    type Value = Vec<T::Value>;

    fn current(&self) -> Self::Value {
        self.elements.iter().map(T::current).collect()
    }

    fn simplify(&mut self) -> bool {
        self.gained |= self.last.take().is_some();
        loop {
            match self.next {
                Attempt::Drop { size, end: 0 } => self.next = self.after_drops(size),
                Attempt::Drop { size, end } => {
                    self.drop_elements(size, end);
                    return true;
                }
                Attempt::Simplify { place } if place < self.elements.len() => {
                    if self.elements[place].simplify() {
                        self.last = Some(Change::Simplified);
                        return true;
                    }
                    self.next = Attempt::Simplify { place: place + 1 };
                }
                Attempt::Simplify { .. } => {
                    self.next = Attempt::Drop { size: 1, end: self.elements.len() };
                    if !std::mem::take(&mut self.gained) {
                        // Whoever asks once more, since something else has become simpler, has it all tried again.
                        return false;
                    }
                }
            }
        }
    }

    fn complicate(&mut self) -> bool {
        match (self.last.take(), self.next) {
            (Some(Change::Dropped { begin, elements }), _) => {
                self.elements.splice(begin..begin, elements);
                true
            }
            (_, Attempt::Simplify { place }) if place < self.elements.len() => {
                self.elements[place].complicate()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Just;

    use super::*;

    #[test]
    fn a_row_shrinks_to_the_elements_that_matter_each_as_small_as_it_can_be() {
        let shows = |numbers: &Vec<u32>| {
            let large = numbers.iter().position(|number| *number >= 700);
            large.is_some_and(|large| numbers[large..].iter().any(|number| (300..600).contains(number)))
        };
        let mut runner = TestRunner::deterministic();
        for _ in 0..50 {
            let mut numbers = row(0..1_000_u32, Just(60)).new_tree(&mut runner).unwrap();
            assert!(
                shows(&numbers.current()),
                "sixty numbers without a large one and a middling one behind it"
            );

            assert_eq!(smallest(&mut numbers, shows), [700, 300]);
        }
    }

    #[test]
    fn what_is_needed_only_while_something_behind_it_is_large_is_spared_in_the_end() {
        let shows = |rows: &Vec<Vec<u32>>| {
            let [first, second] = &rows[..] else { return false };
            second.first().is_some_and(|number| !first.is_empty() || *number < 10)
        };
        let rows = row(row(0..1_000_u32, Just(3)), Just(2));
        let mut rows = rows.new_tree(&mut TestRunner::deterministic()).unwrap();

        assert_eq!(smallest(&mut rows, shows), [vec![], vec![0]]);
    }

    /// The smallest value that shows what `tree` shows at first.
    fn smallest<T: ValueTree>(tree: &mut T, shows: impl Fn(&T::Value) -> bool) -> T::Value {
        let mut smallest = tree.current();
        let mut is_other = tree.simplify();
        while is_other {
            let value = tree.current();
            is_other = if shows(&value) {
                smallest = value;
                tree.simplify()
            } else {
                tree.complicate()
            };
        }
        smallest
    }
}
