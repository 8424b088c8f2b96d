//! HTTP messages: request bodies read within limits, stored responses written.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use onceonly::StoredResponse;

use crate::problem::{BODY_INCOMPLETE, BODY_TOO_LARGE, Problem};

/// The largest request body that is taken: 1 MiB.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;

/// The whole of `body`. The fingerprint needs it before anything is claimed, so it is held in memory.
///
/// # Errors
/// A problem, if it is larger than [`BODY_BYTES_MAX`], breaks off, or takes longer than [`BODY_WAIT_MAX`].
pub(crate) async fn read(body: Body) -> Result<Bytes, Problem> {
    match tokio::time::timeout(BODY_WAIT_MAX, read_to_end(body)).await {
        Ok(Ok(bytes)) if bytes.len() <= BODY_BYTES_MAX => Ok(bytes.into()),
        Ok(Ok(_)) => Err(Problem::new(&BODY_TOO_LARGE, "A request body has at most 1 MiB.")),
        Ok(Err(_)) => Err(Problem::new(&BODY_INCOMPLETE, "The body broke off.")),
        Err(_) => Err(Problem::new(&BODY_INCOMPLETE, "The body took longer than 30 seconds.")),
    }
}

/// Type and subtype of the content, without parameters: a multipart boundary differs between two honest attempts.
pub(crate) fn content_type_essence(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    String::from_utf8_lossy(essence.trim_ascii()).to_ascii_lowercase()
}

/// The response as it goes out. Every header that a handler has put in is written, and nothing is added but what
/// belongs to the connection.
pub(crate) fn http_response(stored: StoredResponse) -> Response {
    let mut response = Response::builder().status(stored.code);
    for header in &stored.headers {
        response = response.header(header.name.as_ref(), header.value.as_ref());
    }
    // Fails for a record that another program wrote, with a code or a header that HTTP does not have.
    response.body(stored.body.into()).unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// Reads at most a frame more than [`BODY_BYTES_MAX`]. What follows is read too, up to a bound, and thrown away: a
/// server that closes the connection on a client that is still sending takes the answer away from it (RFC 9112,
/// section 9.6).
async fn read_to_end(mut body: Body) -> Result<Vec<u8>, axum::Error> {
    let mut bytes = Vec::new();
    let mut discarded = 0;
    while let Some(frame) = body.frame().await {
        // Anything but data is a trailer, which this server has no use for.
        let Ok(data) = frame?.into_data() else { continue };
        if bytes.len() <= BODY_BYTES_MAX {
            bytes.extend_from_slice(&data);
        } else {
            discarded += data.len();
        }
        if discarded > DISCARDED_BYTES_MAX {
            break;
        }
    }
    Ok(bytes)
}

const BODY_WAIT_MAX: Duration = Duration::from_secs(30);
const DISCARDED_BYTES_MAX: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_essence_of_a_content_type_has_neither_parameters_nor_upper_case() {
        for (value, essence) in [
            ("application/json", "application/json"),
            ("Application/JSON; charset=UTF-8", "application/json"),
            ("multipart/form-data;boundary=x", "multipart/form-data"),
            ("", ""),
        ] {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_TYPE, value.parse().expect("a header value"))]);
            assert_eq!(content_type_essence(&headers), essence);
        }
        assert_eq!(content_type_essence(&HeaderMap::new()), "");
    }
}
