//! The part of an install that Claude Code reads: entries in its settings, and the skills, commands and rules.

use std::fs;
use std::path::{Path, PathBuf};

use super::registrations::Caller;
use super::settings_text::{Entries, EntryContext};
use super::shipped::{self, COMMANDS, META_TAG, Part, SKILLS, Skill};
use super::{misread, settings_file, settings_text};
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::host::registered::{HOSTS, HostHooks};
use crate::install::place::Place;
use crate::install::plan::{Choice, Plan, Texts};
use crate::install::record::{Kept, Kind, Record, Records};
use crate::install::step::{Step, What};
use crate::install::target::Target;
use crate::path::{is_same_place, real_path};

/// Only the status line, for those who have the hooks from the plugin.
pub(crate) fn plan_status_line(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let line = Entries { hooks: None, status_line: true };
    plan_settings(target, target.own_settings(), &line, both!("status line", "ステータスライン"), plan)
}

pub(crate) fn plan_entries(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let own = target.own_settings();
    if let Some(shared) = target.shared_settings().filter(|_| target.shared) {
        let hooks = Entries { hooks: Some(Caller::Shared), status_line: false };
        plan_settings(target, shared, &hooks, both!("hooks", "フック"), plan)?;
        let line = Entries { hooks: None, status_line: true };
        plan_settings(target, own, &line, both!("status line", "ステータスライン"), plan)?;
    } else {
        let entries = Entries { hooks: Some(Caller::Program(&target.call)), status_line: true };
        let what = both!("hooks and status line", "フックとステータスライン");
        plan_settings(target, own, &entries, what, plan)?;
    }
    plan_misread(target, plan)
}

pub(crate) fn plan_settings(
    target: &Target,
    place: Place,
    entries: &Entries<'_>,
    what: Bilingual,
    plan: &mut Plan,
) -> Result<(), CliError> {
    let old = place.read()?;
    let kept = plan.record.of(&place.file).and_then(|kept| kept.original.clone());
    let around =
        EntryContext { program: &target.call, farther: target.farther_line(), original: kept.as_deref() };
    let refused = |refusal: settings_text::Refusal| place.refused(&refusal.fault, refusal.hint());
    let new = settings_text::add_entries(old.as_deref(), entries, &around).map_err(refused)?;
    let new = misread::replace_entries(&new).ok().flatten().unwrap_or(new);
    let without_us = match &old {
        Some(old) => settings_text::remove_entries(old, &around).map_err(refused)?,
        None => None,
    };
    let replaced = old.as_deref().is_some_and(|old| misread::count_in(old).ours > 0);
    let commit = if replaced { commit_of(target, &place) } else { Bilingual::default() };
    let written = Bilingual { en: what.en.clone() + &commit.en, ja: what.ja.clone() + &commit.ja };
    plan.write(place, Kind::Settings, Texts { old, new, without_us }, (written, what))?;
    if let Some(step) = plan.steps.last_mut().filter(|_| replaced) {
        step.is_notable = step.changes();
    }
    Ok(())
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
            let detail = both!(
                "other agents run its hooks as shell scripts, and it cannot be written: make it writable, then run this again",
                "ほかのエージェントがこのフックをシェルスクリプトとして実行しますが、書き込めません。書き込めるようにして、もう一度実行してください"
            );
            plan.steps.push(Step::still(place, What::Kept, detail));
            continue;
        }
        let Bilingual { en, ja } = commit_of(target, &place);
        let detail = both!(
            "replaces hooks that other agents would run as shell scripts{en}",
            "ほかのエージェントがシェルスクリプトとして実行してしまうフックを置き換え{ja}"
        );
        match plan.record.of(&place.file).map(|kept| kept.original.clone()) {
            Some(original) => {
                let around =
                    EntryContext { program: &target.call, farther: None, original: original.as_deref() };
                let without_us = settings_text::remove_entries(&old, &around).ok().flatten();
                let texts = Texts { old: Some(old), new, without_us };
                plan.write(place, Kind::Settings, texts, (detail.clone(), detail))?;
            }
            None => plan.steps.push(Step::text(place, Kind::Settings, Some(old), Some(new), detail)?),
        }
        if let Some(step) = plan.steps.last_mut() {
            step.is_notable = true;
        }
    }
    Ok(())
}

