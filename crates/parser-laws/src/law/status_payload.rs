//! Any bytes on the status line's stdin; the numbers of the host's own meter are unknown or above zero.

use tidegate_core::host::Host;

pub fn holds(bytes: &[u8]) {
    if let Some(status) = Host::ClaudeCode.status(bytes) {
        assert_ne!(status.context.used, Some(0));
        assert_ne!(status.context.window, Some(0));
    }
}
