//! Values as PostgreSQL has them, for which sqlx would bring other crates.

use onceonly::{Span, Timestamp};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::{Oid, PgInterval};
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

/// Sixteen bytes: a `uuid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sixteen(pub(crate) [u8; 16]);

/// An instant: a `timestamptz`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant(pub(crate) Timestamp);

/// An `interval` of so many microseconds. Without days and months, which would be as long as the calendar says.
pub(crate) const fn interval(span: Span) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: span.as_micros() }
}

impl Type<Postgres> for Sixteen {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(2950))
    }
}

impl PgHasArrayType for Sixteen {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(2951))
    }
}

impl Encode<'_, Postgres> for Sixteen {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }
}

impl<'r> Decode<'r, Postgres> for Sixteen {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Self(binary(&value)?.try_into()?))
    }
}

impl Type<Postgres> for Instant {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(1184))
    }
}

impl<'r> Decode<'r, Postgres> for Instant {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let since_2000 = i64::from_be_bytes(binary(&value)?.try_into()?);
        // `infinity` and `-infinity` are the outermost numbers. Nothing here writes them.
        if since_2000 == i64::MAX || since_2000 == i64::MIN {
            return Err("an instant is infinite".into());
        }
        let micros = since_2000.checked_add(MICROS_TO_2000).ok_or("an instant is out of range")?;
        Ok(Self(Timestamp::from_micros(micros)))
    }
}

fn binary<'r>(value: &PgValueRef<'r>) -> Result<&'r [u8], BoxDynError> {
    match value.format() {
        PgValueFormat::Binary => value.as_bytes(),
        PgValueFormat::Text => Err("the statement was not prepared".into()),
    }
}

/// PostgreSQL counts from the beginning of 2000.
const MICROS_TO_2000: i64 = 946_684_800 * 1_000_000;
