//! The part of an install that Claude Code reads: entries in its settings, and the skills, commands and rules.

use std::path::Path;

use super::registrations::Caller;
use super::settings_text::{Entries, EntryContext};
use super::shipped::{META_TAG, SHIPPED, Shipped};
use super::{misread, settings_file, settings_text};
use crate::error::CliError;
use crate::install::place::Place;
use crate::install::plan::{Plan, Texts};
use crate::install::record::{Kind, Record, Records};
use crate::install::step::{Step, What};
use crate::install::target::Target;
use crate::path::is_same_place;

pub(crate) fn plan_entries(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let own = target.own_settings();
    if let Some(shared) = target.shared_settings().filter(|_| target.shared) {
        let hooks = Entries { hooks: Some(Caller::Shared), status_line: false };
        plan_settings(target, shared, &hooks, "hooks", plan)?;
        let line = Entries { hooks: None, status_line: true };
        plan_settings(target, own, &line, "status line", plan)?;
    } else {
        let both = Entries { hooks: Some(Caller::Program(&target.call)), status_line: true };
        plan_settings(target, own, &both, "hooks and status line", plan)?;
    }
    plan_misread(target, plan)
}

fn plan_settings(
    target: &Target,
    place: Place,
    entries: &Entries<'_>,
    what: &str,
    plan: &mut Plan,
) -> Result<(), CliError> {
    let old = place.read()?;
    let kept = plan.record.of(&place.file).and_then(|kept| kept.original.clone());
    let around =
        EntryContext { program: &target.call, farther: target.farther_line(), original: kept.as_deref() };
    let refused = |refusal: settings_text::Refusal| place.refused(&refusal.fault, refusal.hint);
    let new = settings_text::add_entries(old.as_deref(), entries, &around).map_err(refused)?;
    let new = misread::replace_entries(&new).ok().flatten().unwrap_or(new);
    let without_us = match &old {
        Some(old) => settings_text::remove_entries(old, &around).map_err(refused)?,
        None => None,
    };
    let replaced = old.as_deref().is_some_and(|old| misread::count_in(old).ours > 0);
    let commit = if replaced { commit_of(target, &place) } else { String::new() };
    let (written, there) = (format!("{what} written{commit}"), format!("{what} there already"));
    plan.write(place, Kind::Settings, Texts { old, new, without_us }, (&written, &there))
}

/// Gives entries of 0.1.0 the safe form in every file that is visible from here.
fn plan_misread(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    for place in target.misread_places() {
        if plan.steps.iter().any(|step| is_same_place(&step.place.file, &place.file)) {
            continue;
        }
        // No agent runs hooks from a file that cannot be read.
        let Some(old) = settings_file::read_text(&place.file) else { continue };
        let Ok(Some(new)) = misread::replace_entries(&old) else { continue };
        if place.check_writable().is_err() {
            let detail = "other agents run its hooks as shell scripts, and it cannot be written: make it writable, then \
                          run this again";
            plan.steps.push(Step::still(place, What::Kept, detail));
            continue;
        }
        let commit = commit_of(target, &place);
        let detail = &format!("hooks that other agents would run as shell scripts replaced{commit}");
        match plan.record.of(&place.file).map(|kept| kept.original.clone()) {
            Some(original) => {
                let around =
                    EntryContext { program: &target.call, farther: None, original: original.as_deref() };
                let without_us = settings_text::remove_entries(&old, &around).ok().flatten();
                let texts = Texts { old: Some(old), new, without_us };
                plan.write(place, Kind::Settings, texts, (detail, detail))?;
            }
            None => plan.steps.push(Step::text(place, Kind::Settings, Some(old), Some(new), detail)?),
        }
    }
    Ok(())
}

/// Other checkouts keep the old entries until they get the commit.
fn commit_of(target: &Target, place: &Place) -> String {
    let is_own = place.file.ends_with("settings.local.json");
    if is_own || !target.is_in_git() || !place.file.starts_with(&target.root) {
        return String::new();
    }
    let shown = place.shown.strip_prefix(".").unwrap_or(&place.shown);
    format!("; commit {}", shown.display())
}

pub(crate) fn plan_shipped_files(
    target: &Target,
    records: &Records,
    preset: Option<&str>,
    plan: &mut Plan,
) -> Result<(), CliError> {
    plan_shipped(target, records, SHIPPED.iter(), plan)?;
    plan_rule(target, records, preset, plan)
}

/// The rule comes with the preset that needs it, is updated with the program, and goes with another preset.
fn plan_rule(
    target: &Target,
    records: &Records,
    preset: Option<&str>,
    plan: &mut Plan,
) -> Result<(), CliError> {
    let place = target.in_host_folder(META_TAG.path);
    match preset {
        Some("strict") => plan_shipped(target, records, [&META_TAG].into_iter(), plan),
        None if plan.record.of(&place.file).is_some() => {
            plan_shipped(target, records, [&META_TAG].into_iter(), plan)
        }
        Some(_) if plan.record.of(&place.file).is_some() => {
            plan_back(place, Some(&META_TAG), &records.others(&target.root), plan)
        }
        _ => Ok(()),
    }
}

