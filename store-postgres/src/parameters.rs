//! The values of a statement, for one item or for several.

use sqlx::postgres::{PgArguments, PgHasArrayType};
use sqlx::{Arguments, Encode, Postgres, Type};

use crate::error::Error;

/// What is bound to a statement: for one item plain values, for several an array for each column.
#[derive(Default)]
pub(crate) struct Parameters {
    arguments: PgArguments,
}

impl Parameters {
    /// Binds the next column.
    pub(crate) fn column<'a, I, T>(
        &mut self,
        items: &[&'a I],
        value: impl Fn(&'a I) -> T,
    ) -> Result<(), Error>
    where
        T: Encode<'a, Postgres> + Type<Postgres> + PgHasArrayType,
    {
        let bound = match items {
            [one] => self.arguments.add(value(one)),
            many => self.arguments.add(many.iter().map(|item| value(item)).collect::<Vec<T>>()),
        };
        bound.map_err(|error| Error::Sqlx(sqlx::Error::Encode(error)))
    }

    pub(crate) fn into_arguments(self) -> PgArguments {
        self.arguments
    }
}
