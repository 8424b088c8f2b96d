//! What a handler answered, as it is stored and replayed.

use std::fmt;

use bytes::Bytes;

use crate::digest::Redacted;

/// A response as the handler gave it: a code, ordered headers, a body. Everything comes back byte for byte.
///
/// The code is the protocol's: an HTTP status, a gRPC code, or zero where there is none.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct StoredResponse {
    /// The protocol's code.
    pub code: u16,
    /// Headers in order, duplicates and letter case kept.
    pub headers: Vec<Header>,
    /// The body; empty is a body too.
    pub body: Bytes,
}

impl StoredResponse {
    /// A response without headers.
    pub fn new(code: u16, body: impl Into<Bytes>) -> Self {
        Self { code, headers: Vec::new(), body: body.into() }
    }

    /// Adds a header behind those that are there.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        self.headers.push(Header { name: name.into(), value: value.into() });
        self
    }

    /// The bytes of body and headers together, eight more for each header as it is stored: what the cap on responses
    /// counts.
    pub fn len_bytes(&self) -> usize {
        self.headers
            .iter()
            .fold(self.body.len(), |sum, header| sum + 8 + header.name.len() + header.value.len())
    }

    /// Code and headers alone.
    pub fn into_head(self) -> ResponseHead {
        ResponseHead { code: self.code, headers: self.headers }
    }
}

impl fmt::Debug for StoredResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredResponse")
            .field("code", &self.code)
            .field("headers", &self.headers.len())
            .field("body", &Redacted(&self.body))
            .finish()
    }
}

/// The part of a response that is kept when its body is not.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ResponseHead {
    /// The protocol's code.
    pub code: u16,
    /// Headers in order, duplicates and letter case kept.
    pub headers: Vec<Header>,
}

impl fmt::Debug for ResponseHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseHead")
            .field("code", &self.code)
            .field("headers", &self.headers.len())
            .finish()
    }
}

/// One header: raw bytes, since values on the wire need not be UTF-8 (RFC 9110, section 5.5).
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    /// The name, in the letter case that it was given in.
    pub name: Bytes,
    /// The value.
    pub value: Bytes,
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Header({:?}: {:?})", Redacted(&self.name), Redacted(&self.value))
    }
}

/// The result of a completed operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store must keep every kind of result")]
pub enum StoredResult {
    /// The response, to be replayed.
    Retained(StoredResponse),
    /// The operation is done, but its response could not or must not be kept: too large, a stream, a secret. Retries
    /// are told so and never run again. This is not the same as an empty body.
    NotRetained(ResponseHead),
}

impl StoredResult {
    /// The protocol's code.
    pub const fn code(&self) -> u16 {
        match self {
            Self::Retained(response) => response.code,
            Self::NotRetained(head) => head.code,
        }
    }

    /// The headers.
    pub fn headers(&self) -> &[Header] {
        match self {
            Self::Retained(response) => &response.headers,
            Self::NotRetained(head) => &head.headers,
        }
    }

    /// The body, if it was kept.
    pub const fn body(&self) -> Option<&Bytes> {
        match self {
            Self::Retained(response) => Some(&response.body),
            Self::NotRetained(_) => None,
        }
    }

    /// For stores: puts a result together from its columns, no body meaning *not retained*.
    pub fn from_parts(code: u16, headers: Vec<Header>, body: Option<Bytes>) -> Self {
        match body {
            Some(body) => Self::Retained(StoredResponse { code, headers, body }),
            None => Self::NotRetained(ResponseHead { code, headers }),
        }
    }
}

/// For stores that keep headers in one column: a format byte, then for each header two lengths (four bytes each,
/// little-endian), the name and the value.
///
/// A later format gets another first byte. This release refuses a byte it does not know, so that an old reader never
/// takes new data for something else.
pub fn encode_headers(headers: &[Header]) -> Vec<u8> {
    let bytes: usize = headers.iter().map(|header| 8 + header.name.len() + header.value.len()).sum();
    let mut encoded = Vec::with_capacity(1 + bytes);
    encoded.push(HEADERS_FORMAT);
    for Header { name, value } in headers {
        // A response's size is capped far below four GiB before it reaches a store.
        encoded.extend_from_slice(&(name.len() as u32).to_le_bytes());
        encoded.extend_from_slice(&(value.len() as u32).to_le_bytes());
        encoded.extend_from_slice(name);
        encoded.extend_from_slice(value);
    }
    encoded
}

/// For stores: the headers that [`encode_headers`] wrote. They share `encoded`'s memory.
///
/// # Errors
/// [`CorruptHeaders`] if the bytes are not what it writes. The record must then be reported as corrupt, never read as
/// absent.
pub fn decode_headers(encoded: &Bytes) -> Result<Vec<Header>, CorruptHeaders> {
    if encoded.first() != Some(&HEADERS_FORMAT) {
        return Err(CorruptHeaders);
    }
    let mut rest = encoded.slice(1..);
    let mut headers = Vec::new();
    while !rest.is_empty() {
        let lengths = take(&mut rest, 8)?;
        let [a, b, c, d, e, f, g, h] = *lengths else { return Err(CorruptHeaders) };
        let name = take(&mut rest, u32::from_le_bytes([a, b, c, d]))?;
        let value = take(&mut rest, u32::from_le_bytes([e, f, g, h]))?;
        headers.push(Header { name, value });
    }
    Ok(headers)
}

/// Stored headers cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stored headers are corrupt or of a newer format")]
pub struct CorruptHeaders;

fn take(rest: &mut Bytes, len: u32) -> Result<Bytes, CorruptHeaders> {
    let len = len as usize;
    if rest.len() < len {
        return Err(CorruptHeaders);
    }
    Ok(rest.split_to(len))
}

const HEADERS_FORMAT: u8 = 1;
