//! Faults in how the bytes of a result are kept.

use bytes::Bytes;
use onceonly::{Header, StoredResult};

use super::faults::Fault;
use super::store::PlantedStore;

impl PlantedStore {
    /// The result as the store keeps it.
    pub(super) fn altered_result(&self, result: &StoredResult) -> StoredResult {
        let (code, headers, body) = (result.code(), result.headers().to_vec(), result.body().cloned());
        StoredResult::from_parts(
            if self.has(Fault::CodeInByte) { code & 0xff } else { code },
            self.altered_headers(headers),
            self.altered_body(body),
        )
    }

    fn altered_headers(&self, mut headers: Vec<Header>) -> Vec<Header> {
        match self.fault {
            Some(Fault::HeadersCut) => headers.truncate(32),
            Some(Fault::HeaderValueCut) => {
                for header in &mut headers {
                    header.value.truncate(4096);
                }
            }
            Some(Fault::HeadersSorted) => headers.sort_by(|one, other| one.name.cmp(&other.name)),
            Some(Fault::HeadersLowerCased) => {
                for header in &mut headers {
                    header.name = header.name.to_ascii_lowercase().into();
                }
            }
            Some(Fault::HeadersAsText) => {
                for header in &mut headers {
                    header.value = lossy(&header.value);
                }
            }
            _ => {}
        }
        headers
    }

    fn altered_body(&self, body: Option<Bytes>) -> Option<Bytes> {
        match self.fault {
            Some(Fault::NotRetainedIsEmpty) => Some(body.unwrap_or_default()),
            Some(Fault::BodyCut) => body.map(|body| body.slice(..body.len().min(64))),
            Some(Fault::CutAtTheLimit) => body.map(|body| body.slice(..body.len().min(1024 * 1024))),
            Some(Fault::BodyLossyText) => body.map(|body| lossy(&body)),
            Some(Fault::LineBreaksNormalised) => body.map(|body| {
                let unified = body.iter().copied().filter(|byte| *byte != b'\r');
                unified.collect::<Vec<u8>>().into()
            }),
            _ => body,
        }
    }
}

fn lossy(bytes: &[u8]) -> Bytes {
    String::from_utf8_lossy(bytes).into_owned().into_bytes().into()
}
