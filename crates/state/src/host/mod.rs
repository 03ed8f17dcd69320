//! Files of hosts, one folder for each, and transcripts, whose lines each host parses in its own way.

pub mod claude_code;
pub mod codex;
pub mod transcript;

use std::path::Path;

use tidegate_core::host::Host;
use tidegate_core::host::window::HostSettings;

use crate::place::PlaceEnv;

/// A host's own settings about compaction. `moved`: the folder of another host than Claude Code, where a variable
/// names it.
pub fn settings(host: Host, project: Option<&Path>, place: &PlaceEnv, moved: Option<&Path>) -> HostSettings {
    match host {
        Host::Codex => codex::settings::read(project, codex::settings::home(place, moved).as_deref()),
        _ => claude_code::settings::read(project, place.host().as_deref()),
    }
}
