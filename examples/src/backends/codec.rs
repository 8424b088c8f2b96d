//! Records and record keys as bytes, for databases that keep bytes under bytes.
//!
//! Whoever copies this and changes the layout raises [`FORMAT`]: a release that meets a record of a format that it does
//! not know must report it, and never take it for something else or for nothing.

use bytes::Bytes;
use onceonly::{
    Fingerprint, Record, RecordKey, Revision, Status, StoreError, StoreErrorKind, StoredResult, Timestamp,
    Token, Version, decode_headers, encode_headers,
};

/// The bytes that a record is kept under: the length of the scope's name, the name, the key. The global scope has no
/// name, and no name is empty. The key takes the rest, so that no two record keys share their bytes.
///
/// The database compares them whole. A digest in their place would be shorter, and would have to be followed by a
/// comparison of scope and key on every hit.
pub(super) fn encode_key(key: &RecordKey) -> Vec<u8> {
    let scope = key.scope().name().unwrap_or_default().as_bytes();
    let scope_len = u8::try_from(scope.len()).expect("a scope's name has at most 255 bytes");
    [&[scope_len], scope, key.key().as_str().as_bytes()].concat()
}

/// The record as bytes: the fields of a fixed size, and behind them headers and the *tail*, which is the body or the
/// checkpoint. Numbers are big-endian.
///
/// # Errors
/// [`RecordTooLong`] if that were more than four GiB: a length that is cut would be a record that cannot be read.
pub(super) fn encode(record: &Record) -> Result<Vec<u8>, RecordTooLong> {
    let (kind, result, tail) = match &record.status {
        Status::InProgress { checkpoint: None } => (IN_PROGRESS, None, None),
        Status::InProgress { checkpoint } => (IN_PROGRESS_WITH_CHECKPOINT, None, checkpoint.as_ref()),
        Status::Completed(result @ StoredResult::Retained(_)) => (RETAINED, Some(result), result.body()),
        Status::Completed(result @ StoredResult::NotRetained(_)) => (NOT_RETAINED, Some(result), None),
        Status::Released => (RELEASED, None, None),
    };
    let code = result.map_or(0, StoredResult::code);
    let headers = result.map(|result| encode_headers(result.headers())).unwrap_or_default();
    let tail = tail.map_or(&[][..], |tail| tail);
    let len = FIXED_LEN + headers.len() + tail.len();
    if u32::try_from(len).is_err() {
        return Err(RecordTooLong);
    }

    let mut bytes = Vec::with_capacity(len);
    bytes.extend_from_slice(&[FORMAT, kind]);
    bytes.extend_from_slice(record.version.token.as_bytes());
    bytes.extend_from_slice(&record.version.revision.number().to_be_bytes());
    bytes.extend_from_slice(&record.fingerprint.to_bytes());
    bytes.extend_from_slice(&record.attempt.to_be_bytes());
    for time in [record.created_at, record.lease_until, record.expires_at, record.unresolved_until] {
        bytes.extend_from_slice(&time.as_micros().to_be_bytes());
    }
    bytes.extend_from_slice(&code.to_be_bytes());
    bytes.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&(tail.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&headers);
    bytes.extend_from_slice(tail);
    Ok(bytes)
}