/// Other checkouts keep the old entries until they get the commit.
fn commit_of(target: &Target, place: &Place) -> Bilingual {
    let is_own = place.file.ends_with("settings.local.json");
    if is_own || !target.is_in_git() || !place.file.starts_with(&target.root) {
        return Bilingual::default();
    }
    let shown = place.shown.strip_prefix(".").unwrap_or(&place.shown).display();
    both!("; commit {shown}", "。{shown} をコミットしてください")
}

/// Writes the chosen skills and the commands. Those of an earlier choice, an earlier version or an earlier name go, unless
/// they are in use: 0.1 installed all of them.
pub(crate) fn plan_shipped_files(
    target: &Target,
    records: &Records,
    choice: &Choice<'_>,
    plan: &mut Plan,
) -> Result<(), CliError> {
    let others = records.others(&target.root);
    let mut parts = plan.record.parts.clone().unwrap_or_default();
    parts.extend(choice.with);
    parts.extend(choice.used.iter().filter(|part| is_recorded(target, &plan.record, **part)));
    parts.sort();
    parts.dedup();
    let is_chosen = |skill: &&Skill| match skill.part {
        None => true,
        Some(Part::Rules) => choice.is_strict || parts.contains(&Part::Rules),
        Some(part) => parts.contains(&part),
    };
    let chosen: Vec<&Skill> = SKILLS.iter().filter(is_chosen).collect();
    plan.record.parts = Some(parts);
    let taken: Vec<&str> = chosen
        .iter()
        .filter(|skill| is_taken(target, &plan.record, &others, skill))
        .map(|skill| skill.name)
        .collect();
    // Rules of that name are what a team would require: a second set would contradict them.
    let (yours, renamed): (Vec<&str>, Vec<&str>) =
        taken.into_iter().partition(|name| Skill::find(name).is_some_and(|it| it.part == Some(Part::Rules)));
    plan.renamed.clone_from(&renamed);
    for name in &yours {
        let place = target.in_host_folder(&format!("skills/{name}/SKILL.md"));
        plan.steps.push(Step::still(
            place,
            What::Kept,
            both!("yours is used as the rules", "既存のルールをそのまま使います"),
        ));
    }
    let skills = chosen.iter().filter(|skill| !yours.contains(&skill.name));
    let skills = skills.map(|skill| (skill.path(renamed.contains(&skill.name)), skill.render(&renamed)));
    let rule = choice.is_strict.then_some(&META_TAG);
    let others_files = COMMANDS.iter().chain(rule).map(|file| (file.path.to_owned(), file.text.to_owned()));
    let wanted: Vec<(String, String)> = skills.chain(others_files).collect();
    for place in recorded_shipped(target, &plan.record) {
        let is_wanted = wanted.iter().any(|(path, _)| target.in_host_folder(path).file == place.file);
        if !is_wanted {
            let file = place.file.clone();
            plan_back(target, place, &others, plan)?;
            let is_removed =
                plan.steps.last().is_some_and(|step| step.what == What::Removed && step.place.file == file);
            let is_it = |skill: &&Skill| paths_of(target, skill).contains(&file);
            let skill = SKILLS.iter().filter(|_| is_removed).find(is_it);
            plan.dropped.extend(skill.filter(|skill| chosen.iter().all(|other| other.name != skill.name)));
        }
    }
    for (path, text) in wanted {
        let place = target.in_host_folder(&path);
        plan_shipped(place, &others, &path, text, plan)?;
    }
    Ok(())
}

/// The skills that every install has, in the folder of another host; those that a person asked for, now or before; with
/// `strict` those that it requires.
pub(crate) fn plan_skills_of(
    target: &Target,
    hooks: &HostHooks,
    records: &Records,
    choice: &Choice<'_>,
    plan: &mut Plan,
) -> Result<(), CliError> {
    let others = records.others(&target.root);
    let is_chosen = |skill: &Skill| {
        let is_of_strict = choice.is_strict && skill.part == Some(Part::Rules);
        is_of_strict || skill.part.is_none_or(|part| choice.with.contains(&part))
    };
    for skill in SKILLS {
        let path = skill.path(false);
        let Some(place) = target.of_host_folder(hooks, &path) else { continue };
        if !is_chosen(skill) && plan.record.of(&place.file).is_none() {
            continue;
        }
        plan_shipped(place, &others, &path, skill.render(&[]), plan)?;
    }
    Ok(())
}

