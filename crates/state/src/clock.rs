//! The clock.

use std::time::SystemTime;

use tidegate_core::time::Millis;

/// A clock before 1970 counts as 1970.
pub fn now() -> Millis {
    let now = to_millis(SystemTime::now());
    // Tests of a clock that jumps.
    let ahead = cfg!(debug_assertions).then(|| std::env::var("TEST_TIDEGATE_CLOCK").ok()).flatten();
    match ahead.and_then(|ms| ms.parse().ok()) {
        Some(ms) => Millis(now.0.saturating_add_signed(ms)),
        None => now,
    }
}

pub fn to_millis(time: SystemTime) -> Millis {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(since.as_millis() as u64)
}
