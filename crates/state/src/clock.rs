//! The clock.

use std::time::SystemTime;

use tidegate_core::time::Millis;

/// Now. A clock before 1970 is 1970.
pub fn now() -> Millis {
    to_millis(SystemTime::now())
}

/// A time of the system's, of a file for example.
pub fn to_millis(time: SystemTime) -> Millis {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(since.as_millis() as u64)
}
