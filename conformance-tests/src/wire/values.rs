//! How single values are written. Each module is one that serde's `with` takes.

use std::time::Duration;

use ::bytes::Bytes;
use onceonly::{Fingerprint, IdempotencyKey, RecordKey, Revision, Scope, Span, Timestamp, Token};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) mod record_key {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Form {
        scope: Option<String>,
        key: String,
    }

    pub(crate) fn serialize<S: Serializer>(key: &RecordKey, serializer: S) -> Result<S::Ok, S::Error> {
        let scope = key.scope().name().map(str::to_owned);
        Form { scope, key: key.key().as_str().to_owned() }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RecordKey, D::Error> {
        let Form { scope, key } = Form::deserialize(deserializer)?;
        let scope = scope.map_or_else(|| Ok(Scope::global()), |name| Scope::named(&name));
        let key = IdempotencyKey::new(&key).map_err(D::Error::custom)?;
        Ok(RecordKey::new(scope.map_err(D::Error::custom)?, key))
    }
}

pub(crate) mod bytes {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        bytes_of(deserializer).map(Bytes::from)
    }
}

pub(crate) mod optional_bytes {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(bytes: &Option<Bytes>, serializer: S) -> Result<S::Ok, S::Error> {
        bytes.as_ref().map(|bytes| to_hex(bytes)).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bytes>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let bytes = text.map(|text| from_hex(&text).ok_or_else(|| D::Error::custom(NOT_HEX)));
        Ok(bytes.transpose()?.map(Bytes::from))
    }
}

pub(crate) mod token {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(token: &Token, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(token.as_bytes()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Token, D::Error> {
        let bytes: Result<[u8; 16], _> = bytes_of(deserializer)?.try_into();
        bytes.map(Token::from_bytes).map_err(|_| D::Error::custom("a token is sixteen bytes"))
    }
}

pub(crate) mod fingerprint {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        fingerprint: &Fingerprint,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(&fingerprint.to_bytes()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fingerprint, D::Error> {
        let bytes = bytes_of(deserializer)?;
        Fingerprint::from_bytes(&bytes).ok_or_else(|| D::Error::custom("not the bytes of a fingerprint"))
    }
}

pub(crate) mod revision {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(revision: &Revision, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(revision.number())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Revision, D::Error> {
        u32::deserialize(deserializer).map(Revision::from_number)
    }
}

pub(crate) mod timestamp {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(at.as_micros())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(deserializer).map(Timestamp::from_micros)
    }
}

pub(crate) mod optional_timestamp {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        at.map(Timestamp::as_micros).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        Ok(Option::deserialize(deserializer)?.map(Timestamp::from_micros))
    }
}

pub(crate) mod span {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(span.as_micros())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        let micros = u64::deserialize(deserializer)?;
        Span::new(Duration::from_micros(micros)).map_err(D::Error::custom)
    }
}

fn bytes_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    from_hex(&text).ok_or_else(|| D::Error::custom(NOT_HEX))
}

fn to_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |letter: u8| DIGITS.iter().position(|digit| *digit == letter);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()).collect()
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";
const NOT_HEX: &str = "bytes are pairs of hexadecimal digits in lower case";
