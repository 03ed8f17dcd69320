//! Qwen Code's variables. It also sets some of Gemini CLI and Claude Code, which identify nothing.

use crate::host::variables::{HostVariables, Lookup};

pub(super) fn read(get: Lookup<'_>) -> HostVariables {
    let path = |name| get(name).filter(|value| !value.is_empty()).map(Into::into);
    let text = |name| get(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
    // A hook gets the session, too. Only a command of the shell tool gets the other one.
    let is_shell = text("QWEN_CODE").is_some();
    HostVariables {
        config: path("QWEN_HOME"),
        project: path("QWEN_PROJECT_DIR"),
        session: text("QWEN_CODE_SESSION_ID").filter(|_| is_shell),
        ..HostVariables::default()
    }
}
