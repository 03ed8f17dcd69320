//! Everything that an install reads, decides and refuses, before anything is changed.

use std::fs;
use std::path::{Path, PathBuf};

use super::link;
use super::record::{Kind, Record, Records};
use super::registrations::Caller;
use super::settings::{self, Around, Entries};
use super::shipped::SHIPPED;
use super::step::{Act, Step, What};
use super::target::{Place, Target};
use super::{gitignore, preset};
use crate::error::CliError;

const CHANGED: &str = "mend the file, then run this again; nothing was changed";

/// What is to be done, and what the record says once it is.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) record: Record,
    /// Folders to remove afterwards, if nothing is in them, innermost first.
    pub(super) folders: Vec<PathBuf>,
}

impl Plan {
    fn new(record: Record) -> Plan {
        Plan { steps: Vec::new(), record, folders: Vec::new() }
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
                self.record.note(&place.file, kind, None, without_us, &new);
            }
            self.steps.push(Step::still(place, What::Unchanged, details.1));
            return Ok(());
        }
        self.record.note(&place.file, kind, old.as_deref(), without_us, &new);
        self.make_folders(place.file.parent());
        self.steps.push(Step::text(place, old, Some(new), details.0)?);
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

    /// Gives back what was there before, or what is left without our part.
    fn give_back(
        &mut self,
        place: Place,
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
        self.steps.push(Step::text(place, Some(old), left, detail)?);
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
pub(super) fn init(target: &Target, preset: Option<&str>, records: &Records) -> Result<Plan, CliError> {
    let mut plan = Plan::new(records.load(&target.root));
    // What settings refer to comes before them.
    plan_link(target, &mut plan)?;
    if let Some(preset) = preset {
        plan_preset(target, preset, &mut plan)?;
    }
    plan_shipped(target, &mut plan)?;
    if !target.is_user {
        let context = target.in_host_folder("context");
        if !context.file.is_dir() {
            plan.make_folders(Some(&context.file));
            let detail = "made, for the public copies".to_owned();
            plan.steps.push(Step { place: context, what: What::Written, detail, act: Act::Folder });
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
    let without_us = match &old {
        Some(old) => settings::uninstall(old, &around).map_err(refused)?,
        None => None,
    };
    let (written, there) = (format!("{what} written"), format!("{what} there already"));
    plan.write(place, Kind::Settings, Texts { old, new, without_us }, (&written, &there))
}

fn plan_link(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let Some(path) = &target.link else { return Ok(()) };
    let place = Place::plain(path.clone());
    let to = link::target(&target.program, std::env::var_os("PATH").as_deref(), path);
    let detail = format!("leads to {}", to.display());
    plan.make_folders(path.parent());
    plan.steps.push(match link::now(path, &target.program) {
        link::Now::To(now) if now == to => Step::still(place, What::Unchanged, format!("{detail} already")),
        link::Now::Program => Step::still(place, What::Unchanged, "this program"),
        link::Now::Nothing | link::Now::To(_) => {
            Step { place, what: What::Written, detail, act: Act::Link(to) }
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

fn plan_shipped(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    for file in SHIPPED {
        let place = target.in_host_folder(file.path);
        // Whatever it is, it is theirs.
        let Ok(old) = place.read() else {
            plan.steps.push(Step::still(place, What::Kept, "kept yours"));
            continue;
        };
        let is_ours = old.as_deref().is_none_or(|old| old == file.text)
            || plan.record.untouched(&place.file, old.as_deref()).is_some();
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
pub(super) fn uninstall(target: &Target, records: &Records) -> Result<Plan, CliError> {
    let mut plan = Plan::new(records.load(&target.root));
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
            let place = target.in_host_folder("context/context-pressure.json");
            plan.folders.extend(place.file.ancestors().skip(1).map(Path::to_owned));
            plan.steps.push(Step { place, what: What::Removed, detail: String::new(), act: Act::Discard });
        }
    }
    // An `init` that did not get to the settings may have made the link.
    if removed || was_installed {
        plan_link_back(target, records, &mut plan);
    }
    let made = |folder: &PathBuf| plan.record.folders.contains(folder);
    let mut folders: Vec<PathBuf> = plan.folders.iter().filter(|folder| made(folder)).cloned().collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    folders.dedup();
    plan.folders = folders;
    Ok(plan)
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
    let removed = plan.give_back(place.clone(), old, left, "our entries removed")?;
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
    plan.give_back(place, old, left, "preset removed").map(|_| ())
}

fn plan_shipped_back(target: &Target, records: &Records, plan: &mut Plan) -> Result<(), CliError> {
    let known = plan.record.files.iter().filter(|kept| kept.kind == Kind::Shipped);
    let known = known.filter_map(|kept| Some(kept.file.strip_prefix(&target.root).ok()?.to_owned()));
    let mut places: Vec<Place> = known.map(|path| target.place(path)).collect();
    let current = SHIPPED.iter().map(|file| target.in_host_folder(file.path));
    let new = current.filter(|place| places.iter().all(|known| known.file != place.file));
    places.extend(new.collect::<Vec<_>>());
    let others = records.others(&target.root);
    for place in places {
        // A project in the home directory itself has the user's own folder.
        if others.iter().any(|record| record.of(&place.file).is_some()) {
            plan.record.forget(&place.file);
            continue;
        }
        let Ok(old) = place.read() else { continue };
        let shipped = SHIPPED.iter().find(|file| place.file.ends_with(file.path));
        let is_ours = shipped.is_some_and(|shipped| old.as_deref() == Some(shipped.text))
            || plan.record.untouched(&place.file, old.as_deref()).is_some();
        match old {
            Some(old) if is_ours => {
                plan.give_back(place, old, None, "removed")?;
            }
            Some(_) => {
                plan.record.forget(&place.file);
                plan.steps.push(Step::still(place, What::Kept, "kept yours"));
            }
            None => plan.record.forget(&place.file),
        }
    }
    Ok(())
}

fn plan_ignore_back(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    if target.is_user {
        return Ok(());
    }
    let place = target.place(".gitignore");
    let Ok(Some(old)) = place.read() else { return Ok(()) };
    let left = match plan.record.untouched(&place.file, Some(&old)) {
        Some(kept) => kept.original.clone(),
        None => gitignore::uninstall(&old),
    };
    let detail = if left.is_some() { "our lines removed" } else { "removed" };
    plan.give_back(place, old, left, detail).map(|_| ())
}

/// The link goes when no settings file that we know of calls it any more.
fn plan_link_back(target: &Target, records: &Records, plan: &mut Plan) {
    let Some(path) = &target.link else { return };
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return;
    }
    let changed =
        |file: &PathBuf| plan.steps.iter().any(|step| step.act != Act::Nothing && step.place.file == *file);
    let others = records.others(&target.root).into_iter().flat_map(|record| record.files);
    let here =
        [Some(target.own_settings()), target.shared_settings()].into_iter().flatten().map(|place| place.file);
    let others = others.filter(|kept| kept.kind == Kind::Settings).map(|kept| kept.file).chain(here);
    let calls =
        |file: PathBuf| fs::read_to_string(file).is_ok_and(|text| settings::has_ours(&text, &target.call));
    let place = Place::plain(path.clone());
    let step = match others.filter(|file| !changed(file)).find(|file| calls(file.clone())) {
        Some(file) => Step::still(place, What::Kept, format!("still used by {}", file.display())),
        None => Step { place, what: What::Removed, detail: "removed".to_owned(), act: Act::Unlink },
    };
    if step.act == Act::Unlink {
        plan.folders.extend(path.ancestors().skip(1).map(Path::to_owned));
    }
    plan.steps.push(step);
}
