//! Faults in how the bytes of a result are kept.

use bytes::Bytes;
use onceonly::{Header, StoredResult};

use super::faults::Fault;
use super::store::PlantedStore;

impl PlantedStore {
    /// The result as the store keeps it.
    pub(super) fn altered_result(&self, result: &StoredResult) -> StoredResult {
        let (headers, body) = (result.headers().to_vec(), result.body().cloned());
        let headers = match (self.fault, &body) {
            (Some(Fault::HeadOfNoBodyLost), None) => Vec::new(),
            _ => self.altered_headers(headers),
        };
        StoredResult::from_parts(self.altered_code(result.code()), headers, self.altered_body(body))
    }

    fn altered_code(&self, code: u16) -> u16 {
        match self.fault {
            Some(Fault::CodeInByte) => code & 0xff,
            Some(Fault::CodeZeroIsNone) if code == 0 => 200,
            _ => code,
        }
    }

    fn altered_headers(&self, mut headers: Vec<Header>) -> Vec<Header> {
        match self.fault {
            Some(Fault::HeadersCut) => headers.truncate(32),
            Some(Fault::HeaderCountInByte) => headers.truncate(headers.len() & 0xff),
            Some(Fault::HeadersSorted) => headers.sort_by(|one, other| one.name.cmp(&other.name)),
            Some(Fault::HeadersInMap) => {
                let later = headers.clone();
                let mut place = 0;
                headers.retain(|header| {
                    place += 1;
                    later[place..].iter().all(|later| later.name != header.name)
                });
            }
            Some(Fault::EmptyHeaderValueDropped) => headers.retain(|header| !header.value.is_empty()),
            Some(Fault::EmptyHeaderNameDropped) => headers.retain(|header| !header.name.is_empty()),
            _ => headers.iter_mut().for_each(|header| self.alter_header(header)),
        }
        headers
    }

    fn alter_header(&self, header: &mut Header) {
        match self.fault {
            Some(Fault::HeaderValueCut) => header.value.truncate(4096),
            Some(Fault::HeaderNameLengthInByte) => header.name.truncate(header.name.len() & 0xff),
            Some(Fault::HeadersLowerCased) => header.name = header.name.to_ascii_lowercase().into(),
            Some(Fault::HeadersAsText) => header.value = lossy(&header.value),
            Some(Fault::HeaderNamesAsText) => header.name = lossy(&header.name),
            _ => {}
        }
    }

    fn altered_body(&self, body: Option<Bytes>) -> Option<Bytes> {
        if self.has(Fault::NotRetainedIsEmpty) {
            return Some(body.unwrap_or_default());
        }
        body.map(|body| match self.fault {
            Some(Fault::BodyCut) => body.slice(..body.len().min(64)),
            Some(Fault::CutAtTheLimit) => body.slice(..body.len().min(1024 * 1024)),
            Some(Fault::BodyLengthInTwoBytes) => body.slice(..body.len() & 0xffff),
            Some(Fault::BodyEndsAtNul) => {
                let end = body.iter().position(|byte| *byte == 0);
                body.slice(..end.unwrap_or(body.len()))
            }
            Some(Fault::BodyLossyText) => lossy(&body),
            Some(Fault::BodyAsNumber) => as_number(body),
            Some(Fault::LineBreaksNormalised) => {
                body.iter().copied().filter(|byte| *byte != b'\r').collect::<Vec<u8>>().into()
            }
            _ => body,
        })
    }
}

/// A text that reads as a number, written as that number.
fn as_number(body: Bytes) -> Bytes {
    let number = str::from_utf8(&body).ok().and_then(|text| text.parse::<f64>().ok());
    number.map_or(body, |number| number.to_string().into())
}

fn lossy(bytes: &[u8]) -> Bytes {
    String::from_utf8_lossy(bytes).into_owned().into_bytes().into()
}
