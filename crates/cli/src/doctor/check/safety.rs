//! Entries of version 0.1.0 that other agents misread: they would run the payload of a hook as a shell script.

use std::path::{Path, PathBuf};

use super::super::finding::{Findings, count};
use super::super::gathered::Gathered;
use crate::host::agent_homes::AgentHomes;
use crate::host::settings_file::{Scope, is_same, text};
use crate::install::misread::{self, Misread};
use crate::install::record::Records;
use crate::install::shell::quoted;

/// The kind of file decides the fix.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Settings(Scope),
    OtherAgent,
    PluginCopy,
    LivePlugin,
    OtherProject(&'a Path),
}

pub(super) fn check(seen: &Gathered, found: &mut Findings) {
    let homes = AgentHomes::find(&seen.env.place);
    let mut files: Vec<(PathBuf, Origin<'_>)> =
        seen.settings.iter().map(|file| (file.path.clone(), Origin::Settings(file.scope))).collect();
    let others = homes.settings_of_others(seen.project.as_deref());
    files.extend(others.into_iter().map(|file| (file, Origin::OtherAgent)));
    files.extend(homes.plugin_copies().into_iter().map(|file| (file, Origin::PluginCopy)));
    files.extend(homes.plugins_in_place().into_iter().map(|file| (file, Origin::LivePlugin)));
    let installs = Records::look(&seen.env).map(|records| records.settings()).unwrap_or_default();
    files.extend(installs.iter().map(|(root, file)| (file.clone(), Origin::OtherProject(root))));

    let mut looked_at: Vec<PathBuf> = Vec::new();
    for (file, origin) in &files {
        let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.clone());
        if looked_at.contains(&real) {
            continue;
        }
        looked_at.push(real);
        let Some(text) = text(file) else { continue };
        let mut misread = misread::count_in(&text);
        if matches!(origin, Origin::PluginCopy | Origin::LivePlugin) {
            // Hooks of other plugins are for their authors to change.
            misread = Misread { ours: misread.ours, ..Misread::default() };
        }
        report(file, *origin, misread, seen, found);
    }
    if found.is_empty() {
        found.ok("no hook entry found that another agent would run as a script");
    }
}

fn report(file: &Path, origin: Origin<'_>, misread: Misread, seen: &Gathered, found: &mut Findings) {
    let Misread { ours, bare, wrapped } = misread;
    let shown = file.display();
    if ours > 0 {
        let fix = match origin {
            Origin::Settings(Scope::Managed) => {
                "ask the person who manages this machine to remove them".to_owned()
            }
            Origin::Settings(scope) => {
                let commit = if scope == Scope::Shared { "; then commit the file" } else { "" };
                format!("`{}` replaces them{commit}", seen.init_command(scope))
            }
            Origin::OtherAgent => {
                format!("`{}` replaces them; restart that agent", seen.init_command(seen.scope()))
            }
            Origin::PluginCopy => format!(
                "update the plugin in that agent (Claude Code: `claude plugin update tidegate@tidegate`), or run `{}`, \
                 which replaces them, too",
                seen.init_command(seen.scope())
            ),
            Origin::LivePlugin => {
                "update that checkout (`git pull`), then restart the agents that use it".to_owned()
            }
            Origin::OtherProject(root) if seen.host.as_deref().is_some_and(|host| is_same(host, root)) => {
                "`tidegate init --user` replaces them".to_owned()
            }
            Origin::OtherProject(root) => {
                let shared = if file.ends_with("settings.json") { " --shared" } else { "" };
                format!("`tidegate init --project {}{shared}` replaces them", quoted(root))
            }
        };
        found.problem(
            format!(
                "{shown}: {} of Tidegate 0.1.0 put `sh` into `command` and the rest into `args`. Agents that ignore \
                 `args` (Codex, Copilot CLI, Qwen, Claude Code before 2.1.139) run prompts and files as shell scripts",
                count(ours, "hook")
            ),
            fix,
        );
    }
    if bare > 0 {
        found.problem(
            format!(
                "{shown}: {} with only a shell as `command`, which runs prompts and files as shell scripts. \
                 Importers of other agents make such hooks from those of Tidegate 0.1.0",
                count(bare, "hook")
            ),
            format!("delete from {shown} each hook whose `command` is only a shell's name"),
        );
    }
    if wrapped > 0 {
        found.problem(
            format!(
                "{shown}: {} with a shell as `command` and a script around Tidegate in `args`. Agents that ignore `args` \
                 run prompts and files as shell scripts",
                count(wrapped, "hook")
            ),
            format!("write each of them in {shown} as one line in `command`, without `args`"),
        );
    }
}