fn plan_shipped<'a>(
    target: &Target,
    records: &Records,
    files: impl Iterator<Item = &'a Shipped>,
    plan: &mut Plan,
) -> Result<(), CliError> {
    let others = records.others(&target.root);
    for file in files {
        let place = target.in_host_folder(file.path);
        // Not a readable text: certainly not shipped by Tidegate.
        let Ok(old) = place.read() else {
            plan.steps.push(Step::still(place, What::Kept, "kept yours"));
            continue;
        };
        let is_ours = old.as_deref().is_none_or(|old| old == file.text)
            || plan.record.untouched(&place.file, old.as_deref()).is_some();
        // The home directory as a project has the same files as the user: they stay until both installs are gone.
        let other = others.iter().find(|other| old.is_some() && other.of(&place.file).is_some());
        if other.is_some() && is_ours && plan.record.of(&place.file).is_none() {
            plan.record.note(&place.file, Kind::Shipped, None, None, file.text, plan.now);
            plan.inherit_folders(&others, &place.file);
        }
        if is_ours {
            let texts = Texts { old, new: file.text.to_owned(), without_us: None };
            plan.write(place, Kind::Shipped, texts, ("written", "there already"))?;
        } else {
            plan.steps.push(Step::still(place, What::Kept, "kept yours"));
        }
    }
    Ok(())
}

/// Returns whether an entry was removed.
pub(crate) fn plan_entries_back(target: &Target, plan: &mut Plan) -> Result<bool, CliError> {
    let mut removed = false;
    if let Some(shared) = target.shared_settings().filter(|_| target.shared) {
        removed |= plan_settings_back(target, shared, plan)?;
    }
    removed |= plan_settings_back(target, target.own_settings(), plan)?;
    Ok(removed)
}

fn plan_settings_back(target: &Target, place: Place, plan: &mut Plan) -> Result<bool, CliError> {
    let nothing = "nothing of ours there";
    let Some(old) = place.read()? else {
        plan.record.forget(&place.file);
        plan.steps.push(Step::still(place, What::Unchanged, nothing));
        return Ok(false);
    };
    // An untouched file gets its original text back; otherwise only Tidegate's entries are removed.
    let left = if let Some(kept) = plan.record.untouched(&place.file, Some(&old)) {
        kept.original.clone()
    } else {
        let kept = plan.record.of(&place.file).and_then(|kept| kept.original.clone());
        let around =
            EntryContext { program: &target.call, farther: target.farther_line(), original: kept.as_deref() };
        let left = settings_text::remove_entries(&old, &around);
        left.map_err(|refusal| place.refused(&refusal.fault, refusal.hint))?
    };
    let removed = plan.give_back(place.clone(), Kind::Settings, old, left, "our entries removed")?;
    if !removed {
        plan.steps.push(Step::still(place, What::Unchanged, nothing));
    }
    Ok(removed)
}

/// The shared settings, if an `uninstall` without `--shared` leaves hooks in them.
pub(crate) fn shared_hooks_that_stay(target: &Target) -> Option<Place> {
    let shared = target.shared_settings().filter(|_| !target.shared)?;
    let text = shared.read().ok().flatten()?;
    settings_text::has_shared_hooks(&text, &target.call).then_some(shared)
}

pub(crate) fn plan_shipped_back(target: &Target, records: &Records, plan: &mut Plan) -> Result<(), CliError> {
    let known = plan.record.files.iter().filter(|kept| kept.kind == Kind::Shipped);
    let known = known.filter_map(|kept| Some(kept.file.strip_prefix(&target.root).ok()?.to_owned()));
    let mut places: Vec<Place> = known.map(|path| target.place(path)).collect();
    let current = SHIPPED.iter().chain([&META_TAG]).map(|file| target.in_host_folder(file.path));
    let new = current.filter(|place| places.iter().all(|known| known.file != place.file));
    places.extend(new.collect::<Vec<_>>());
    let others = records.others(&target.root);
    for place in places {
        let shipped = SHIPPED.iter().chain([&META_TAG]).find(|file| place.file.ends_with(file.path));
        plan_back(place, shipped, &others, plan)?;
    }
    Ok(())
}

/// Removes a shipped file, unless a person changed it or another install has it, too.
fn plan_back(
    place: Place,
    shipped: Option<&Shipped>,
    others: &[Record],
    plan: &mut Plan,
) -> Result<(), CliError> {
    // A project in the home directory itself has the user's own folder.
    if others.iter().any(|record| record.of(&place.file).is_some()) {
        plan.record.forget(&place.file);
        return Ok(());
    }
    let Ok(old) = place.read() else { return Ok(()) };
    let is_ours = shipped.is_some_and(|shipped| old.as_deref() == Some(shipped.text))
        || plan.record.untouched(&place.file, old.as_deref()).is_some();
    match old {
        Some(old) if is_ours => {
            plan.give_back(place, Kind::Shipped, old, None, "removed")?;
        }
        Some(_) => {
            plan.record.forget(&place.file);
            plan.steps.push(Step::still(place, What::Kept, "kept yours"));
        }
        None => plan.record.forget(&place.file),
    }
    Ok(())
}

pub(crate) fn mentions_program(file: &Path, program: &str) -> bool {
    let text = settings_file::read_text(file);
    text.is_some_and(|text| settings_text::has_ours(&text, program) || text.contains(program))
}
