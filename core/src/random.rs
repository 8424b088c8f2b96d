//! Where randomness enters core.

use uuid::Uuid;

/// Sixteen bytes from the operating system.
///
/// # Panics
/// If the operating system has no randomness to give. A token that could repeat would let a superseded holder write,
/// so there is nothing to fall back to.
#[expect(clippy::disallowed_methods, reason = "the one place where random bytes are drawn")]
pub(crate) fn token_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
    bytes
}

/// A random UUID, version 4 (RFC 9562, section 5.4).
#[expect(clippy::disallowed_methods, reason = "the one place where random bytes are drawn")]
pub(crate) fn uuid() -> Uuid {
    Uuid::new_v4()
}

/// A random share of `whole`: between half of it and all of it, so that callers that wait together part.
#[cfg(feature = "tokio")]
pub(crate) fn jittered(whole: std::time::Duration) -> std::time::Duration {
    let [low, high, ..] = token_bytes();
    let share = f64::from(u16::from_le_bytes([low, high])) / f64::from(u16::MAX);
    whole.mul_f64(0.5 + share / 2.0)
}
