//! Any settings file of the host.

use tidegate_core::host::Host;
use tidegate_core::host::claude_code::settings_file::HostFile;
use tidegate_core::host::window::HostSettings;

pub fn holds(bytes: &[u8]) {
    let Ok(file) = HostFile::read(bytes) else { return };
    let host = HostSettings { auto_compact_windows: file.windows().collect(), ..HostSettings::default() };
    assert!(host.auto_compact_windows.len() <= 33);
    let window =
        Host::ClaudeCode.window("claude-opus-5-5", None, 0, &host).expect("Claude Code knows windows");
    assert!(window.compact_at.is_none_or(|at| at > 0 && at < window.tokens));
}
