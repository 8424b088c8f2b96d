//! A record as the columns of a row, and back.

use bytes::Bytes;
use onceonly::{
    Fingerprint, Record, RecordKey, Revision, Status, StoredResult, Timestamp, Token, Version,
    decode_headers, encode_headers,
};
use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::error::Error;

/// A row that was read and found to be in order.
pub(crate) struct StoredRow {
    pub(crate) rowid: i64,
    pub(crate) record: Record,
}

impl StoredRow {
    /// Reads a row of `select.sql` that was found under the digest of `key`.
    ///
    /// Everything is looked at, also what a caller may not need: a row that is wrong anywhere is reported, never run
    /// and never overwritten. So is a row of another key with the same digest.
    pub(crate) fn read(row: &Row<'_>, key: &RecordKey) -> Result<Self, Error> {
        let columns = ColumnReader { row, key };
        if columns.bytes(1)? != key.scope().name().map(str::as_bytes)
            || columns.bytes(2)? != Some(key.key().as_str().as_bytes())
        {
            return Err(columns.corrupt("another key has the same digest"));
        }
        let record = Record {
            version: Version {
                token: Token::from_bytes(columns.array(4, "the token is no token")?),
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
        Ok(Self { rowid: columns.integer(0)?, record })
    }
}

/// The columns of a record that are not plain fields of it.
pub(crate) struct Columns<'record> {
    pub(crate) status: i64,
    pub(crate) sweep_at: i64,
    pub(crate) result: ResultColumns<'record>,
    pub(crate) checkpoint: Option<&'record [u8]>,
}

impl<'record> Columns<'record> {
    pub(crate) fn of(record: &'record Record) -> Self {
        let (status, result, checkpoint) = match &record.status {
            Status::InProgress { checkpoint } => {
                (IN_PROGRESS, ResultColumns::default(), checkpoint.as_deref())
            }
            Status::Completed(result) => (COMPLETED, ResultColumns::of(result), None),
            Status::Released => (RELEASED, ResultColumns::default(), None),
        };
        // Once it is completed in time, a claim is past its time from `expires_at` on. Were this later, completing would
        // have to move it.
        let sweep_at = record.past_from().min(record.expires_at).as_micros();
        Self { status, sweep_at, result, checkpoint }
    }
}

/// The columns of a result; all null where there is none.
#[derive(Default)]
pub(crate) struct ResultColumns<'record> {
    pub(crate) code: Option<u16>,
    pub(crate) headers: Option<Vec<u8>>,
    pub(crate) body: Option<&'record [u8]>,
}

impl<'record> ResultColumns<'record> {
    pub(crate) fn of(result: &'record StoredResult) -> Self {
        Self {
            code: Some(result.code()),
            headers: Some(encode_headers(result.headers())),
            body: result.body().map(|body| &body[..]),
        }
    }
}

/// When a record with these columns is past its time; `None` if it has a status that this release does not know.
pub(crate) fn past_from(status: i64, expires_at: i64, unresolved_until: i64) -> Option<Timestamp> {
    match status {
        IN_PROGRESS => Some(Timestamp::from_micros(unresolved_until)),
        COMPLETED | RELEASED => Some(Timestamp::from_micros(expires_at)),
        _ => None,
    }
}

struct ColumnReader<'a> {
    row: &'a Row<'a>,
    key: &'a RecordKey,
}

impl ColumnReader<'_> {
    fn corrupt(&self, what: &'static str) -> Error {
        Error::CorruptRecord { key: self.key.clone(), what }
    }

    fn integer(&self, index: usize) -> Result<i64, Error> {
        match self.row.get_ref(index)? {
            ValueRef::Integer(integer) => Ok(integer),
            _ => Err(self.corrupt("a number is no number")),
        }
    }

    fn number(&self, index: usize) -> Result<u32, Error> {
        self.integer(index)?.try_into().map_err(|_| self.corrupt("a number is out of range"))
    }

    fn time(&self, index: usize) -> Result<Timestamp, Error> {
        self.integer(index).map(Timestamp::from_micros)
    }

    fn bytes(&self, index: usize) -> Result<Option<&[u8]>, Error> {
        match self.row.get_ref(index)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => Ok(Some(bytes)),
            _ => Err(self.corrupt("bytes are no bytes")),
        }
    }

    fn owned(&self, index: usize) -> Result<Option<Bytes>, Error> {
        Ok(self.bytes(index)?.map(Bytes::copy_from_slice))
    }

    fn array<const LENGTH: usize>(&self, index: usize, what: &'static str) -> Result<[u8; LENGTH], Error> {
        self.bytes(index)?.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| self.corrupt(what))
    }

    fn status(&self) -> Result<Status, Error> {
        let result = self.result()?;
        let checkpoint = self.owned(15)?;
        match (self.integer(3)?, result, checkpoint) {
            (IN_PROGRESS, None, checkpoint) => Ok(Status::InProgress { checkpoint }),
            (COMPLETED, Some(result), None) => Ok(Status::Completed(result)),
            (RELEASED, None, None) => Ok(Status::Released),
            _ => Err(self.corrupt("the status is unknown, or does not go with the rest")),
        }
    }

    fn result(&self) -> Result<Option<StoredResult>, Error> {
        let (headers, body) = (self.owned(13)?, self.owned(14)?);
        let code = match self.row.get_ref(12)? {
            ValueRef::Null => None,
            _ => Some(self.integer(12)?.try_into().map_err(|_| self.corrupt("the code is out of range"))?),
        };
        match (code, headers, body) {
            (None, None, None) => Ok(None),
            (Some(code), Some(headers), body) => {
                let headers = decode_headers(&headers)
                    .map_err(|_| self.corrupt("the headers are corrupt or of a newer format"))?;
                Ok(Some(StoredResult::from_parts(code, headers, body)))
            }
            _ => Err(self.corrupt("the result is not whole")),
        }
    }
}

const IN_PROGRESS: i64 = 0;
const COMPLETED: i64 = 1;
const RELEASED: i64 = 2;