/// The record that [`encode`] made these bytes of. What it holds shares their memory.
///
/// # Errors
/// [`CorruptRecord`] if they are anything else. Both lengths stand among the fields of a fixed size and must add up to
/// what is there, so that neither can be wrong alone.
pub(super) fn decode(bytes: &Bytes) -> Result<Record, CorruptRecord> {
    let mut fields = Fields(bytes);
    let [format, kind] = fields.next()?;
    if format != FORMAT {
        return Err(CorruptRecord("it is of another format"));
    }
    let token = Token::from_bytes(fields.next()?);
    let revision = Revision::from_number(fields.number()?);
    let fingerprint = Fingerprint::from_bytes(&fields.next::<{ Fingerprint::BYTES }>()?)
        .ok_or(CorruptRecord("the fingerprint is no fingerprint"))?;
    let attempt = fields.number()?;
    let [created_at, lease_until, expires_at, unresolved_until] =
        [fields.time()?, fields.time()?, fields.time()?, fields.time()?];
    let code = u16::from_be_bytes(fields.next()?);
    let (headers_len, tail_len) = (fields.number()?, fields.number()?);
    let Fields(rest) = fields;
    if rest.len() as u64 != u64::from(headers_len) + u64::from(tail_len) {
        return Err(CorruptRecord("its lengths do not add up"));
    }

    let mut headers = bytes.slice_ref(rest);
    let tail = headers.split_off(headers_len as usize);
    let status = match (kind, code, headers.is_empty(), tail.is_empty()) {
        (IN_PROGRESS, 0, true, true) => Status::InProgress { checkpoint: None },
        (IN_PROGRESS_WITH_CHECKPOINT, 0, true, _) => Status::InProgress { checkpoint: Some(tail) },
        (RETAINED, ..) => completed(code, &headers, Some(tail))?,
        (NOT_RETAINED, _, _, true) => completed(code, &headers, None)?,
        (RELEASED, 0, true, true) => Status::Released,
        _ => return Err(CorruptRecord("its status is unknown, or does not go with the rest")),
    };
    let version = Version { token, revision };
    Ok(Record {
        version,
        fingerprint,
        attempt,
        created_at,
        lease_until,
        expires_at,
        unresolved_until,
        status,
    })
}

fn completed(code: u16, headers: &Bytes, body: Option<Bytes>) -> Result<Status, CorruptRecord> {
    let headers = decode_headers(headers).map_err(|_| CorruptRecord("its headers are no headers"))?;
    Ok(Status::Completed(StoredResult::from_parts(code, headers, body)))
}

/// The fields of a fixed size that are still to be read, and what is behind them.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn next<const LEN: usize>(&mut self) -> Result<[u8; LEN], CorruptRecord> {
        let (field, rest) = self.0.split_first_chunk().ok_or(CorruptRecord("it is cut off"))?;
        self.0 = rest;
        Ok(*field)
    }

    fn number(&mut self) -> Result<u32, CorruptRecord> {
        self.next().map(u32::from_be_bytes)
    }

    fn time(&mut self) -> Result<Timestamp, CorruptRecord> {
        self.next().map(i64::from_be_bytes).map(Timestamp::from_micros)
    }
}

/// The stored bytes are no record of this format. Says what is wrong, and nothing of what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored record cannot be read: {0}")]
pub(super) struct CorruptRecord(&'static str);

impl CorruptRecord {
    /// The error of `store` that met it: somebody must look into it, and nobody may run or overwrite it.
    pub(super) fn in_store(self, store: &'static str) -> StoreError {
        StoreError::new(StoreErrorKind::Corrupt, store, "a stored record cannot be read").with_source(self)
    }
}

/// The record is longer than its format can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record is longer than four GiB")]
pub(super) struct RecordTooLong;

impl RecordTooLong {
    /// The error of `store` that was to keep it: nothing was written.
    pub(super) fn in_store(self, store: &'static str) -> StoreError {
        StoreError::new(StoreErrorKind::Rejected, store, "the record is too long").with_source(self)
    }
}

/// The first byte of every record.
const FORMAT: u8 = 1;

/// The second: status, and whether there is a checkpoint or a body. An empty one is one too.
const IN_PROGRESS: u8 = 0;
const IN_PROGRESS_WITH_CHECKPOINT: u8 = 1;
const RETAINED: u8 = 2;
const NOT_RETAINED: u8 = 3;
const RELEASED: u8 = 4;

/// Format and status, token, revision, fingerprint, attempt, four times, code, two lengths.
const FIXED_LEN: usize = 2 + 16 + 4 + Fingerprint::BYTES + 4 + 4 * 8 + 2 + 4 + 4;

#[cfg(test)]
mod tests;
