//! What usually breaks a case, for whoever reads that it is broken.

mod cases;

use self::cases::CASES;
use crate::clause::Clause;
use crate::failure::Symptom;
use crate::suite::CaseInfo;

/// What stores had usually done that broke this case: for some cases what is particular to them, otherwise what breaks
/// the clause. Of a call that failed the clause's causes say nothing.
pub(crate) fn usual_causes(case: &CaseInfo, broken: Clause, symptom: Symptom) -> &'static [&'static str] {
    if broken != case.clause {
        // Such as *bounded*, if the case did not come to its end.
        return of_clause(broken);
    }
    match (of_case(case.name), symptom) {
        (Some(causes), _) => causes,
        (None, Symptom::Behaviour) => of_clause(broken),
        (None, Symptom::Error) => &[],
    }
}

fn of_case(case: &str) -> Option<&'static [&'static str]> {
    CASES.iter().find(|(names, _)| names.contains(&case)).map(|(_, causes)| *causes)
}

const fn of_clause(clause: Clause) -> &'static [&'static str] {
    match clause {
        Clause::Exclusive => &[
            "the record is looked at in one statement and written in another, without a lock over both",
            "an upsert (ON CONFLICT DO UPDATE, SET without NX) where only an insert may win",
        ],
        Clause::Held => &[
            "the token is compared in one statement and the record written in another",
            "UPDATE … WHERE key = ? without AND token = ?",
        ],
        Clause::Durable => &[
            "the call is answered before its transaction is committed",
            "handles keep what they have read, or each has a map of its own",
        ],
        Clause::Whole => &[
            "a call makes two writes outside of one transaction",
            "a future that is dropped leaves its transaction open, or the connection in the middle of an answer",
        ],
        Clause::Verbatim => &[
            "a column, type or encoding that does not hold every value: text for bytes, 32 bits for 64",
            "a driver or serialiser that normalises, sorts or cuts what it is given",
        ],
        Clause::OneClock => &[
            "the application's clock takes part: deadlines are computed or compared outside of the store",
            "time is read before the wait for a lock, such as by now() at the start of a transaction",
        ],
        Clause::Isolated => &[
            "a collation, a trimmed or cut column, or a hash that is not compared in full, joins two keys",
            "scope and key are put together with a separator that both may contain",
        ],
        Clause::Primary => &[
            "load is sent to a replica, or answered from a cache",
            "a snapshot that was taken before the other call's commit: a transaction that stays open between calls",
        ],
        Clause::Bounded => &[
            "a dropped call keeps a lock, a connection of the pool or a permit",
            "no limit on the wait: no lock or statement timeout, no timeout for a connection of the pool",
            "a call blocks its thread, so that nothing else runs on it",
        ],
        Clause::Repeating => &[
            "a repeated call is told from the first by its time or its place, not by token and revision",
            "the driver repeats calls by itself, under the hood",
        ],
        Clause::PastItsTime => &[
            "a comparison that is off by one: past is now >= deadline",
            "the deadline of another status: in progress it is unresolved_until, completed and released expires_at",
        ],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::suite::Suite;

    #[test]
    fn causes_are_told_of_cases_that_exist_and_of_each_once() {
        let existing: BTreeSet<&str> = Suite::cases().map(|case| case.name).collect();
        let mut told = BTreeSet::new();
        for name in CASES.iter().flat_map(|(names, _)| *names) {
            assert!(existing.contains(name), "there is no case {name}");
            assert!(told.insert(name), "{name} stands here twice");
        }
    }

    #[test]
    fn causes_are_those_of_the_case_or_else_of_the_clause_that_is_broken() {
        let case = |name| Suite::cases().find(|case| case.name == name).unwrap();
        let particular = case("claim::exclusive_across_handles");
        let plain = case("claim::a_fresh_key_is_granted");
        let (exclusive, bounded) = (of_clause(Clause::Exclusive), of_clause(Clause::Bounded));

        assert_ne!(usual_causes(&particular, Clause::Exclusive, Symptom::Behaviour), exclusive);
        assert_eq!(usual_causes(&particular, Clause::Bounded, Symptom::Behaviour), bounded);
        assert_eq!(usual_causes(&plain, Clause::Exclusive, Symptom::Behaviour), exclusive);
        assert!(usual_causes(&plain, Clause::Exclusive, Symptom::Error).is_empty());
    }
}
