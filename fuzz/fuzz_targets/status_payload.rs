//! Any bytes on the status line's stdin; the numbers of the host's own meter are unknown or above zero.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::host::claude_code::payload as wire;
use tidegate_core::host::claude_code::payload::{ContextWindow, StatusPayload};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(status) = wire::read_object::<StatusPayload<'_>>(bytes) {
        let window = status.context_window.get();
        assert_ne!(window.and_then(ContextWindow::used), Some(0));
        assert_ne!(window.and_then(ContextWindow::window), Some(0));
    }
});
