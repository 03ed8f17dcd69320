//! The clock.

use std::time::SystemTime;

use tidegate_core::time::Millis;

/// A clock before 1970 counts as 1970.
pub fn now() -> Millis {
    to_millis(SystemTime::now())
}

pub fn to_millis(time: SystemTime) -> Millis {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(since.as_millis() as u64)
}
