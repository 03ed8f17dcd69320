//! Everything that an install reads, decides and refuses, before anything is changed.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::time::Millis;

use super::link;
use super::record::{Kind, Record, Records};
use super::registrations::Caller;
use super::settings::{self, Around, Entries};
use super::shipped::{META_TAG, SHIPPED, Shipped};
use super::step::{Act, Step, What};
use super::target::{Place, Target};
use super::{gitignore, misread, preset, shell};
use crate::error::CliError;
use crate::host::settings_file;
use crate::project_root;

const CHANGED: &str = "mend the file, then run this again; nothing was changed";

/// What is to be done, and what the record says once it is.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) record: Record,
    /// Folders to remove afterwards, if nothing is in them, innermost first.
    pub(crate) folders: Vec<PathBuf>,
    now: Millis,
}

impl Plan {
    fn new(record: Record, now: Millis) -> Plan {
        Plan { steps: Vec::new(), record, folders: Vec::new(), now }
    }

    /// Writes a text where it is a new one; `without_us` is what the file would be without our part.
    fn write(
        &mut self,
        place: Place,
        kind: Kind,
        texts: Texts,
        details: (&str, &str),
    ) -> Result<(), CliError> {
        let Texts { old, new, without_us } = texts;
        if old.as_ref() == Some(&new) {
            // Whether settings call the link must be known; the rest is told by its text.
            if kind == Kind::Settings && self.record.of(&place.file).is_none() {
                self.record.note(&place.file, kind, None, without_us, &new, self.now);
            }
            self.steps.push(Step::still(place, What::Unchanged, details.1));
            return Ok(());
        }
        self.record.note(&place.file, kind, old.as_deref(), without_us, &new, self.now);
        self.make_folders(place.file.parent());
        self.steps.push(Step::text(place, kind, old, Some(new), details.0)?);
        Ok(())
    }

    /// Remembers which folders are ours.
    fn make_folders(&mut self, folder: Option<&Path>) {
        let missing = folder.into_iter().flat_map(Path::ancestors).take_while(|folder| !folder.exists());
        for folder in missing {
            if !self.record.folders.iter().any(|known| known == folder) {
                self.record.folders.push(folder.to_owned());
            }
        }
    }

    /// Removes no folder that we did not make.
    fn keep_their_folders(&mut self) {
        let Plan { folders, record, .. } = self;
        folders.retain(|folder| record.folders.contains(folder));
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        folders.dedup();
    }

    /// The last to go removes also what another install made for a file that both have.
    fn inherit_folders(&mut self, others: &[Record], file: &Path) {
        for folder in others.iter().flat_map(|other| &other.folders) {
            if file.starts_with(folder) && !self.record.folders.contains(folder) {
                self.record.folders.push(folder.clone());
            }
        }
    }

    /// Gives back what was there before, or what is left without our part.
    fn give_back(
        &mut self,
        place: Place,
        kind: Kind,
        old: String,
        left: Option<String>,
        detail: &str,
    ) -> Result<bool, CliError> {
        self.record.forget(&place.file);
        if left.as_ref() == Some(&old) {
            return Ok(false);
        }
        if left.is_none() {
            self.folders
                .extend(place.file.parent().into_iter().flat_map(Path::ancestors).map(Path::to_owned));
        }
        self.steps.push(Step::text(place, kind, Some(old), left, detail)?);
        Ok(true)
    }
}

/// A file before, after, and without our part.
struct Texts {
    old: Option<String>,
    new: String,
    without_us: Option<String>,
}

