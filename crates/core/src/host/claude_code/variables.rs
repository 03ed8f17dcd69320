//! Claude Code's variables.

use super::settings_file::parse_tokens;
use crate::host::variables::{CompactionVariables, HostVariables, Lookup};

pub(super) fn read(get: Lookup<'_>) -> HostVariables {
    let path = |name| get(name).filter(|value| !value.is_empty()).map(Into::into);
    let text = |name| get(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
    // In the syntax of the client's own switches.
    let on = |name| {
        text(name)
            .is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on"))
    };
    HostVariables {
        config: path("CLAUDE_CONFIG_DIR"),
        project: path("CLAUDE_PROJECT_DIR"),
        plugin: path("CLAUDE_PLUGIN_ROOT"),
        client: text("CLAUDE_PID").and_then(|id| id.parse().ok()).filter(|id| *id > 0),
        session: text("CLAUDE_CODE_SESSION_ID"),
        attended: text("CLAUDE_CODE_SESSION_ATTENDED"),
        compaction: CompactionVariables {
            off: on("DISABLE_AUTO_COMPACT") || on("DISABLE_COMPACT"),
            window: text("CLAUDE_CODE_AUTO_COMPACT_WINDOW").and_then(|value| parse_tokens(&value)),
            percent: text("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")
                .and_then(|value| value.trim_end_matches('%').parse().ok())
                .filter(|percent| *percent > 0.0 && *percent <= 100.0),
            no_long_context: on("CLAUDE_CODE_DISABLE_1M_CONTEXT"),
            unknown_window: text("CLAUDE_CODE_MAX_CONTEXT_TOKENS").and_then(|value| parse_tokens(&value)),
        },
    }
}
