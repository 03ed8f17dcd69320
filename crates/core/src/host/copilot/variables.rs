//! Copilot's variables. A command of its shell also has the session's id, a hook does not.

use crate::host::variables::{HostVariables, Lookup};

pub(super) fn read(get: Lookup<'_>) -> HostVariables {
    let path = |name| get(name).filter(|value| !value.is_empty()).map(Into::into);
    let text = |name| get(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
    HostVariables {
        config: path("COPILOT_HOME"),
        project: path("COPILOT_PROJECT_DIR"),
        plugin: path("COPILOT_PLUGIN_ROOT"),
        session: text("COPILOT_AGENT_SESSION_ID"),
        ..HostVariables::default()
    }
}
