//! The `Idempotency-Key` header.
//!
//! The field value is a String of RFC 9651 by the IETF draft, a bare value by the custom of the industry. Both forms of
//! one value are the same key. What is neither is refused, never ignored: a client that sent the header asked for
//! protection.

use axum::http::HeaderMap;
use onceonly::{IdempotencyKey, InvalidKeyReason};

use crate::structured_field;

/// The name of the header.
pub(crate) const NAME: &str = "idempotency-key";

/// The key in `headers`, if the header is there.
///
/// # Errors
/// [`Malformed`] if it is there and holds no key, or more than once.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Malformed> {
    let mut lines = headers.get_all(NAME).iter();
    match (lines.next(), lines.next()) {
        (None, _) => Ok(None),
        (Some(line), None) => parse(line.as_bytes()).map(Some),
        (Some(_), Some(_)) => Err(Malformed::Repeated),
    }
}

/// What is wrong with the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    Repeated,
    Empty,
    Blank,
    TooLong,
    NotAscii,
    ControlCharacter,
    String,
    Character,
}

impl Malformed {
    /// The word for it in a problem's `reason`.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Repeated => "repeated",
            Self::Empty => "empty",
            Self::Blank => "blank",
            Self::TooLong => "too-long",
            Self::NotAscii => "not-ascii",
            Self::ControlCharacter => "control-character",
            Self::String => "malformed-string",
            Self::Character => "forbidden-character",
        }
    }

    /// What to do about it.
    pub(crate) const fn detail(self) -> &'static str {
        match self {
            Self::Repeated => "Send one Idempotency-Key header with one key.",
            Self::Empty | Self::Blank => "The key has no visible character.",
            Self::TooLong => "A key has at most 255 bytes.",
            Self::NotAscii => "A key in a header is printable ASCII.",
            Self::ControlCharacter => "A key holds no control characters.",
            Self::String => "A quoted key is a String of RFC 9651; nothing but parameters may follow it.",
            Self::Character => "A key without quotes holds no space, quote, comma, semicolon or backslash.",
        }
    }
}

fn parse(line: &[u8]) -> Result<IdempotencyKey, Malformed> {
    let value = trim_spaces(line);
    if !value.is_ascii() {
        return Err(Malformed::NotAscii);
    }
    if value.iter().any(u8::is_ascii_control) {
        return Err(Malformed::ControlCharacter);
    }
    let key = match value.first() {
        None => return Err(Malformed::Empty),
        Some(b'"') => structured_field::string_item(value).ok_or(Malformed::String)?,
        Some(_) => bare(value)?.to_vec(),
    };
    IdempotencyKey::from_bytes(&key).map_err(|invalid| match invalid.reason {
        InvalidKeyReason::Empty => Malformed::Empty,
        InvalidKeyReason::Blank => Malformed::Blank,
        InvalidKeyReason::TooLong { .. } => Malformed::TooLong,
        _ => Malformed::Character,
    })
}

/// A comma is what tells that somebody on the way has joined two header lines, so no bare key may hold one.
fn bare(value: &[u8]) -> Result<&[u8], Malformed> {
    let forbidden = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b',' | b';' | b'\\');
    if value.starts_with(b":") || value.iter().any(forbidden) {
        return Err(Malformed::Character);
    }
    Ok(value)
}