/// Plans an `init`.
pub(crate) fn init(target: &Target, preset: Option<&str>, records: &Records) -> Result<Plan, CliError> {
    let mut plan = Plan::new(records.load(&target.root), target.now);
    let is_first = plan.record.files.is_empty() && !target.is_called();
    // What settings refer to comes before them.
    plan_link(target, records, &mut plan)?;
    if let Some(preset) = preset {
        plan_preset(target, preset, &mut plan)?;
    }
    plan_shipped(target, records, SHIPPED.iter(), &mut plan)?;
    plan_rule(target, records, preset, &mut plan)?;
    if !target.is_user {
        for Place { file, .. } in target.public_copies() {
            if is_first && fs::symlink_metadata(&file).is_ok() && !plan.record.theirs.contains(&file) {
                plan.record.theirs.push(file);
            }
        }
        let context = target.in_host_folder("context");
        if !context.file.is_dir() {
            context.check_writable()?;
            plan.make_folders(Some(&context.file));
            plan.steps.push(Step::new(
                context,
                What::Written,
                "made, for what survives compaction",
                Act::Folder,
            ));
        }
    }
    if target.is_in_git() {
        plan_ignore(target, &mut plan)?;
    }
    let own = target.own_settings();
    if let Some(shared) = target.shared_settings().filter(|_| target.shared) {
        let hooks = Entries { hooks: Some(Caller::Shared), status_line: false };
        plan_settings(target, shared, &hooks, "hooks", &mut plan)?;
        let line = Entries { hooks: None, status_line: true };
        plan_settings(target, own, &line, "status line", &mut plan)?;
    } else {
        let both = Entries { hooks: Some(Caller::Program(&target.call)), status_line: true };
        plan_settings(target, own, &both, "hooks and status line", &mut plan)?;
    }
    plan_misread(target, &mut plan)?;
    plan.keep_their_folders();
    Ok(plan)
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
    let around = Around { program: &target.call, farther: target.farther_line(), original: kept.as_deref() };
    let refused = |refusal: settings::Refusal| place.refused(&refusal.fault, refusal.hint);
    let new = settings::install(old.as_deref(), entries, &around).map_err(refused)?;
    let new = misread::replace(&new).ok().flatten().unwrap_or(new);
    let without_us = match &old {
        Some(old) => settings::uninstall(old, &around).map_err(refused)?,
        None => None,
    };
    let replaced = old.as_deref().is_some_and(|old| misread::count_in(old).ours > 0);
    let commit = if replaced { commit_of(target, &place) } else { String::new() };
    let (written, there) = (format!("{what} written{commit}"), format!("{what} there already"));
    plan.write(place, Kind::Settings, Texts { old, new, without_us }, (&written, &there))
}

