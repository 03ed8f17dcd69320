//! Own settings: when an agent edits Tidegate's config, state, memory or program, or the host's hook settings, a
//! person is asked first.
//!
//! The rules, case by case, are in `own_settings.md` next to this file.

mod words;

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::Marks;
use crate::feature::verdict::{Audience, Call, NoEffect, Say, Verdict};
use crate::feature::{Feature, Mode, Policy};
use crate::host::Host;
use crate::settings::section::section;
use crate::settings::setting::choices;
use crate::text::quoted::quoted_line;

section! {
    /// Section `[own_settings]`.
    Settings "own_settings" {
        /// When the agent edits Tidegate's config or Claude Code's hooks: ask the person (`ask`), only record it (`shadow`), or do not look (`off`).
        mode: OwnSettingsMode = OwnSettingsMode::Ask, Tightens;
    }
    presets {
        mode: OwnSettingsMode::Shadow, OwnSettingsMode::Ask;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnSettingsMode {
    Ask,
    Shadow,
    Off,
}

choices!(OwnSettingsMode {
    "off" => OwnSettingsMode::Off,
    "shadow" => OwnSettingsMode::Shadow,
    "ask" => OwnSettingsMode::Ask,
});

/// A command line that writes one of Tidegate's files contains one of these, or a name of the host's settings: a file
/// name, or the folder it changes to first.
const OWN_NAMES: [&str; 2] = ["tidegate", "memory.db"];

pub const ID: &str = "own-settings";

pub struct Room;

impl Feature for Room {
    type Needs = bool;
    type Facts = Option<OwnFile>;
    type Effect = NoEffect;
}

/// A file that decides what Tidegate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnFile {
    /// The user's config.
    Config,
    /// The project's config, in the host's own folder.
    ProjectConfig,
    /// The host's settings, which contain Tidegate's hooks.
    Host,
    /// Tidegate's private state.
    State,
    /// The program that hooks start, or a file that would be found in its place.
    Program,
    /// Registers or locates Tidegate's plugin.
    Plugin,
    Memory,
}

pub struct OwnSettings;

impl Policy for OwnSettings {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.own_settings.mode {
            OwnSettingsMode::Ask => Mode::Live,
            OwnSettingsMode::Shadow => Mode::Shadow,
            OwnSettingsMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, _: Option<&Marks>) -> Option<Needs> {
        let edits = event.kind == EventKind::PreToolUse && event.edit_paths().is_some();
        let names_one =
            |line: &str| OWN_NAMES.iter().chain(event.host.settings_names()).any(|name| line.contains(name));
        let may_write = event.command_line().is_some_and(names_one);
        (edits || may_write).then_some(Needs { own_settings: true, ..Needs::default() })
    }

    fn decide(&self, facts: &Facts<'_>, _: &Config) -> Verdict {
        let Some(file) = facts.own_settings else { return Verdict::silent("not one of Tidegate's files") };
        if facts.event.kind != EventKind::PreToolUse {
            return tell_person(facts, file);
        }
        let paths = facts.event.edit_paths().and_then(Result::ok).unwrap_or_default();
        let path = &quoted_line(&paths.join(", "));
        match why_unasked(facts.event) {
            None => Verdict {
                call: Call::Ask,
                reason: Some(words::edit_asked(facts.lang, file, path)),
                because: cause_for(file),
                ..Verdict::pass()
            },
            Some(why) => {
                let text = words::edit_denied(facts.lang, file, path, why);
                let say = Say { to: Audience::User, text, weight: 90, explains: true, when_said: Vec::new() };
                let unasked = match why {
                    Unasked::Mode(mode) => format!("in the mode `{mode}` the client would not ask them"),
                    Unasked::Host(host) => format!("a hook of {host} cannot ask them"),
                };
                let reason = format!(
                    "Leave {path} to the person: it decides which checks run here, and {unasked}. They can edit it themselves."
                );
                Verdict {
                    call: Call::Deny,
                    reason: Some(reason),
                    because: "the host would not ask the person",
                    says: vec![say],
                    ..Verdict::pass()
                }
            }
        }
    }
}

/// The writes of a command line are known only afterwards: the person is told.
fn tell_person(facts: &Facts<'_>, file: OwnFile) -> Verdict {
    let text = words::changed(facts.lang, file);
    let say = Say { to: Audience::User, text, weight: 90, explains: true, when_said: Vec::new() };
    Verdict { because: "a command line changed one of Tidegate's files", says: vec![say], ..Verdict::pass() }
}

/// Why no person would be asked.
#[derive(Clone, Copy, Debug)]
enum Unasked<'a> {
    /// The permission mode.
    Mode(&'a str),
    /// A hook of this host cannot ask, whatever the mode.
    Host(&'static str),
}

fn why_unasked<'a>(event: &'a Event<'_>) -> Option<Unasked<'a>> {
    if event.host.deliverable(event.kind, Call::Ask) != Call::Ask {
        return Some(Unasked::Host(Host::title(event.host.name())));
    }
    let permission = event.permission.as_ref().filter(|permission| permission.asks_nobody)?;
    Some(Unasked::Mode(permission.mode.as_ref()))
}

fn cause_for(file: OwnFile) -> &'static str {
    match file {
        OwnFile::Config | OwnFile::ProjectConfig => "the file is Tidegate's config",
        OwnFile::Host => "the file holds the host's hooks",
        OwnFile::State => "the file is Tidegate's state",
        OwnFile::Program => "the file is the program that hooks start",
        OwnFile::Plugin => "the file registers Tidegate's plugin",
        OwnFile::Memory => "the file is Tidegate's memory",
    }
}
