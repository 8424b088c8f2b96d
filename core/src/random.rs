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

#[cfg(all(test, feature = "tokio"))]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::jittered;

    #[test]
    fn callers_that_pause_equally_long_part() {
        let whole = Duration::from_secs(10);
        let pauses: HashSet<_> = (0..1_000).map(|_| jittered(whole)).collect();
        assert!(pauses.iter().all(|pause| (whole / 2..=whole).contains(pause)));
        // Of 65 536 shares a thousand draws meet nearly a thousand; and both ends of the range.
        assert!(pauses.len() > 900, "{} different pauses", pauses.len());
        assert!(pauses.iter().any(|pause| *pause < whole * 11 / 20));
        assert!(pauses.iter().any(|pause| *pause > whole * 19 / 20));
    }
}
