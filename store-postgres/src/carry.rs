//! Calls carried out on a connection.

use std::collections::HashMap;

use onceonly::ClaimOutcome;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Executor};

use crate::error::Error;
use crate::job::{Claim, Load, Takeover};
use crate::parameters::Parameters;
use crate::row;
use crate::statements::Statements;
use crate::types::Sixteen;
use crate::verb::{Claimed, Verb};

/// What became of each item, in order; or why none of them was carried out.
pub(crate) type Outcomes<T> = Result<Vec<Result<T, Error>>, Error>;

/// Carries out one verb for items whose keys are all different.
///
/// One statement, where every item gets a row. For the others one more tells what is there instead; if that contradicts
/// the first, because somebody else has written in between, it begins again for those.
pub(crate) async fn all<V: Verb>(
    connection: &mut PgConnection,
    statements: &Statements,
    items: &[&V],
) -> Outcomes<V::Outcome> {
    let mut outcomes: Vec<Option<Result<V::Outcome, Error>>> = items.iter().map(|_| None).collect();
    for _ in 0..ROUNDS {
        let open: Vec<usize> = (0..items.len()).filter(|place| outcomes[*place].is_none()).collect();
        if open.is_empty() {
            break;
        }
        let asked: Vec<&V> = open.iter().map(|place| items[*place]).collect();
        let rows = match rows_of(connection, statements, &asked).await {
            Err(error) if error.is_locked() && items.len() == 1 => {
                return V::when_locked().map(|outcome| vec![Ok(outcome)]).ok_or(error);
            }
            rows => rows?,
        };
        let mut missing = Vec::new();
        for place in open {
            match rows.get(&row::key_digest(items[place].key())) {
                Some(row) => outcomes[place] = Some(items[place].outcome(row)),
                None => missing.push(place),
            }
        }
        if missing.is_empty() {
            break;
        }
        let looks: Vec<Load> =
            missing.iter().map(|place| Load { key: items[*place].key().clone() }).collect();
        let found = rows_of(connection, statements, &looks.iter().collect::<Vec<_>>()).await?;
        for (place, look) in missing.into_iter().zip(&looks) {
            let found = match found.get(&row::key_digest(&look.key)) {
                Some(row) => row::snapshot(row, &look.key).map(Some),
                None => Ok(None),
            };
            outcomes[place] = found.map(|found| items[place].without_row(found)).transpose();
        }
    }
    let unsettled = || Err(Error::Unanswered("others write the record all the time"));
    Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(unsettled)).collect())
}

/// Carries out claims that expect absence.
pub(crate) async fn claims(
    connection: &mut PgConnection,
    statements: &Statements,
    items: &[&Claim],
) -> Outcomes<ClaimOutcome> {
    let mut outcomes = Vec::with_capacity(items.len());
    let mut late = Vec::new();
    for (item, claimed) in items.iter().zip(all(connection, statements, items).await?) {
        outcomes.push(match claimed {
            Ok(Claimed::Settled(outcome)) => Ok(outcome),
            Ok(Claimed::Late) => {
                late.push((outcomes.len(), item.again()));
                Ok(ClaimOutcome::Vacant)
            }
            Err(error) => Err(error),
        });
    }
    if !late.is_empty() {
        let again: Vec<&Takeover> = late.iter().map(|(_, takeover)| takeover).collect();
        let stamped = all(connection, statements, &again).await?;
        for ((place, _), outcome) in late.iter().zip(stamped) {
            outcomes[*place] = outcome;
        }
    }
    Ok(outcomes)
}

impl Claim {
    /// The same claim over itself, for deadlines that begin now.
    fn again(&self) -> Takeover {
        let expected = onceonly::Version { token: self.claim.token, revision: onceonly::Revision::FIRST };
        Takeover { key: self.key.clone(), claim: self.claim.clone(), expected }
    }
}

/// The rows of one statement, by the digest that stands first in each.
async fn rows_of<V: Verb>(
    connection: &mut PgConnection,
    statements: &Statements,
    items: &[&V],
) -> Result<HashMap<Sixteen, PgRow>, Error> {
    let mut parameters = Parameters::default();
    V::bind(items, &mut parameters)?;
    let text = V::statement(statements).of(items.len());
    let query = sqlx::query_with(AssertSqlSafe(text), parameters.into_arguments());
    let rows = connection.fetch_all(query).await?;
    rows.into_iter().map(|row| Ok((row::digest_of(&row)?, row))).collect()
}

/// Two looks contradict each other only if somebody writes in between; several times in a row, nobody gets anywhere.
const ROUNDS: usize = 4;