pub(crate) fn plan_skills_of_back(
    target: &Target,
    hooks: &HostHooks,
    records: &Records,
    plan: &mut Plan,
) -> Result<(), CliError> {
    let others = records.others(&target.root);
    let Some(folder) = target.of_host_folder(hooks, "") else { return Ok(()) };
    let is_there = |kept: &&Kept| kept.kind == Kind::Shipped && kept.file.starts_with(&folder.file);
    let files: Vec<PathBuf> =
        plan.record.files.iter().filter(is_there).map(|kept| kept.file.clone()).collect();
    for file in files {
        plan_back(target, Place::plain(file), &others, plan)?;
    }
    Ok(())
}

fn is_recorded(target: &Target, record: &Record, part: Part) -> bool {
    let of_part = SKILLS.iter().filter(|skill| skill.part == Some(part));
    of_part.flat_map(|skill| paths_of(target, skill)).any(|file| record.of(&file).is_some())
}

/// By both of its names.
fn paths_of(target: &Target, skill: &Skill) -> [PathBuf; 2] {
    [false, true].map(|is_renamed| target.in_host_folder(&skill.path(is_renamed)).file)
}

/// Another skill or command of that name, in the project or in the person's own folder.
fn is_taken(target: &Target, record: &Record, others: &[Record], skill: &Skill) -> bool {
    let (path, command) = (skill.path(false), format!("commands/{}.md", skill.name));
    let is_known = |file: &Path| record.of(file).is_some() || others.iter().any(|it| it.of(file).is_some());
    let is_theirs = |place: &Place| match place.read() {
        Ok(None) => false,
        Ok(Some(text)) => !is_known(&place.file) && !shipped::is_shipped(&path, &text),
        Err(_) => fs::symlink_metadata(&place.file).is_ok_and(|found| found.is_file()),
    };
    let users = target.env.place.host().filter(|_| !target.is_user);
    let of_user = |path: &str| users.as_ref().map(|host| Place::plain(real_path(&host.join(path))));
    let commands = [Some(target.in_host_folder(&command)), of_user(&command)];
    [Some(target.in_host_folder(&path)), of_user(&path)].iter().flatten().any(is_theirs)
        || commands.iter().flatten().any(|place| place.file.is_file())
}

fn recorded_shipped(target: &Target, record: &Record) -> Vec<Place> {
    let known = record.files.iter().filter(|kept| kept.kind == Kind::Shipped);
    let is_of_other = |path: &PathBuf| HOSTS.iter().any(|hooks| path.starts_with(hooks.project_home));
    let known = known.filter_map(|kept| Some(kept.file.strip_prefix(&target.root).ok()?.to_owned()));
    let known = known.filter(|path| target.is_user || !is_of_other(path));
    known.map(|path| target.place(path)).collect()
}

