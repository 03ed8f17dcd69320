//! Time limits, longer in tests: on a busy machine a hook is late through no fault of its own. Release builds ignore
//! these variables.

use std::time::Duration;

/// A deadline.
pub(crate) fn stretch(limit: Duration) -> Duration {
    limit * times("TEST_TIDEGATE_PATIENCE").unwrap_or(1)
}

/// The wait for a lock. Apart, because a test that holds one wants the end of the wait and not the deadline.
pub(crate) fn limit_lock(limit: Duration) -> Duration {
    times("TEST_TIDEGATE_LOCK_MS").map_or(limit, |ms| Duration::from_millis(ms.into()))
}

/// Time for what is still to be written or read after one. Tests that run into deadlines want to see that, too.
pub(crate) fn stretch_grace(grace: Duration) -> Duration {
    times("TEST_TIDEGATE_PATIENCE").map_or(grace, |_| Duration::from_secs(20))
}

/// Time for something that the client does. Apart, because in most tests there is none.
pub(crate) fn stretch_for_client(limit: Duration) -> Duration {
    limit * times("TEST_TIDEGATE_CLIENT_PATIENCE").unwrap_or(1)
}

fn times(variable: &str) -> Option<u32> {
    cfg!(debug_assertions).then(|| std::env::var(variable).ok()).flatten()?.parse().ok()
}
