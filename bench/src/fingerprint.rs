//! Fingerprints of a request's body beside the bare digest.

use std::hint::black_box;
use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use onceonly::{Fingerprint, FingerprintSecret};
use sha2::{Digest, Sha256};

use crate::runner::{Comparison, Failure, Figure, Sample, Variant};

pub(crate) fn comparisons() -> Vec<Comparison> {
    vec![compare("fingerprint 1 KiB", 1, None), compare("fingerprint 64 KiB", 64, Some(0.75))]
}

/// An operation is one KiB here, so that the time of an operation is that of a KiB.
fn compare(name: &str, kibibytes: usize, raw_micros: Option<f64>) -> Comparison {
    let body = vec![b'x'; kibibytes * 1024];
    let (plain, keyed, bare) = (body.clone(), body.clone(), body);
    let variants = vec![
        Variant::new(PLAIN, 1, move |duration| {
            let digest =
                || Fingerprint::builder().part("path", "/charges").part("body", black_box(&plain)).finish();
            Ok(repeat(kibibytes, duration, digest))
        }),
        Variant::new(KEYED, 1, move |duration| {
            let secret = FingerprintSecret::new(NonZeroU16::MIN, b"a secret of thirty-two bytes, so")?;
            let builder = || Fingerprint::builder_with_secret(&secret);
            let digest = || builder().part("path", "/charges").part("body", black_box(&keyed)).finish();
            Ok(repeat(kibibytes, duration, digest))
        }),
        Variant::new(BARE, 1, move |duration| {
            Ok::<_, Failure>(repeat(kibibytes, duration, || Sha256::digest(black_box(&bare))))
        }),
    ];
    let micros = |of: &str, at_most| Figure::MicrosPerOperation { of: of.into(), at_most };
    let figures = vec![
        micros(PLAIN, raw_micros),
        micros(KEYED, None),
        micros(BARE, None),
        Figure::Ratio { of: PLAIN.into(), over: BARE.into(), at_least: None },
    ];
    Comparison { name: name.into(), variants, figures }
}

fn repeat<T>(kibibytes: usize, duration: Duration, digest: impl Fn() -> T) -> Sample {
    let started = Instant::now();
    let mut sample = Sample::default();
    while sample.elapsed < duration {
        for _ in 0..64 {
            black_box(digest());
        }
        sample.operations += 64 * kibibytes as u64;
        sample.elapsed = started.elapsed();
    }
    sample
}

const PLAIN: &str = "fingerprint";
const KEYED: &str = "fingerprint with a secret";
const BARE: &str = "sha2";
