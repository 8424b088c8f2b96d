//! Scopes, idempotency keys, and the record key that both make.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use uuid::Builder;

use crate::digest::{PartHasher, Short};
use crate::random;

/// The longest idempotency key or scope name, in bytes of UTF-8.
pub const KEY_BYTES_MAX: usize = 255;

/// What the server adds to a key so that two tenants, operations or consumers never meet.
///
/// Take something that stays the same over all retries of one caller: an account or tenant id, not a session or an
/// access token. A scope that changes between two attempts makes the second one run again.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Scope(Option<Arc<str>>);

impl Scope {
    /// The one scope that everybody shares. Two callers who happen to choose the same key meet in it: the second is
    /// given the first one's response. Right only where all callers are one party.
    pub const fn global() -> Self {
        Self(None)
    }

    /// The scope called `name`; different from every other name and from [`Scope::global`].
    ///
    /// # Errors
    /// [`InvalidKey`] under the rules of [`IdempotencyKey::new`].
    pub fn named(name: &str) -> Result<Self, InvalidKey> {
        validate(name, KeyPart::Scope).map(|()| Self(Some(name.into())))
    }

    /// The name, unless this is the global scope.
    pub fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "Scope({})", Redaction::of("onceonly scope for display", name)),
            None => f.write_str("Scope(global)"),
        }
    }
}

/// The caller's id for one logical operation, chosen *before* the first attempt and sent with every retry.
///
/// A key made after a failure links nothing to the attempt that failed. Keys are compared byte for byte: no case
/// folding, no trimming, no normalisation of Unicode or of UUIDs. The words `null` and `undefined` are keys like any
/// other.
///
/// There is no `Display`: a shortened or decorated form that somebody passes on as a key would be another key.
///
/// ```compile_fail,E0277
/// let key = onceonly::IdempotencyKey::generate();
/// println!("{key}");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(Arc<str>);

impl IdempotencyKey {
    /// Takes `key` as it is.
    ///
    /// # Errors
    /// [`InvalidKey`] if it is empty, blank (nothing but white space or zero-width characters), longer than
    /// [`KEY_BYTES_MAX`] bytes, or holds a control character. The limits are the same for every store, so that a key
    /// that is accepted can be stored.
    pub fn new(key: &str) -> Result<Self, InvalidKey> {
        validate(key, KeyPart::Key).map(|()| Self(key.into()))
    }

    /// Takes bytes as they came from the network.
    ///
    /// # Errors
    /// As [`IdempotencyKey::new`], and if the bytes are not UTF-8.
    pub fn from_bytes(key: &[u8]) -> Result<Self, InvalidKey> {
        let key = std::str::from_utf8(key)
            .map_err(|_| InvalidKey { part: KeyPart::Key, reason: InvalidKeyReason::NotUtf8 })?;
        Self::new(key)
    }

    /// A new random key, a UUID of version 4: for clients, once per logical operation, before its first attempt, kept
    /// with whatever the operation is about so that a restarted client retries with the same one.
    pub fn generate() -> Self {
        Self(random::uuid().to_string().into())
    }

    /// The key as the caller sent it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdempotencyKey {
    type Err = InvalidKey;

    fn from_str(key: &str) -> Result<Self, InvalidKey> {
        Self::new(key)
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdempotencyKey({})", Redaction::of("onceonly key for display", &self.0))
    }
}

/// Scope and key together: what a record is stored under.
///
/// Two record keys are equal only if both parts are, byte for byte; no two pairs share an encoding. Stores index by
/// [`RecordKey::digest`] and keep both parts beside it, to be compared on every hit.
#[derive(Clone)]
pub struct RecordKey {
    scope: Scope,
    key: IdempotencyKey,
    digest: [u8; 32],
}

impl RecordKey {
    /// The record key of `key` within `scope`.
    pub fn new(scope: Scope, key: IdempotencyKey) -> Self {
        let mut hasher = PartHasher::sha256("onceonly record key 1");
        hasher.optional_part(scope.name().map(str::as_bytes));
        hasher.part(key.as_str().as_bytes());
        Self { scope, key, digest: hasher.finish() }
    }

