//! A record as the columns of a row.

use bytes::Bytes;
use onceonly::{
    Fingerprint, Record, RecordKey, Revision, Snapshot, Status, StoredResult, Timestamp, Token, Version,
    decode_headers,
};
use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row, Type};

use crate::error::Error;
use crate::types::{Instant, Sixteen};

/// The key's digest as the table has it: enough of it that two keys do not meet by chance.
pub(crate) fn key_digest(key: &RecordKey) -> Sixteen {
    let mut half = [0; 16];
    half.copy_from_slice(&key.digest()[..16]);
    Sixteen(half)
}

/// Which key a row is about.
pub(crate) fn digest_of(row: &PgRow) -> Result<Sixteen, Error> {
    Ok(row.try_get(0)?)
}

/// Reads a row that was found under the digest of `key`.
///
/// Everything is looked at, also what a caller may not need: a row that is wrong anywhere is reported, never run and
/// never overwritten. So is a row of another key with the same digest.
pub(crate) fn snapshot(row: &PgRow, key: &RecordKey) -> Result<Snapshot, Error> {
    let columns = Columns { row, key };
    if columns.bytes(1)? != key.scope().name().map(str::as_bytes)
        || columns.bytes(2)? != Some(key.key().as_str().as_bytes())
    {
        return Err(columns.corrupt("another key has the same digest"));
    }
    let record = Record {
        version: Version {
            token: Token::from_bytes(columns.get::<Sixteen>(4)?.0),
            revision: Revision::from_number(columns.number(5)?),
        },
        fingerprint: Fingerprint::from_bytes(columns.bytes(6)?.unwrap_or_default())
            .ok_or_else(|| columns.corrupt("the fingerprint is no fingerprint"))?,
        attempt: columns.number(7)?,
        created_at: columns.time(8)?,
        lease_until: columns.time(9)?,
        expires_at: columns.time(10)?,
        unresolved_until: columns.time(11)?,
        status: columns.status()?,
    };
    Ok(Snapshot { record, now: columns.time(16)? })
}

struct Columns<'a> {
    row: &'a PgRow,
    key: &'a RecordKey,
}

impl<'a> Columns<'a> {
    fn corrupt(&self, what: &'static str) -> Error {
        Error::CorruptRecord { key: self.key.clone(), what }
    }

    /// A column that is of another type, or null where it must not be, is corrupt.
    fn get<T: Decode<'a, Postgres> + Type<Postgres>>(&self, index: usize) -> Result<T, Error> {
        self.row.try_get(index).map_err(|_| self.corrupt("a column is null or of another type"))
    }

    fn bytes(&self, index: usize) -> Result<Option<&'a [u8]>, Error> {
        self.get(index)
    }

    fn owned(&self, index: usize) -> Result<Option<Bytes>, Error> {
        Ok(self.bytes(index)?.map(Bytes::copy_from_slice))
    }

    fn number(&self, index: usize) -> Result<u32, Error> {
        self.get::<i64>(index)?.try_into().map_err(|_| self.corrupt("a number is out of range"))
    }

    fn time(&self, index: usize) -> Result<Timestamp, Error> {
        Ok(self.get::<Instant>(index)?.0)
    }

    fn status(&self) -> Result<Status, Error> {
        let result = self.result()?;
        let checkpoint = self.owned(15)?;
        match (self.get::<i16>(3)?, result, checkpoint) {
            (0, None, checkpoint) => Ok(Status::InProgress { checkpoint }),
            (1, Some(result), None) => Ok(Status::Completed(result)),
            (2, None, None) => Ok(Status::Released),
            _ => Err(self.corrupt("the status is unknown, or does not go with the rest")),
        }
    }

    fn result(&self) -> Result<Option<StoredResult>, Error> {
        let (code, headers, body) = (self.get::<Option<i32>>(12)?, self.owned(13)?, self.owned(14)?);
        match (code, headers, body) {
            (None, None, None) => Ok(None),
            (Some(code), Some(headers), body) => {
                let code = code.try_into().map_err(|_| self.corrupt("the code is out of range"))?;
                let headers = decode_headers(&headers)
                    .map_err(|_| self.corrupt("the headers are corrupt or of a newer format"))?;
                Ok(Some(StoredResult::from_parts(code, headers, body)))
            }
            _ => Err(self.corrupt("the result is not whole")),
        }
    }
}
