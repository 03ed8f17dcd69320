//! Hosts into whose own files `init --host` writes, besides Claude Code: one row each.
//!
//! Such a file is read by no other host, so its entries may name the host.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tidegate_core::host::Host;
use tidegate_state::place::PlaceEnv;

use super::claude_code::registrations::{Caller, OwnEntry, Registration, is_ours};
use super::claude_code::settings_file::{self, Scope};
use super::claude_code::settings_text;
use super::{codex, copilot, opencode, qwen};
use crate::bilingual::Bilingual;
use crate::json_text::Fault;
use crate::path::is_same_place;

/// The hooks of a host, and the files that have them.
#[derive(Debug)]
pub(crate) struct HostHooks {
    pub(crate) host: Host,
    /// Below a project.
    pub(crate) in_project: &'static str,
    /// Below the person's folder of the host.
    pub(crate) in_home: &'static str,
    /// The person's folder of the host, below the home directory.
    pub(crate) home: &'static str,
    /// Other folders there that it makes.
    pub(crate) other_folders: &'static [&'static str],
    /// Where it is instead, if this is set.
    pub(crate) home_variable: &'static str,
    /// Its folder in a project.
    pub(crate) project_home: &'static str,
    pub(crate) registrations: &'static [Registration],
    /// One entry, from the path of the program and its arguments.
    pub(crate) handler: fn(&str, &[&str]) -> Value,
    /// The same in a plugin.
    pub(crate) plugin_handler: fn(&[&str]) -> Value,
    /// What a person has to do before the hooks run.
    pub(crate) next: fn() -> Bilingual,
    /// Why it refuses a whole file of hooks, if it does.
    pub(crate) fault: fn(&str) -> Option<Fault>,
    /// A gate that cannot be started denies.
    pub(crate) denies_without_program: bool,
}

/// Two rows are the same if they are of one host.
impl PartialEq for HostHooks {
    fn eq(&self, other: &HostHooks) -> bool {
        self.host == other.host
    }
}

pub(crate) const HOSTS: &[&HostHooks] = &[
    &codex::registrations::HOOKS,
    &copilot::registrations::HOOKS,
    &qwen::registrations::HOOKS,
    &opencode::registrations::HOOKS,
];

impl HostHooks {
    pub(crate) fn of(host: Host) -> Option<&'static HostHooks> {
        HOSTS.iter().copied().find(|hooks| hooks.host == host)
    }

    /// The person's folder.
    pub(crate) fn person_folder(&self, place: &PlaceEnv) -> Option<PathBuf> {
        let moved = std::env::var_os(self.home_variable).map(PathBuf::from).filter(|path| path.is_absolute());
        moved.or_else(|| place.home.as_ref().map(|home| home.join(self.home)))
    }

    /// The file of a project, else the person's.
    pub(crate) fn file(&self, project: Option<&Path>, place: &PlaceEnv) -> Option<PathBuf> {
        match project {
            Some(project) => Some(project.join(self.in_project)),
            None => Some(self.person_folder(place)?.join(self.in_home)),
        }
    }

    /// Its name for people.
    pub(crate) fn title(&self) -> &'static str {
        Host::title(self.host.name())
    }

    /// The project's and the person's, each once.
    pub(crate) fn files(&self, project: Option<&Path>, place: &PlaceEnv) -> Vec<(Scope, PathBuf)> {
        let person = self.file(None, place);
        let project = project.and_then(|project| self.file(Some(project), place));
        let project =
            project.filter(|file| person.as_ref().is_none_or(|person| !is_same_place(person, file)));
        let project = project.map(|file| (Scope::Local, file));
        project.into_iter().chain(person.map(|file| (Scope::User, file))).collect()
    }

    /// The host reads this file, in this project or everywhere.
    pub(crate) fn is_file(&self, file: &Path, project: &Path, place: &PlaceEnv) -> bool {
        self.files(Some(project), place).iter().any(|(_, known)| is_same_place(known, file))
    }

    /// A file here or of the person has Tidegate's hooks.
    pub(crate) fn is_installed(&self, project: Option<&Path>, place: &PlaceEnv, program: &str) -> bool {
        let text = |(_, file): (Scope, PathBuf)| settings_file::read_text(&file);
        self.files(project, place).into_iter().filter_map(text).any(|text| self.has_ours(&text, program))
    }

    /// Whether the text of its file calls Tidegate.
    pub(crate) fn has_ours(&self, text: &str, program: &str) -> bool {
        if self.host == Host::OpenCode {
            opencode::is_shim(text)
        } else {
            settings_text::has_ours(text, program)
        }
    }

    /// What `doctor` calls the registrations that the host's file lacks. Its gate may be gone while the same event is still
    /// registered for advice, so an event alone says nothing.
    pub(crate) fn missing_registrations(&'static self, file: &Value, program: &str) -> Vec<String> {
        let missing = self.registrations.iter().filter(|wanted| !self.has(file, wanted, program));
        let name = |wanted: &Registration| match wanted.matcher {
            Some(matcher) => format!("{} ({matcher})", wanted.event.name()),
            None => wanted.event.name().to_owned(),
        };
        missing.map(name).collect()
    }

    fn has(&'static self, file: &Value, wanted: &Registration, program: &str) -> bool {
        let right = wanted.handler(Caller::OfHost(self, program));
        let Some(words) = OwnEntry::read(&right).map(|entry| entry.words) else { return false };
        let fits = |handler: &Value| {
            is_ours(handler, program)
                && OwnEntry::read(handler).is_some_and(|entry| entry.words == words)
                // For example in the background, where nobody waits for its answer.
                && (!wanted.gate || besides_call(handler) == besides_call(&right))
        };
        // Both match everything, like no matcher.
        let matcher = |group: &Value| {
            group.get("matcher").filter(|matcher| **matcher != "" && **matcher != "*").cloned()
        };
        let groups = file["hooks"][wanted.event.name()].as_array().into_iter().flatten();
        let mut groups = groups.filter(|group| matcher(group) == wanted.matcher.map(Value::from));
        groups.any(|group| group["hooks"].as_array().is_some_and(|handlers| handlers.iter().any(fits)))
    }

    /// The person uses this host.
    pub(crate) fn is_found(&self, place: &PlaceEnv) -> bool {
        let others =
            place.home.iter().flat_map(|home| self.other_folders.iter().map(|folder| home.join(folder)));
        self.person_folder(place).into_iter().chain(others).any(|folder| folder.is_dir())
    }
}

