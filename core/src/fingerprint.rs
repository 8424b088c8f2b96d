//! Digests of what a request asks for.

use std::fmt;
use std::num::NonZeroU16;
use std::sync::Arc;

use crate::digest::{PartHasher, Short};

/// Digest of what a request asks for. A key that comes back with another fingerprint is refused.
///
/// Put in what makes the request the one it is: method, path, query, body. Leave out what changes between two honest
/// attempts: dates, trace ids, signatures, the multipart boundary, the key itself. A part left out that matters lets
/// another request be answered with this one's response; a part too many turns an honest retry into a mismatch.
///
/// ```
/// use onceonly::Fingerprint;
///
/// let charge = Fingerprint::builder().part("path", "/charges").part("body", br#"{"amount":1000}"#).finish();
/// let other = Fingerprint::builder().part("path", "/charges").part("body", br#"{"amount":1001}"#).finish();
/// assert_ne!(charge, other);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    algorithm: u16,
    secret_id: u16,
    digest: [u8; 32],
}

impl Fingerprint {
    /// Length of [`Fingerprint::to_bytes`].
    pub const BYTES: usize = 36;

    /// Starts a fingerprint: SHA-256, algorithm number 1. For short or guessable requests see
    /// [`Fingerprint::builder_with_secret`].
    pub fn builder() -> FingerprintBuilder {
        FingerprintBuilder { algorithm: SHA256, secret_id: 0, hasher: PartHasher::sha256(DOMAIN) }
    }

    /// Starts a fingerprint that is keyed with a secret of the server's: HMAC-SHA-256, algorithm number 2. Whoever
    /// reads the table cannot find out a four-digit code or a card number by trying them all.
    pub fn builder_with_secret(secret: &FingerprintSecret) -> FingerprintBuilder {
        FingerprintBuilder {
            algorithm: HMAC_SHA256,
            secret_id: secret.id.get(),
            hasher: PartHasher::hmac_sha256(DOMAIN, &secret.key),
        }
    }

    /// The number of the algorithm that made it.
    pub const fn algorithm(&self) -> u16 {
        self.algorithm
    }

    /// For stores: algorithm and secret id, both big-endian, then the digest.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..2].copy_from_slice(&self.algorithm.to_be_bytes());
        bytes[2..4].copy_from_slice(&self.secret_id.to_be_bytes());
        bytes[4..].copy_from_slice(&self.digest);
        bytes
    }

    /// For stores: what [`Fingerprint::to_bytes`] gave; `None` if the length is wrong. A number that this release does
    /// not know is kept: such a fingerprint equals only itself.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().ok()?;
        let (numbers, digest) = bytes.split_first_chunk::<4>()?;
        let [a, b, c, d] = *numbers;
        Some(Self {
            algorithm: u16::from_be_bytes([a, b]),
            secret_id: u16::from_be_bytes([c, d]),
            digest: digest.try_into().ok()?,
        })
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({}, #{:?})", self.algorithm, Short(&self.digest))
    }
}

/// Collects the parts of a [`Fingerprint`].
#[must_use = "a fingerprint is made by `finish`"]
#[derive(Clone)]
pub struct FingerprintBuilder {
    algorithm: u16,
    secret_id: u16,
    hasher: PartHasher,
}

impl FingerprintBuilder {
    /// Adds a named part. Name and content enter behind their lengths, so that bytes cannot move between parts
    /// unnoticed; the order of parts matters.
    pub fn part(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.hasher.part(name.as_bytes());
        self.hasher.part(content.as_ref());
        self
    }

    /// The fingerprint of all parts added.
    pub fn finish(self) -> Fingerprint {
        Fingerprint { algorithm: self.algorithm, secret_id: self.secret_id, digest: self.hasher.finish() }
    }
}

impl fmt::Debug for FingerprintBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FingerprintBuilder").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// A secret of the server's for keyed fingerprints.
///
/// To change it, make new fingerprints with the new secret and pass those of the old one as equivalents
/// ([`Fingerprints::or`]) for as long as old records live.
#[derive(Clone)]
pub struct FingerprintSecret {
    id: NonZeroU16,
    key: Arc<[u8]>,
}

impl FingerprintSecret {
    /// A secret known by `id`, which is stored with each fingerprint. Fingerprints of two ids never match.
    ///
    /// # Errors
    /// [`SecretTooShort`] below 16 bytes: a short secret can be guessed like the request that it is to hide.
    pub fn new(id: NonZeroU16, key: &[u8]) -> Result<Self, SecretTooShort> {
        if key.len() < 16 {
            return Err(SecretTooShort { bytes: key.len() });
        }
        Ok(Self { id, key: key.into() })
    }
}

impl fmt::Debug for FingerprintSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FingerprintSecret").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A fingerprint secret has fewer than 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fingerprint secret is shorter than 16 bytes ({bytes})")]
pub struct SecretTooShort {
    /// Its length.
    pub bytes: usize,
}

/// The fingerprint of one request, and its equivalents under older algorithms or secrets.
///
/// A new record is bound to the current one. A record that is found matches if any of them is equal. Without the
/// equivalents, a deployment that changes the algorithm turns every retry of an earlier request into a mismatch.
#[derive(Clone, Debug)]
pub struct Fingerprints {
    current: Fingerprint,
    equivalents: Vec<Fingerprint>,
}

impl Fingerprints {
    /// Adds what an older algorithm or secret makes of the same request.
    #[must_use]
    pub fn or(mut self, equivalent: Fingerprint) -> Self {
        self.equivalents.push(equivalent);
        self
    }

    /// The fingerprint that a new record is bound to.
    pub const fn current(&self) -> Fingerprint {
        self.current
    }

    /// Whether a record bound to `stored` belongs to this request.
    pub fn matches(&self, stored: &Fingerprint) -> bool {
        self.current == *stored || self.equivalents.contains(stored)
    }
}

impl From<Fingerprint> for Fingerprints {
    fn from(current: Fingerprint) -> Self {
        Self { current, equivalents: Vec::new() }
    }
}

const DOMAIN: &str = "onceonly fingerprint 1";
const SHA256: u16 = 1;
const HMAC_SHA256: u16 = 2;