    /// The scope.
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The idempotency key.
    pub const fn key(&self) -> &IdempotencyKey {
        &self.key
    }

    /// SHA-256 over a domain tag and both parts, each behind its length. The same on every host and in every release.
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// A key for a downstream call that is made on behalf of this one, such as a charge at a provider that takes
    /// idempotency keys itself: the same for every attempt and in every retention period, another for each `label`.
    ///
    /// It is a UUID of version 8 (RFC 9562, section 5.8) made of a digest of scope, key and label. It takes no clock
    /// and no randomness.
    pub fn derive_key(&self, label: &str) -> IdempotencyKey {
        let mut hasher = PartHasher::sha256("onceonly derived key 1");
        hasher.optional_part(self.scope.name().map(str::as_bytes));
        hasher.part(self.key.as_str().as_bytes());
        hasher.part(label.as_bytes());
        let digest = hasher.finish();
        let (half, _) = digest.split_first_chunk::<16>().expect("a digest has 32 bytes");
        IdempotencyKey(Builder::from_custom_bytes(*half).into_uuid().to_string().into())
    }
}

impl PartialEq for RecordKey {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.key == other.key && self.scope == other.scope
    }
}

impl Eq for RecordKey {}

impl Hash for RecordKey {
    /// Feeds the first eight bytes of the digest, which are as good as random: a map may use them as they are.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (first, _) = self.digest.split_first_chunk::<8>().expect("a digest has 32 bytes");
        state.write_u64(u64::from_le_bytes(*first));
    }
}

impl fmt::Debug for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordKey(#{:?})", Short(&self.digest))
    }
}

/// Why a text cannot be an idempotency key or a scope name. Nothing was looked up or stored.
///
/// The text itself is not in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part} {reason}")]
pub struct InvalidKey {
    /// Which of the two it was.
    pub part: KeyPart,
    /// What is wrong with it.
    pub reason: InvalidKeyReason,
}

/// One of the two parts of a record key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a record key has two parts")]
pub enum KeyPart {
    /// The scope's name.
    Scope,
    /// The idempotency key.
    Key,
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scope => "scope name",
            Self::Key => "idempotency key",
        })
    }
}

/// What is wrong with a key or scope name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKeyReason {
    /// It has no bytes.
    #[error("is empty")]
    Empty,
    /// It has nothing but white space and zero-width characters.
    #[error("is blank")]
    Blank,
    /// It is longer than [`KEY_BYTES_MAX`].
    #[error("is longer than 255 bytes ({bytes})")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It holds a control character (Unicode category Cc).
    #[error("holds a control character at byte {at}")]
    ControlCharacter {
        /// Where the first one starts.
        at: usize,
    },
    /// Its bytes are not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
}

fn validate(text: &str, part: KeyPart) -> Result<(), InvalidKey> {
    let invalid = |reason| Err(InvalidKey { part, reason });
    if text.is_empty() {
        return invalid(InvalidKeyReason::Empty);
    }
    if text.len() > KEY_BYTES_MAX {
        return invalid(InvalidKeyReason::TooLong { bytes: text.len() });
    }
    if let Some((at, _)) = text.char_indices().find(|(_, character)| character.is_control()) {
        return invalid(InvalidKeyReason::ControlCharacter { at });
    }
    if text.chars().all(is_invisible) {
        return invalid(InvalidKeyReason::Blank);
    }
    Ok(())
}

/// White space, and the characters of no width that copying from documents leaves behind.
fn is_invisible(character: char) -> bool {
    character.is_whitespace()
        || matches!(character, '\u{00ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// A length and the start of a digest, for a log.
struct Redaction {
    bytes: usize,
    digest: [u8; 32],
}

impl Redaction {
    fn of(domain: &str, text: &str) -> Self {
        let mut hasher = PartHasher::sha256(domain);
        hasher.part(text.as_bytes());
        Self { bytes: text.len(), digest: hasher.finish() }
    }
}

impl fmt::Display for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes #{:?}", self.bytes, Short(&self.digest))
    }
}
