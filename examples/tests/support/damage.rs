//! Stored records, past the stores that wrote them: their keys, and what can go wrong with their bytes.

use onceonly::RecordKey;

/// The key that a record is stored under, put together independently of the stores.
pub(crate) fn stored_key(key: &RecordKey) -> Vec<u8> {
    let scope = key.scope().name().unwrap_or_default();
    [&[scope.len() as u8], scope.as_bytes(), key.key().as_str().as_bytes()].concat()
}

/// What was done to the bytes of a record, and what is left of them; none if there are no more ways.
pub(crate) fn damaged(whole: &[u8], way: usize) -> Option<(String, Vec<u8>)> {
    let changed = |at: usize| {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 0x80;
        bytes
    };
    let (done, bytes) = match way {
        0 => ("of a newer format", changed(0)),
        1 => ("of an unknown status", changed(1)),
        2 => ("with another length of its headers", changed(HEADERS_LEN_AT)),
        3 => ("with another length of its body or checkpoint", changed(TAIL_LEN_AT)),
        4 => ("without its last byte", whole[..whole.len() - 1].to_vec()),
        5 => ("with a byte behind it", [whole, &[0]].concat()),
        6 => ("cut off within its token", whole[..10].to_vec()),
        7 => ("of no bytes", Vec::new()),
        _ => return None,
    };
    Some((done.to_owned(), bytes))
}

/// Behind format and status, token, revision, fingerprint, attempt, four times and the code.
const HEADERS_LEN_AT: usize = 2 + 16 + 4 + 36 + 4 + 32 + 2;
const TAIL_LEN_AT: usize = HEADERS_LEN_AT + 4;