/// Spaces, not all white space: RFC 9651, section 4.2.
fn trim_spaces(mut value: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] | [rest @ .., b' '] = value {
        value = rest;
    }
    value
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    /// Field lines, the String that RFC 9651 reads in their value, and what this server makes of them.
    type Vector = (&'static [&'static [u8]], Option<&'static str>, Result<&'static str, Malformed>);

    const VECTORS: &[Vector] = &[
        (
            &[b"\"8e03978e-40d5-43e8-bc93-6894a57f9324\""],
            Some("8e03978e-40d5-43e8-bc93-6894a57f9324"),
            Ok("8e03978e-40d5-43e8-bc93-6894a57f9324"),
        ),
        (&[b"8e03978e-40d5-43e8-bc93-6894a57f9324"], None, Ok("8e03978e-40d5-43e8-bc93-6894a57f9324")),
        (&[b"a1b2c3d4-40d5-43e8-bc93-6894a57f9324"], None, Ok("a1b2c3d4-40d5-43e8-bc93-6894a57f9324")),
        (&[b"KG5LxwFBepaKHyUD"], None, Ok("KG5LxwFBepaKHyUD")),
        (&[b"order_2024/17:retry"], None, Ok("order_2024/17:retry")),
        (&[b"12345"], None, Ok("12345")),
        (&[b"k@1"], None, Ok("k@1")),
        (&[b"\"\""], Some(""), Err(Malformed::Empty)),
        (&[b""], None, Err(Malformed::Empty)),
        (&[b"   "], None, Err(Malformed::Empty)),
        (&[b"\"  \""], Some("  "), Err(Malformed::Blank)),
        (&[b"\"a b\""], Some("a b"), Ok("a b")),
        (&[b"  \"a b\" "], Some("a b"), Ok("a b")),
        (&[b"\" a \""], Some(" a "), Ok(" a ")),
        (&[b"  abc "], None, Ok("abc")),
        (&[b"\"abc\";v=1"], Some("abc"), Ok("abc")),
        (&[b"\"abc\"; v=1"], Some("abc"), Ok("abc")),
        (&[b"\"abc\" ;v=1"], None, Err(Malformed::String)),
        (&[b"\"abc\";V=1"], None, Err(Malformed::String)),
        (&[b"abc;v=1"], None, Err(Malformed::Character)),
        (&[b"\"abc\",\"abc\""], None, Err(Malformed::String)),
        (&[b"\"abc\", \"abc\""], None, Err(Malformed::String)),
        (&[b"\"abc\"", b"\"abc\""], None, Err(Malformed::Repeated)),
        (&[b"abc", b"abc"], None, Err(Malformed::Repeated)),
        (&[b"\"foo", b"bar\""], Some("foo, bar"), Err(Malformed::Repeated)),
        (&[b"a,b"], None, Err(Malformed::Character)),
        (&[b"a b"], None, Err(Malformed::Character)),
        (&[b"a\\b"], None, Err(Malformed::Character)),
        (&[b"ab\""], None, Err(Malformed::Character)),
        (&[b"\"a\\\"b\""], Some("a\"b"), Ok("a\"b")),
        (&[b"\"a\\\\b\""], Some("a\\b"), Ok("a\\b")),
        (&[b"\"a\\nb\""], None, Err(Malformed::String)),
        (&[b"\"abc"], None, Err(Malformed::String)),
        (&[b"\"abc\\"], None, Err(Malformed::String)),
        (&[b"\"abc\"x"], None, Err(Malformed::String)),
        (&[b"'abc'"], None, Err(Malformed::Character)),
        (&[b":aGVsbG8=:"], None, Err(Malformed::Character)),
        (&[b"\"caf\xc3\xa9\""], None, Err(Malformed::NotAscii)),
        (&[b"caf\xc3\xa9"], None, Err(Malformed::NotAscii)),
        (&[b"\xff"], None, Err(Malformed::NotAscii)),
        (&[b"\"a\tb\""], None, Err(Malformed::ControlCharacter)),
        (&[b"a\tb"], None, Err(Malformed::ControlCharacter)),
        (&[b"null"], None, Ok("null")),
    ];

    #[test]
    fn every_vector_is_read_as_documented() {
        for (lines, _, expected) in VECTORS {
            let mut headers = HeaderMap::new();
            for line in *lines {
                headers.append(NAME, HeaderValue::from_bytes(line).expect("a header may hold these bytes"));
            }
            let found = idempotency_key(&headers).map(|key| key.expect("the header is there"));
            let expected = expected.map(|key| IdempotencyKey::new(key).expect("a valid key"));
            assert_eq!(found, expected, "{:?}", lines.join(&b"\n"[..]).escape_ascii().to_string());
        }
    }

    #[test]
    fn the_strict_parser_reads_strings_and_nothing_else() {
        for (lines, strict, _) in VECTORS {
            let joined = lines.join(&b", "[..]);
            let found = structured_field::string_item(trim_spaces(&joined));
            assert_eq!(
                found.as_deref(),
                strict.map(str::as_bytes),
                "{:?}",
                joined.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn control_characters_that_no_header_may_hold_are_refused_too() {
        for value in [b"a\0b".as_slice(), b"a\x7fb", b"\"a\rb\""] {
            assert_eq!(
                parse(value),
                Err(Malformed::ControlCharacter),
                "{:?}",
                value.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn the_limit_counts_the_bytes_of_the_key_without_quotes_and_escapes() {
        let longest = "k".repeat(255);
        assert!(parse(longest.as_bytes()).is_ok());
        assert!(parse(format!("\"{longest}\"").as_bytes()).is_ok());
        assert!(parse(format!("\"{}\"", "\\\"".repeat(255)).as_bytes()).is_ok());
        assert_eq!(parse(format!("{longest}k").as_bytes()), Err(Malformed::TooLong));
        assert_eq!(parse("k".repeat(10_000).as_bytes()), Err(Malformed::TooLong));
    }

    #[test]
    fn a_request_without_the_header_has_no_key() {
        assert_eq!(idempotency_key(&HeaderMap::new()), Ok(None));
    }
}
