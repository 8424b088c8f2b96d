//! Responses and how their headers are stored.

use bytes::Bytes;
use onceonly::{CorruptHeaders, Header, StoredResponse, StoredResult, decode_headers, encode_headers};

fn header(name: &'static [u8], value: &'static [u8]) -> Header {
    Header { name: Bytes::from_static(name), value: Bytes::from_static(value) }
}

#[test]
fn headers_come_back_in_order_with_duplicates_case_and_any_bytes() {
    let headers = vec![
        header(b"Set-Cookie", b"a=1, b"),
        header(b"set-cookie", b""),
        header(b"Set-Cookie", b"\xff\x00\x01"),
        header(b"", b"no name"),
    ];
    assert_eq!(decode_headers(&encode_headers(&headers).into()), Ok(headers));
    assert_eq!(decode_headers(&encode_headers(&[]).into()), Ok(vec![]));
}

#[test]
fn b074_cut_lengthened_or_newer_headers_are_corrupt() {
    let encoded = encode_headers(&[header(b"Location", b"/charges/1"), header(b"ETag", b"x")]);
    for len in 0..encoded.len() {
        let cut = Bytes::copy_from_slice(&encoded[..len]);
        let whole_headers = decode_headers(&cut).map_or(0, |headers| headers.len());
        assert!(whole_headers < 2, "{len} bytes read as if nothing were missing");
    }
    assert_eq!(decode_headers(&Bytes::new()), Err(CorruptHeaders));
    assert_eq!(decode_headers(&[&encoded[..], b"x"].concat().into()), Err(CorruptHeaders));
    assert_eq!(decode_headers(&[&[2], &encoded[1..]].concat().into()), Err(CorruptHeaders), "a newer format");
    let endless = [&[1][..], &u32::MAX.to_le_bytes(), &u32::MAX.to_le_bytes(), b"abc"].concat();
    assert_eq!(decode_headers(&endless.into()), Err(CorruptHeaders));
}

/// A golden value: what one release stores the next must read.
#[test]
fn b074_the_stored_form_of_headers_never_changes() {
    let encoded = encode_headers(&[header(b"ETag", b"x")]);
    assert_eq!(encoded, [&[1][..], &[4, 0, 0, 0], &[1, 0, 0, 0], b"ETag", b"x"].concat());
}

#[test]
fn an_empty_body_is_not_a_body_that_was_not_retained() {
    let empty = StoredResult::from_parts(204, vec![], Some(Bytes::new()));
    let not_retained = StoredResult::from_parts(204, vec![], None);
    assert_ne!(empty, not_retained);
    assert_eq!(empty.body(), Some(&Bytes::new()));
    assert_eq!(not_retained.body(), None);
}

#[test]
fn b172_what_is_shown_of_a_response_is_sizes_and_a_digest() {
    let response = StoredResponse::new(200, "SECRET-BODY").with_header("Location", "/SECRET");
    let shown = format!("{response:?} {:?} {:?}", response.headers, response.clone().into_head());
    assert!(!shown.contains("SECRET"), "{shown}");
    assert!(shown.contains("11 bytes"), "{shown}");
}