/// A time limit of the person's own changes nothing but the limit.
fn besides_call(handler: &Value) -> Map<String, Value> {
    let mut members = handler.as_object().cloned().unwrap_or_default();
    members.retain(|key, value| match key.as_str() {
        "command" | "exec" | "args" => false,
        "timeout" => !value.is_number(),
        _ => true,
    });
    members
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::host::claude_code::registrations::group_handlers;

    #[test]
    fn a_gate_that_is_gone_is_missed_although_its_event_is_registered() {
        const PROGRAM: &str = "/x/tidegate";
        for hooks in HOSTS.iter().copied().filter(|hooks| hooks.host != Host::OpenCode) {
            let groups = group_handlers(Caller::OfHost(hooks, PROGRAM));
            let groups: Map<String, Value> =
                groups.into_iter().map(|(event, groups)| (event.to_owned(), json!(groups))).collect();
            let file = json!({ "hooks": groups });
            let missing = |change: &dyn Fn(&mut Value)| {
                let mut file = file.clone();
                change(&mut file);
                hooks.missing_registrations(&file, PROGRAM)
            };
            let host = hooks.host.name();
            assert_eq!(missing(&|_| ()), Vec::<String>::new(), "{host}");
            let gate = hooks.registrations.iter().find(|it| it.gate).unwrap();
            let named = [format!("PreToolUse ({})", gate.matcher.unwrap())];
            let changes: [&dyn Fn(&mut Value); 6] = [
                &|gates| drop(gates.as_array_mut().unwrap().remove(0)),
                &|gates| gates[0]["matcher"] = json!("Nothing"),
                &|gates| gates[0]["hooks"][0] = gates[1]["hooks"][0].clone(),
                &|gates| gates[0]["hooks"][0]["async"] = json!(true),
                &|gates| gates[0]["hooks"][0] = json!({ "type": "command", "command": PROGRAM }),
                &|gates| {
                    let text = gates[0]["hooks"][0].to_string().replace("PreToolUse", "PostToolUse");
                    gates[0]["hooks"][0] = serde_json::from_str(&text).unwrap();
                },
            ];
            for (n, change) in changes.into_iter().enumerate() {
                assert_eq!(missing(&|file| change(&mut file["hooks"]["PreToolUse"])), named, "{host} {n}");
            }
            let limit = |file: &mut Value| file["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = json!(20);
            assert_eq!(missing(&limit), Vec::<String>::new(), "{host}");
            let no_stop = |file: &mut Value| drop(file["hooks"].as_object_mut().unwrap().remove("Stop"));
            assert_eq!(missing(&no_stop), ["Stop"], "{host}");
        }
    }
}
