//! The clock.

use std::time::SystemTime;

use tidegate_core::time::Millis;

/// Now. A clock before 1970 is 1970.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(since.as_millis() as u64)
}