fn plan_shipped(
    place: Place,
    others: &[Record],
    path: &str,
    text: String,
    plan: &mut Plan,
) -> Result<(), CliError> {
    // Not a readable text: certainly not shipped by Tidegate.
    let Ok(old) = place.read() else {
        plan.steps.push(Step::still(place, What::Kept, kept_yours()));
        return Ok(());
    };
    let is_ours = old.as_deref().is_none_or(|old| old == text || shipped::is_shipped(path, old))
        || plan.record.untouched(&place.file, old.as_deref()).is_some();
    // The home directory as a project has the same files as the user: they stay until both installs are gone.
    let other = others.iter().find(|other| old.is_some() && other.of(&place.file).is_some());
    if other.is_some() && is_ours && plan.record.of(&place.file).is_none() {
        plan.record.note(&place.file, Kind::Shipped, None, None, &text, plan.now);
        plan.inherit_folders(others, &place.file);
    }
    if is_ours {
        let texts = Texts { old, new: text, without_us: None };
        plan.write(place, Kind::Shipped, texts, (both!("new", "追加"), both!("already there", "追加済み")))
    } else {
        plan.steps.push(Step::still(place, What::Kept, kept_yours()));
        Ok(())
    }
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

pub(crate) fn plan_settings_back(target: &Target, place: Place, plan: &mut Plan) -> Result<bool, CliError> {
    let nothing = both!("nothing of Tidegate there", "Tidegate の記述はありません");
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
        left.map_err(|refusal| place.refused(&refusal.fault, refusal.hint()))?
    };
    let is_emptied = left.is_none() && target.is_committed(&place);
    let left = if is_emptied { Some("{}\n".to_owned()) } else { left };
    let detail = both!("hooks and status line removed", "フックとステータスラインを削除");
    let removed = plan.give_back(place.clone(), Kind::Settings, old, left, detail)?;
    if is_emptied {
        let detail = both!(
            "git tracks it, so it stays as `{{}}`; delete it if you do not need it",
            "git で管理されているため `{{}}` として残します。不要なら削除してください"
        );
        plan.steps.push(Step::still(place.clone(), What::Kept, detail));
    }
    name_wrappers(target, &place, plan);
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
    let mut places = recorded_shipped(target, &plan.record);
    let current = shipped::all_paths().map(|path| target.in_host_folder(&path));
    let new = current.filter(|place| places.iter().all(|known| known.file != place.file));
    places.extend(new.collect::<Vec<_>>());
    let others = records.others(&target.root);
    for place in places {
        plan_back(target, place, &others, plan)?;
    }
    Ok(())
}

/// Removes a shipped file, unless a person changed it or another install has it, too.
fn plan_back(target: &Target, place: Place, others: &[Record], plan: &mut Plan) -> Result<(), CliError> {
    // A project in the home directory itself has the user's own folder.
    if others.iter().any(|record| record.of(&place.file).is_some()) {
        plan.record.forget(&place.file);
        return Ok(());
    }
    let Ok(old) = place.read() else { return Ok(()) };
    let host = target.in_host_folder("").file;
    let path = place.file.strip_prefix(host).ok().and_then(Path::to_str).unwrap_or_default();
    let is_ours = old.as_deref().is_some_and(|old| shipped::is_shipped(path, old))
        || plan.record.untouched(&place.file, old.as_deref()).is_some();
    match old {
        Some(old) if is_ours => {
            plan.give_back(place, Kind::Shipped, old, None, both!("removed", "削除"))?;
        }
        Some(_) if plan.record.of(&place.file).is_some() => {
            plan.record.forget(&place.file);
            plan.steps.push(Step::still(place, What::Kept, kept_yours()));
        }
        _ => plan.record.forget(&place.file),
    }
    Ok(())
}

/// Shipped files that git should not list, below the project's folder.
pub(crate) fn shipped_below(target: &Target, plan: &Plan) -> Vec<String> {
    let places = recorded_shipped(target, &plan.record);
    let below = places.iter().filter_map(|place| place.file.strip_prefix(&target.root).ok()?.to_str());
    let mut paths: Vec<String> = below.map(str::to_owned).collect();
    paths.sort();
    paths
}

fn kept_yours() -> Bilingual {
    both!("kept yours", "既存のファイルを残しました")
}

/// A person's own script that starts the program: only they can take it out, and it must go on working until then.
fn name_wrappers(target: &Target, place: &Place, plan: &mut Plan) {
    let wrappers = settings_text::find_wrappers(&plan.text_after(&place.file), &target.call);
    for wrapper in wrappers {
        let detail = both!(
            "your own hook `{wrapper}` starts Tidegate; remove it here, then run this again",
            "ご自身のフック `{wrapper}` が Tidegate を呼び出します。ここから消して、もう一度実行してください"
        );
        plan.steps.push(Step::still(place.clone(), What::Kept, detail));
    }
}

/// Entries of Tidegate, a person's script around it, or the program's path.
pub(crate) fn needs_program(text: &str, program: &str) -> bool {
    settings_text::has_ours(text, program)
        || text.contains(program)
        || !settings_text::find_wrappers(text, program).is_empty()
}
