//! Codex's variables: a hook gets none of the session, a command of its shell does.

use crate::host::variables::{HostVariables, Lookup};

pub(super) fn read(get: Lookup<'_>) -> HostVariables {
    let path = |name| get(name).filter(|value| !value.is_empty()).map(Into::into);
    let text = |name| get(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
    HostVariables {
        config: path("CODEX_HOME"),
        plugin: path("PLUGIN_ROOT"),
        session: text("CODEX_SESSION_ID").or_else(|| text("CODEX_THREAD_ID")),
        ..HostVariables::default()
    }
}
