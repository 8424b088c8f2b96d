//! Digests over several parts that cannot be mistaken for each other.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Hashes a domain tag and then parts, each behind its length, so that moving a byte from one part to the next, or
/// using the same parts for another purpose, gives another digest.
#[derive(Clone)]
pub(crate) struct PartHasher(Algorithm);

#[derive(Clone)]
enum Algorithm {
    Sha256(Sha256),
    HmacSha256(Hmac<Sha256>),
}

impl PartHasher {
    pub(crate) fn sha256(domain: &str) -> Self {
        let mut hasher = Self(Algorithm::Sha256(Sha256::new()));
        hasher.part(domain.as_bytes());
        hasher
    }

    /// Keyed with `secret`: without it the digest of a guessed input cannot be computed (RFC 2104).
    pub(crate) fn hmac_sha256(domain: &str, secret: &[u8]) -> Self {
        let mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of every length");
        let mut hasher = Self(Algorithm::HmacSha256(mac));
        hasher.part(domain.as_bytes());
        hasher
    }

    pub(crate) fn part(&mut self, bytes: &[u8]) {
        self.update(&(bytes.len() as u64).to_le_bytes());
        self.update(bytes);
    }

    /// A part that may be missing, which is not the same as empty.
    pub(crate) fn optional_part(&mut self, bytes: Option<&[u8]>) {
        self.update(&[u8::from(bytes.is_some())]);
        self.part(bytes.unwrap_or_default());
    }

    fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Algorithm::Sha256(hasher) => Digest::update(hasher, bytes),
            Algorithm::HmacSha256(mac) => Mac::update(mac, bytes),
        }
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        match self.0 {
            Algorithm::Sha256(hasher) => hasher.finalize().into(),
            Algorithm::HmacSha256(mac) => mac.finalize().into_bytes().into(),
        }
    }
}

/// Writes the first four bytes in hexadecimal: enough to tell two values apart in a log.
pub(crate) struct Short<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Writes the length of bytes that must not appear in a log, and the start of their digest.
pub(crate) struct Redacted<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest: [u8; 32] = Sha256::digest(self.0).into();
        write!(f, "{} bytes #{:?}", self.0.len(), Short(&digest))
    }
}
