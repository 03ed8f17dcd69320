//! `own-settings`: files that hold Tidegate's settings and hooks.

use serde_json::json;
use tidegate_core::feature::own_settings::OwnFile;

use super::{Room, plain};

pub(super) static OWN_SETTINGS: Room = Room {
    begin: |case| {
        let command = "echo > .claude/settings.json";
        case.put("tool_input", json!({"file_path": "/p/f", "notebook_path": "/p/f", "command": command}));
    },
    given: &[
        ("tool", |case, cell| case.put("tool_name", cell)),
        ("file", |case, cell| {
            case.facts.own_settings = match cell {
                "config" => Some(OwnFile::Config),
                "project config" => Some(OwnFile::ProjectConfig),
                "host" => Some(OwnFile::Host),
                "state" => Some(OwnFile::State),
                "program" => Some(OwnFile::Program),
                "plugin" => Some(OwnFile::Plugin),
                "memory" => Some(OwnFile::Memory),
                _ => None,
            }
        }),
        ("mode", |case, cell| {
            if cell != "-" {
                case.put("permission_mode", cell);
            }
        }),
    ],
    // Also where it does not take part.
    expected: &[("call", |decided| {
        decided.part.as_ref().map_or("pass", |part| part.verdict.call.name()).into()
    })],
    ..plain("own-settings")
};
