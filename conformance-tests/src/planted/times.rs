//! Faults in how points in time are kept.

use onceonly::{Record, Timestamp};

use super::faults::Fault;
use super::store::PlantedStore;

impl PlantedStore {
    /// Makes of the record's times what comes back of them.
    pub(super) fn keep_times(&self, record: &mut Record) {
        let kept = match self.fault {
            Some(Fault::TimesInFloatingDays) => in_floating_days,
            Some(Fault::TimesInThirtyTwoBits) => in_thirty_two_bits,
            Some(Fault::CreationInWholeSeconds) => {
                record.created_at = in_whole_seconds(record.created_at);
                return;
            }
            _ => return,
        };
        for time in [&mut record.lease_until, &mut record.expires_at, &mut record.unresolved_until] {
            *time = kept(*time);
        }
    }
}

/// Through days since noon of the first of January 4713 BC in a floating-point number.
fn in_floating_days(time: Timestamp) -> Timestamp {
    let days = EPOCH_DAYS + time.as_micros() as f64 / DAY_MICROS;
    Timestamp::from_micros(((days - EPOCH_DAYS) * DAY_MICROS).round() as i64)
}

/// Through a signed number of seconds of thirty-two bits, which ends in January 2038.
fn in_thirty_two_bits(time: Timestamp) -> Timestamp {
    let (seconds, rest) = (time.as_micros().div_euclid(SECOND), time.as_micros().rem_euclid(SECOND));
    Timestamp::from_micros(i64::from(seconds as i32) * SECOND + rest)
}

fn in_whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_micros(time.as_micros() - time.as_micros().rem_euclid(SECOND))
}

const EPOCH_DAYS: f64 = 2_440_587.5;
const DAY_MICROS: f64 = 86_400_000_000.0;
const SECOND: i64 = 1_000_000;
