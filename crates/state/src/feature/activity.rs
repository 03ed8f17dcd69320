//! The activity that a prompt asks for, by its words or by a language model, and the stock files for it.

use std::io;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tidegate_core::event::SessionId;
use tidegate_core::feature::CONTEXT_FOLDER;
use tidegate_core::feature::activity;
use tidegate_core::feature::activity::classifier::{Phase, classify_prompt};
use tidegate_core::feature::activity::effect::Effect;
use tidegate_core::feature::activity::facts::Needs;
use tidegate_core::feature::facts::Facts;
use tidegate_core::time::Millis;

use crate::child;
use crate::feature::HookContext;
use crate::host::{has_skill, skill_folders};

pub(super) fn read_facts(facts: &mut Facts<'_>, needs: Needs, here: &HookContext<'_>) {
    if needs.guess {
        facts.activity.guess = facts.event.free_prompt().map(|prompt| classify_prompt(&prompt));
    }
    if needs.stock {
        facts.activity.stock = list_stock(here.root);
    }
    if needs.installed {
        facts.activity.installed = list_installed(facts, here);
    }
}

/// Existing stock files that a phase may name.
fn list_stock(root: Option<&Path>) -> Vec<String> {
    let Some(folder) = root.map(|root| root.join(CONTEXT_FOLDER)) else { return Vec::new() };
    let all = activity::helpful_stock(Phase::Research).iter();
    all.filter(|name| folder.join(name).is_file()).map(ToString::to_string).collect()
}

fn list_installed(facts: &Facts<'_>, here: &HookContext<'_>) -> Vec<String> {
    let folders = skill_folders(facts.event.host, here.root, here.place, here.plugin);
    let is_there = |name: &&str| has_skill(facts.event.host, name, &folders, here.place);
    let usual =
        activity::begun_or_late_phase(facts, here.config).map(activity::usual_skills).unwrap_or_default();
    activity::nameable_skills(here.config)
        .chain(usual.iter().copied())
        .filter(is_there)
        .map(str::to_owned)
        .collect()
}

pub(super) fn carry_out(effect: &Effect, here: &HookContext<'_>) -> io::Result<()> {
    let Effect::Ask { prompt, at } = effect;
    ask_backend(here.session, prompt, *at)
}

/// Starts the process without waiting: a model takes seconds. Its output is discarded, because the client would wait
/// for it.
fn ask_backend(session: &SessionId, prompt: &str, at: Millis) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["activity", "ask", "--session", session.as_str(), "--prompt-at", &at.0.to_string()]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    child::set_own_group(&mut command);
    // Fits into the pipe's buffer, so this does not block.
    command.spawn()?.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(prompt.as_bytes()))
}