/// Gives entries of 0.1.0 that other agents misread the safe form, in every file that can be seen from here.
fn plan_misread(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    for place in target.misread_places() {
        if plan.steps.iter().any(|step| settings_file::is_same(&step.place.file, &place.file)) {
            continue;
        }
        // No agent runs hooks from a file that cannot be read.
        let Some(old) = settings_file::text(&place.file) else { continue };
        let Ok(Some(new)) = misread::replace(&old) else { continue };
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
                let around = Around { program: &target.call, farther: None, original: original.as_deref() };
                let without_us = settings::uninstall(&old, &around).ok().flatten();
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

fn plan_link(target: &Target, records: &Records, plan: &mut Plan) -> Result<(), CliError> {
    let Some(path) = &target.link else { return Ok(()) };
    let place = Place::plain(path.clone());
    let to = link::target(&target.program, std::env::var_os("PATH").as_deref(), path);
    let detail = format!("leads to {}", to.display());
    plan.make_folders(path.parent());
    plan.inherit_folders(&records.others(&target.root), path);
    plan.steps.push(match link::now(path, &target.program) {
        link::Now::To(now) if now == to => Step::still(place, What::Unchanged, format!("{detail} already")),
        link::Now::Program => Step::still(place, What::Unchanged, "this program"),
        link::Now::Nothing | link::Now::To(_) => {
            place.check_folder()?;
            Step::new(place, What::Written, detail, Act::Link(to))
        }
        link::Now::Other => {
            return Err(CliError::new(format!("{} is there and is no link of ours", path.display()))
                .hint("run `init` by that program, or move it away; nothing was changed"));
        }
    });
    Ok(())
}

fn plan_preset(target: &Target, name: &str, plan: &mut Plan) -> Result<(), CliError> {
    let path = target
        .env
        .place
        .config()
        .ok_or_else(|| CliError::new("there is no place for the config: HOME is not set"))?;
    let place = Place::plain(path);
    let old = place.read()?;
    let root = target.root.to_string_lossy();
    let of = if target.is_user { preset::Of::User } else { preset::Of::Project(&root) };
    let refused = |fault| place.refused(&fault, CHANGED);
    let new = preset::install(old.as_deref(), of, name).map_err(refused)?;
    // A preset at the top is the user's own, unless we wrote it.
    let is_ours = !target.is_user || plan.record.of(&place.file).is_some();
    let without_us = match old.as_deref().filter(|_| is_ours) {
        Some(old) => preset::uninstall(old, of).map_err(refused)?,
        None => old.clone(),
    };
    let (written, there) = (format!("preset {name} written"), format!("preset {name} is there already"));
    plan.write(place, Kind::Config, Texts { old, new, without_us }, (&written, &there))
}

/// The rule comes with the preset that needs it, stays up to date with us, and goes with another preset.
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
        // Whatever it is, it is theirs.
        let Ok(old) = place.read() else {
            plan.steps.push(Step::still(place, What::Kept, "kept yours"));
            continue;
        };
        let is_ours = old.as_deref().is_none_or(|old| old == file.text)
            || plan.record.untouched(&place.file, old.as_deref()).is_some();
        // The home directory as a project has the same files as the user: both have to go before they do.
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

fn plan_ignore(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let place = target.place(".gitignore");
    if place.is_link() {
        let detail = "is a link, which git does not follow; left as it is";
        plan.steps.push(Step::still(place, What::Kept, detail));
        return Ok(());
    }
    let Ok(old) = place.read() else {
        plan.steps.push(Step::still(place, What::Kept, "not UTF-8 or not a file, left as it is"));
        return Ok(());
    };
    let new = gitignore::install(old.as_deref());
    let without_us = old.as_deref().and_then(gitignore::uninstall);
    let details = ("what runs leave behind added", "what runs leave behind is there already");
    plan.write(place, Kind::Ignore, Texts { old, new, without_us }, details)
}

/// Plans an `uninstall`.
pub(crate) fn uninstall(target: &Target, records: &Records) -> Result<Plan, CliError> {
    let mut plan = Plan::new(records.load(&target.root), target.now);
    let was_installed = !plan.record.files.is_empty();
    let mut removed = false;
    if let Some(shared) = target.shared_settings().filter(|_| target.shared) {
        removed |= plan_settings_back(target, shared, &mut plan)?;
    }
    removed |= plan_settings_back(target, target.own_settings(), &mut plan)?;
    plan_preset_back(target, &mut plan)?;
    let shared = target.shared_settings().filter(|_| !target.shared);
    let shared = shared.filter(|place| {
        place
            .read()
            .is_ok_and(|text| text.is_some_and(|text| settings::has_shared_hooks(&text, &target.call)))
    });
    if let Some(shared) = shared {
        // They refer to the skills, and need the same files ignored.
        plan.steps.push(Step::still(
            shared,
            What::Kept,
            "the hooks that a team shares stay; `--shared` takes them out",
        ));
    } else {
        plan_shipped_back(target, records, &mut plan)?;
        plan_ignore_back(target, &mut plan)?;
        if removed && !target.is_user {
            let context = target.in_host_folder("context");
            plan.folders.extend(context.file.ancestors().map(Path::to_owned));
            let copies = target.public_copies().into_iter();
            for place in copies.filter(|place| fs::symlink_metadata(&place.file).is_ok()) {
                let is_theirs = plan.record.theirs.contains(&place.file);
                plan.steps.push(if is_theirs {
                    Step::still(place, What::Kept, "was there before us, kept")
                } else {
                    Step::new(place, What::Removed, "removed", Act::Discard)
                });
            }
            let kept = |place| Step::still(place, What::Kept, "where a cycle stands, kept: yours to remove");
            plan.steps.extend(target.cycle_files().into_iter().map(kept));
        }
    }
    // An `init` that did not get to the settings may have made the link.
    if removed || was_installed {
        plan_link_back(target, records, was_installed, &mut plan)?;
    } else if let Some(above) = target.root.ancestors().skip(1).find(|above| is_installed(target, above)) {
        let own = target.own_settings().file;
        for step in plan.steps.iter_mut().filter(|step| step.place.file == own) {
            let command = format!("tidegate uninstall --project {}", shell::quoted(above));
            step.detail = format!("nothing of ours there, but above it; `{command}` takes that out");
        }
    }
    plan.keep_their_folders();
    Ok(plan)
}

fn is_installed(target: &Target, folder: &Path) -> bool {
    !target.is_user && project_root::is_installed(&target.env, folder)
}

fn plan_settings_back(target: &Target, place: Place, plan: &mut Plan) -> Result<bool, CliError> {
    let nothing = "nothing of ours there";
    let Some(old) = place.read()? else {
        plan.record.forget(&place.file);
        plan.steps.push(Step::still(place, What::Unchanged, nothing));
        return Ok(false);
    };
    // Untouched since `init`: exactly what was there before. Else our entries are taken out of what is there now.
    let left = if let Some(kept) = plan.record.untouched(&place.file, Some(&old)) {
        kept.original.clone()
    } else {
        let kept = plan.record.of(&place.file).and_then(|kept| kept.original.clone());
        let around =
            Around { program: &target.call, farther: target.farther_line(), original: kept.as_deref() };
        let left = settings::uninstall(&old, &around);
        left.map_err(|refusal| place.refused(&refusal.fault, refusal.hint))?
    };
    let removed = plan.give_back(place.clone(), Kind::Settings, old, left, "our entries removed")?;
    if !removed {
        plan.steps.push(Step::still(place, What::Unchanged, nothing));
    }
    Ok(removed)
}

fn plan_preset_back(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let Some(place) = target.env.place.config().map(Place::plain) else { return Ok(()) };
    let kept = plan.record.of(&place.file).cloned();
    // A preset of the user's own, at the top, is not ours to remove unless we wrote it.
    if target.is_user && kept.is_none() {
        return Ok(());
    }
    let Ok(Some(old)) = place.read() else { return Ok(()) };
    let root = target.root.to_string_lossy();
    let of = if target.is_user { preset::Of::User } else { preset::Of::Project(&root) };
    let left = match (plan.record.untouched(&place.file, Some(&old)), preset::uninstall(&old, of)) {
        (Some(kept), _) => kept.original.clone(),
        // What is left of a file that was there before is a file.
        (None, Ok(None)) if kept.is_none_or(|kept| kept.original.is_some()) => Some(String::new()),
        (None, Ok(left)) => left,
        (None, Err(fault)) => {
            let detail = format!("{}:{}: {}; left as it is", fault.line, fault.column, fault.what);
            plan.steps.push(Step::still(place, What::Kept, detail));
            return Ok(());
        }
    };
    plan.give_back(place, Kind::Config, old, left, "preset removed").map(|_| ())
}

fn plan_shipped_back(target: &Target, records: &Records, plan: &mut Plan) -> Result<(), CliError> {
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

/// One file that came with us goes, unless somebody made it theirs or another install has it, too.
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

fn plan_ignore_back(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    if target.is_user {
        return Ok(());
    }
    let place = target.place(".gitignore");
    let Some(old) = place.read().ok().flatten().filter(|_| !place.is_link()) else {
        plan.record.forget(&place.file);
        return Ok(());
    };
    let left = match plan.record.untouched(&place.file, Some(&old)) {
        Some(kept) => kept.original.clone(),
        None => gitignore::uninstall(&old),
    };
    let detail = if left.is_some() { "our lines removed" } else { "removed" };
    plan.give_back(place, Kind::Ignore, old, left, detail).map(|_| ())
}

/// The link goes when we know who called it, and none does any more: a hook whose program is gone is passed over without
/// a word. A project that was moved has a record whose file is gone; one without a record may not be the only one.
fn plan_link_back(
    target: &Target,
    records: &Records,
    was_installed: bool,
    plan: &mut Plan,
) -> Result<(), CliError> {
    let Some(path) = &target.link else { return Ok(()) };
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Ok(());
    }
    let changed =
        |file: &PathBuf| plan.steps.iter().any(|step| step.act != Act::Nothing && step.place.file == *file);
    let others = records.others(&target.root).into_iter().flat_map(|record| record.files);
    let here =
        [Some(target.own_settings()), target.shared_settings()].into_iter().flatten().map(|place| place.file);
    let others: Vec<PathBuf> =
        others.filter(|kept| kept.kind == Kind::Settings).map(|kept| kept.file).collect();
    let is_lost = others.iter().any(|file| settings_file::text(file).is_none());
    let calls = |file: &PathBuf| {
        let has_ours = |text: String| settings::has_ours(&text, &target.call) || text.contains(&target.call);
        !changed(file) && settings_file::text(file).is_some_and(has_ours)
    };
    let place = Place::plain(path.clone());
    let step = if let Some(file) = others.into_iter().chain(here).find(calls) {
        Step::still(place, What::Kept, format!("still used by {}", file.display()))
    } else if is_lost || !was_installed {
        Step::still(place, What::Kept, "kept: other installs may call it")
    } else {
        place.check_folder()?;
        Step::new(place, What::Removed, "removed", Act::Unlink)
    };
    if step.act == Act::Unlink {
        plan.folders.extend(path.ancestors().skip(1).map(Path::to_owned));
    }
    plan.steps.push(step);
    Ok(())
}
