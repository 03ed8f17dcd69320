//! Everything that an install reads, decides and refuses, before anything is changed.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::host::Host;
use tidegate_core::time::Millis;
use tidegate_state::project::Checkout;

use super::ignore_block::IgnoreBlock;
use super::place::Place;
use super::record::{Kept, Kind, Record, Records};
use super::step::{Act, Step, What};
use super::target::Target;
use super::{link, preset};
use crate::bilingual::{Bilingual, both};
use crate::config_words::describe_file_fault;
use crate::error::CliError;
use crate::host::claude_code;
use crate::host::claude_code::IGNORED;
use crate::host::claude_code::registrations::Caller;
use crate::host::claude_code::settings_text::Entries;
use crate::host::claude_code::shipped::{self, Part, Skill};
use crate::host::codex;
use crate::host::copilot;
use crate::host::opencode;
use crate::host::registered::{HOSTS, HostHooks};
use crate::project_root;
use crate::shell;

/// Steps, and the record after they are done.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) record: Record,
    /// Folders to remove afterwards if they are empty, innermost first.
    pub(crate) folders: Vec<PathBuf>,
    /// Skills that were there and are not part of the choice any more.
    pub(crate) dropped: Vec<&'static Skill>,
    /// Skills whose names the person's own files have.
    pub(crate) renamed: Vec<&'static str>,
    pub(crate) now: Millis,
}

impl Plan {
    fn new(record: Record, now: Millis) -> Plan {
        Plan { steps: Vec::new(), record, folders: Vec::new(), dropped: Vec::new(), renamed: Vec::new(), now }
    }

    /// Skips an unchanged text. `without_us` is the file without Tidegate's part.
    pub(crate) fn write(
        &mut self,
        place: Place,
        kind: Kind,
        texts: Texts,
        details: (Bilingual, Bilingual),
    ) -> Result<(), CliError> {
        let Texts { old, new, without_us } = texts;
        if old.as_ref() == Some(&new) {
            // `uninstall` has to know all settings files that call the link; other kinds are recognised by their text.
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

    /// Records folders that are about to be made.
    pub(crate) fn make_folders(&mut self, folder: Option<&Path>) {
        let missing = folder.into_iter().flat_map(Path::ancestors).take_while(|folder| !folder.exists());
        for folder in missing {
            if !self.record.folders.iter().any(|known| known == folder) {
                self.record.folders.push(folder.to_owned());
            }
        }
    }

    /// A file as the steps leave it; empty if it cannot be read.
    pub(crate) fn text_after(&self, file: &Path) -> String {
        let step = self.steps.iter().rev().find(|step| step.changes() && step.place.file == file);
        match step.map(|step| &step.act) {
            Some(Act::Text { new, .. }) => new.clone().unwrap_or_default(),
            _ => claude_code::settings_file::read_text(file).unwrap_or_default(),
        }
    }

    fn keep_their_folders(&mut self) {
        let Plan { folders, record, .. } = self;
        folders.retain(|folder| record.folders.contains(folder));
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        folders.dedup();
    }

    /// The last install to go also removes folders that another install made for a shared file.
    pub(crate) fn inherit_folders(&mut self, others: &[Record], file: &Path) {
        for folder in others.iter().flat_map(|other| &other.folders) {
            if file.starts_with(folder) && !self.record.folders.contains(folder) {
                self.record.folders.push(folder.clone());
            }
        }
    }

    /// Restores the original, or the file without Tidegate's part.
    pub(crate) fn give_back(
        &mut self,
        place: Place,
        kind: Kind,
        old: String,
        left: Option<String>,
        detail: Bilingual,
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

pub(crate) struct Texts {
    pub(crate) old: Option<String>,
    pub(crate) new: String,
    pub(crate) without_us: Option<String>,
}

/// What a person asked `init` for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<'a> {
    pub(crate) preset: Option<&'a str>,
    pub(crate) with: &'a [Part],
    /// Parts that the config or the project refers to: if they are there, they stay.
    pub(crate) used: &'a [Part],
    /// The chosen preset, or the one in force.
    pub(crate) is_strict: bool,
    pub(crate) status_line_only: bool,
}

pub(crate) fn plan_init(target: &Target, choice: &Choice<'_>, records: &Records) -> Result<Plan, CliError> {
    let mut plan = Plan::new(records.load(&target.root), target.now);
    let is_first = plan.record.files.is_empty() && !target.is_called();
    // Files that settings refer to come first.
    plan_link(target, records, &mut plan)?;
    if let Some(hooks) = target.other_host() {
        return plan_other_host(target, hooks, choice, records, plan);
    }
    if choice.status_line_only {
        claude_code::plan::plan_status_line(target, &mut plan)?;
        plan.keep_their_folders();
        return Ok(plan);
    }
    if let Some(preset) = choice.preset {
        plan_preset(target, preset, &mut plan)?;
    }
    claude_code::plan::plan_shipped_files(target, records, choice, &mut plan)?;
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
                both!("new folder for progress notes", "作業メモのフォルダを作成"),
                Act::Folder,
            ));
        }
    }
    plan_ignore(target, records, &mut plan)?;
    claude_code::plan::plan_entries(target, &mut plan)?;
    claude_code::server::plan_server(target, records, &mut plan)?;
    plan.keep_their_folders();
    Ok(plan)
}

/// Its hooks and the server. Notes and config are the same for all hosts.
fn plan_other_host(
    target: &Target,
    hooks: &'static HostHooks,
    choice: &Choice<'_>,
    records: &Records,
    mut plan: Plan,
) -> Result<Plan, CliError> {
    if let Some(preset) = choice.preset {
        plan_preset(target, preset, &mut plan)?;
    }
    if !target.is_user {
        let context = target.in_host_folder("context");
        if !context.file.is_dir() {
            context.check_writable()?;
            plan.make_folders(Some(&context.file));
            let detail = both!("new folder for progress notes", "作業メモのフォルダを作成");
            plan.steps.push(Step::new(context, What::Written, detail, Act::Folder));
        }
    }
    if hooks.host == Host::OpenCode {
        opencode::plan::plan_shim(target, &mut plan)?;
    } else if let Some(place) = target.hooks_of(hooks) {
        refuse_unread(&place, hooks)?;
        let entries = Entries { hooks: Some(Caller::OfHost(hooks, &target.call)), status_line: false };
        let what = match hooks.host {
            Host::Qwen => both!("hooks, MCP server", "フック、MCP サーバー"),
            _ => both!("hooks", "フック"),
        };
        claude_code::plan::plan_settings(target, place, &entries, what, &mut plan)?;
    }
    claude_code::plan::plan_skills_of(target, hooks, records, choice, &mut plan)?;
    if hooks.host == Host::Codex {
        codex::plan::plan_server(target, &mut plan)?;
    }
    if hooks.host == Host::Copilot {
        copilot::plan::plan_server(target, &mut plan)?;
    }
    // Also its own files, which are there now.
    if !target.is_user {
        plan_exclude(target, &mut plan)?;
    }
    plan.keep_their_folders();
    Ok(plan)
}

/// Hooks in a file that the host does not read would never run.
fn refuse_unread(place: &Place, hooks: &HostHooks) -> Result<(), CliError> {
    let text = place.read()?.unwrap_or_default();
    let is_blank = text.trim_start_matches('\u{feff}').trim().is_empty();
    let Some(fault) = (hooks.fault)(&text).filter(|_| !is_blank) else { return Ok(()) };
    let hint = both!(
        "{host} reads no hooks from this file; correct it, then run this again; nothing was changed",
        "{host} はこのファイルのフックを読み込みません。直して、もう一度実行してください。何も変更していません",
        host = hooks.title()
    );
    Err(place.refused(&fault, hint))
}

/// Of the host that was named, or of all.
fn plan_other_hosts_back(target: &Target, records: &Records, plan: &mut Plan) -> Result<bool, CliError> {
    let mut removed = false;
    for hooks in HOSTS.iter().filter(|hooks| target.host.is_none_or(|host| host == hooks.host)) {
        let Some(place) = target.hooks_of(hooks) else { continue };
        let is_there = claude_code::settings_file::read_text(&place.file)
            .is_some_and(|text| hooks.has_ours(&text, &target.call));
        if hooks.host == Host::OpenCode {
            removed |= opencode::plan::plan_shim_back(target, records, plan)?;
        } else if is_there || plan.record.of(&place.file).is_some() {
            removed |= claude_code::plan::plan_settings_back(target, place, plan)?;
        }
        claude_code::plan::plan_skills_of_back(target, hooks, records, plan)?;
        if hooks.host == Host::Codex {
            removed |= codex::plan::plan_server_back(target, plan)?;
        }
        if hooks.host == Host::Copilot {
            removed |= copilot::plan::plan_server_back(target, plan)?;
        }
    }
    Ok(removed)
}

/// Files of other hosts that an install here has written.
fn other_hosts_files(target: &Target, plan: &Plan) -> Vec<String> {
    let files = plan.record.files.iter().filter_map(|kept| kept.file.strip_prefix(&target.root).ok());
    let is_of_other = |file: &&Path| HOSTS.iter().any(|hooks| file.starts_with(hooks.project_home));
    files.filter(is_of_other).map(|file| file.to_string_lossy().into_owned()).collect()
}

fn plan_link(target: &Target, records: &Records, plan: &mut Plan) -> Result<(), CliError> {
    let Some(path) = &target.link else { return Ok(()) };
    let place = Place::plain(path.clone());
    let copy = link::place_of_copy(path).filter(|_| link::is_in_npm_cache(&target.program));
    let (is_copy, mut is_led_elsewhere) = (copy.is_some(), false);
    let to = match copy {
        Some(copy) => {
            plan_copy(target, &copy, plan)?;
            copy
        }
        None => link::choose_target(&target.program, std::env::var_os("PATH").as_deref(), path),
    };
    let detail = both!("link to this program", "このプログラムへのリンク");
    plan.make_folders(path.parent());
    plan.inherit_folders(&records.others(&target.root), path);
    plan.steps.push(match link::read_place(path, &target.program) {
        link::Now::To(now) if now == to => Step::still(place, What::Unchanged, detail),
        link::Now::Program => Step::still(place, What::Unchanged, both!("this program", "このプログラム")),
        link::Now::Nothing | link::Now::To(_) => {
            place.check_folder()?;
            is_led_elsewhere = !is_copy;
            Step::new(place, What::Written, detail, Act::Link(to))
        }
        link::Now::Other => {
            return Err(CliError::new(both!(
                "{path} is a file, not Tidegate's link",
                "{path} は Tidegate のリンクではなくファイルです",
                path = path.display()
            ))
            .hint(both!(
                "move it away, or run `init` with that program; nothing was changed",
                "別の場所へ移すか、そのプログラムで `init` を実行してください。何も変更していません"
            )));
        }
    });
    if is_led_elsewhere {
        plan_copy_back(path, plan);
    }
    Ok(())
}

/// The program that hooks start has to stay when npm clears its cache.
fn plan_copy(target: &Target, copy: &Path, plan: &mut Plan) -> Result<(), CliError> {
    let place = Place::plain(copy.to_owned());
    let detail = both!(
        "copy of this program, which npm may delete",
        "このプログラムのコピー（元は npm が削除しうるため）"
    );
    plan.make_folders(copy.parent());
    let is_same = || Some(fs::read(copy).ok()? == fs::read(&target.program).ok()?);
    plan.steps.push(if is_same() == Some(true) {
        Step::still(place, What::Unchanged, detail)
    } else {
        place.check_folder()?;
        Step::new(place, What::Written, detail, Act::Copy(target.program.clone()))
    });
    Ok(())
}

/// Also one that the link does not lead to any more.
fn plan_copy_back(link: &Path, plan: &mut Plan) {
    let Some(copy) = link::place_of_copy(link).filter(|copy| fs::symlink_metadata(copy).is_ok()) else {
        return;
    };
    let detail = both!("copy of the program, removed", "プログラムのコピーを削除");
    plan.folders.extend(copy.parent().map(Path::to_owned));
    plan.steps.push(Step::new(Place::plain(copy), What::Removed, detail, Act::Unlink));
}

fn plan_preset(target: &Target, name: &str, plan: &mut Plan) -> Result<(), CliError> {
    let path = target.env.place.config().ok_or_else(|| {
        CliError::new(both!(
            "the config has no place: HOME is not set",
            "HOME が設定されていないため、設定ファイルを置けません"
        ))
    })?;
    let place = Place::plain(path);
    let old = place.read()?;
    let root = target.root.to_string_lossy();
    let of = if target.is_user { preset::PresetOwner::User } else { preset::PresetOwner::Project(&root) };
    let refused = |fault| {
        place.refused(
            &fault,
            both!(
                "fix the file, then run this again; nothing was changed",
                "ファイルを直して、もう一度実行してください。何も変更していません"
            ),
        )
    };
    let new = preset::set_preset(old.as_deref(), of, name).map_err(refused)?;
    let without_us = match (&old, plan.record.of(&place.file)) {
        (Some(old), Some(kept)) if is_preset_of_init(kept, old, of) => {
            preset::restore_preset(old, of, preset_before(kept, of).as_deref()).map_err(refused)?
        }
        _ => old.clone(),
    };
    let details = (
        both!("preset {name}", "プリセット {name}"),
        both!("preset {name} already", "プリセット {name}（設定済み）"),
    );
    plan.write(place, Kind::Config, Texts { old, new, without_us }, details)
}

/// Unchanged since `init` wrote it. Any other is the person's own.
fn is_preset_of_init(kept: &Kept, now: &str, of: preset::PresetOwner<'_>) -> bool {
    let written = kept.written.last().and_then(|text| preset::read_preset(text, of));
    written.is_some() && written == preset::read_preset(now, of)
}

fn preset_before(kept: &Kept, of: preset::PresetOwner<'_>) -> Option<String> {
    preset::read_preset(kept.original.as_deref()?, of)
}

/// A team commits its patterns; a person's own stay out of sight, since the install is theirs alone.
fn plan_ignore(target: &Target, records: &Records, plan: &mut Plan) -> Result<(), CliError> {
    if target.is_user {
        return Ok(());
    }
    if target.shared {
        plan_exclude_back(target, records, plan)?;
        return if target.is_in_git() { plan_gitignore(target, plan) } else { Ok(()) };
    }
    // 0.1 wrote a person's own patterns there.
    let gitignore = target.place(".gitignore");
    if plan.record.of(&gitignore.file).is_some()
        && target.checkout.is_some()
        && !target.is_committed(&gitignore)
    {
        plan_gitignore_back(target, plan)?;
    }
    plan_exclude(target, plan)
}

fn plan_gitignore(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let place = target.place(".gitignore");
    if place.is_link() {
        let detail = both!(
            "not changed: git does not follow a link here",
            "変更なし: git はここのリンクをたどりません"
        );
        plan.steps.push(Step::still(place, What::Kept, detail));
        return Ok(());
    }
    let Ok(old) = place.read() else {
        let detail = both!("not changed: not a text file", "変更なし: テキストファイルではありません");
        plan.steps.push(Step::still(place, What::Kept, detail));
        return Ok(());
    };
    let block = IgnoreBlock::of_project(IGNORED.map(str::to_owned));
    let new = block.add(old.as_deref());
    let without_us = old.as_deref().and_then(|old| block.remove(old));
    let details = (
        both!("patterns for Tidegate's runtime files", "Tidegate の実行時ファイルのパターン"),
        both!("patterns are there already", "パターンは記載済み"),
    );
    plan.write(place, Kind::Ignore, Texts { old, new, without_us }, details)
}

/// The repository's own list of files to ignore, and the block of this project in it.
fn exclude_of(target: &Target, plan: &Plan) -> Option<(Place, IgnoreBlock)> {
    let checkout = target.checkout.as_ref()?;
    let below = target.root.strip_prefix(&checkout.top).ok()?.to_str()?;
    // Git reads no pattern across lines.
    if below.contains(['\n', '\r']) {
        return None;
    }
    let shipped = match claude_code::plan::shared_hooks_that_stay(target) {
        // The team's own, to be committed.
        Some(_) => Vec::new(),
        None => claude_code::plan::shipped_below(target, plan),
    };
    let others = other_hosts_files(target, plan);
    let lines = IGNORED.map(str::to_owned).into_iter().chain(shipped).chain(others);
    let place = Place::plain(checkout.common.join("info/exclude"));
    let earlier = shipped::all_paths().map(|path| format!(".claude/{path}"));
    Some((place, IgnoreBlock::of_repository(below, lines, earlier)))
}

fn plan_exclude(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let Some((place, block)) = exclude_of(target, plan) else { return Ok(()) };
    let old = match place.read() {
        Ok(old) if place.check_writable().is_ok() => old,
        _ => {
            let detail = both!(
                "cannot be written: `git status` will list Tidegate's files",
                "書き込めないため、`git status` に Tidegate のファイルが出ます"
            );
            plan.steps.push(Step::still(place, What::Kept, detail));
            return Ok(());
        }
    };
    let new = block.add(old.as_deref());
    let without_us = old.as_deref().and_then(|old| block.remove(old));
    // Another worktree wrote the same block: whoever goes last takes it out.
    if old.as_ref() == Some(&new) && plan.record.of(&place.file).is_none() {
        plan.record.note(&place.file, Kind::Ignore, None, without_us.clone(), &new, plan.now);
    }
    let details = (
        both!("keeps Tidegate's files out of `git status`", "Tidegate のファイルを `git status` に出さない"),
        both!("patterns are there already", "パターンは記載済み"),
    );
    plan.write(place, Kind::Ignore, Texts { old, new, without_us }, details)
}

fn plan_exclude_back(target: &Target, records: &Records, plan: &mut Plan) -> Result<(), CliError> {
    let Some((place, block)) = exclude_of(target, plan) else { return Ok(()) };
    let checkout = |root: &Path| {
        Checkout::find(root).map(|it| (it.common, root.strip_prefix(it.top).map(Path::to_owned)))
    };
    let is_same =
        |other: &Record| other.of(&place.file).is_some() && checkout(&other.target) == checkout(&target.root);
    // Another worktree at the same place in it has the same block.
    if records.others(&target.root).iter().any(is_same) {
        plan.record.forget(&place.file);
        return Ok(());
    }
    let Some(old) = place.read().ok().flatten() else {
        plan.record.forget(&place.file);
        return Ok(());
    };
    let left = match plan.record.untouched(&place.file, Some(&old)) {
        Some(kept) => kept.original.clone(),
        None => block.remove(&old),
    };
    plan.give_back(
        place,
        Kind::Ignore,
        old,
        left,
        both!("Tidegate's patterns removed", "Tidegate のパターンを削除"),
    )
    .map(|_| ())
}

/// Of the files that hooks write for other tools.
fn plan_copies_back(target: &Target, plan: &mut Plan) {
    let copies = target.public_copies().into_iter();
    for place in copies.filter(|place| fs::symlink_metadata(&place.file).is_ok()) {
        let is_theirs = plan.record.theirs.contains(&place.file);
        plan.steps.push(if is_theirs {
            Step::still(
                place,
                What::Kept,
                both!("was there before Tidegate", "Tidegate より前からあるファイル"),
            )
        } else {
            Step::new(place, What::Removed, both!("removed", "削除"), Act::Discard)
        });
    }
}

pub(crate) fn plan_uninstall(target: &Target, records: &Records) -> Result<Plan, CliError> {
    let mut plan = Plan::new(records.load(&target.root), target.now);
    let was_installed = !plan.record.files.is_empty();
    let removed_of_others = plan_other_hosts_back(target, records, &mut plan)?;
    if target.other_host().is_some() {
        let is_last = plan.record.files.iter().all(|kept| kept.kind == Kind::Ignore);
        if is_last {
            plan_exclude_back(target, records, &mut plan)?;
            plan_link_back(target, records, was_installed, &mut plan)?;
            let context = target.in_host_folder("context");
            plan.folders.extend(context.file.ancestors().map(Path::to_owned));
            if !target.is_user {
                plan_copies_back(target, &mut plan);
            }
        }
        plan.keep_their_folders();
        return Ok(plan);
    }
    let removed = claude_code::plan::plan_entries_back(target, &mut plan)? | removed_of_others;
    claude_code::server::plan_server_back(target, records, &mut plan)?;
    plan_preset_back(target, &mut plan)?;
    if let Some(shared) = claude_code::plan::shared_hooks_that_stay(target) {
        // The shared hooks refer to the skills, and need the same files ignored.
        plan.steps.push(Step::still(
            shared,
            What::Kept,
            both!(
                "your team's hooks stay; `tidegate uninstall --shared` removes them",
                "チーム共有のフックは残ります。外すには `tidegate uninstall --shared`"
            ),
        ));
    } else {
        claude_code::plan::plan_shipped_back(target, records, &mut plan)?;
        plan_gitignore_back(target, &mut plan)?;
        if other_hosts_files(target, &plan).is_empty() {
            plan_exclude_back(target, records, &mut plan)?;
        } else {
            plan_exclude(target, &mut plan)?;
        }
        if removed && !target.is_user {
            let context = target.in_host_folder("context");
            plan.folders.extend(context.file.ancestors().map(Path::to_owned));
            plan_copies_back(target, &mut plan);
            let kept = |place| {
                let detail = both!(
                    "state of a cycle; delete it if you do not need it",
                    "サイクルの状態。不要なら削除してください"
                );
                Step::still(place, What::Kept, detail)
            };
            plan.steps.extend(target.cycle_files().into_iter().map(kept));
        }
    }
    // An interrupted `init` may have made the link.
    if removed || was_installed {
        plan_link_back(target, records, was_installed, &mut plan)?;
    } else if let Some(above) = target.root.ancestors().skip(1).find(|above| is_installed(target, above)) {
        let own = target.own_settings().file;
        for step in plan.steps.iter_mut().filter(|step| step.place.file == own) {
            let command = format!("tidegate uninstall --project {}", shell::quote_path(above));
            step.detail = both!(
                "Tidegate is installed in a folder above: `{command}` removes it",
                "上の階層のフォルダにインストールされています。外すには `{command}`"
            );
            step.what = What::Kept;
            step.is_notable = true;
        }
    }
    plan.keep_their_folders();
    Ok(plan)
}

fn is_installed(target: &Target, folder: &Path) -> bool {
    !target.is_user && project_root::is_installed(&target.env, folder)
}

/// Takes out what `init` wrote, and nothing else.
fn plan_preset_back(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
    let Some(place) = target.env.place.config().map(Place::plain) else { return Ok(()) };
    let Ok(Some(old)) = place.read() else { return Ok(()) };
    let root = target.root.to_string_lossy();
    let of = if target.is_user { preset::PresetOwner::User } else { preset::PresetOwner::Project(&root) };
    let detail = both!("preset removed", "プリセットを削除");
    let kept = plan.record.of(&place.file).cloned();
    if let Some(kept) = plan.record.untouched(&place.file, Some(&old)) {
        let left = kept.original.clone();
        return plan.give_back(place, Kind::Config, old, left, detail).map(|_| ());
    }
    if let Err(fault) = preset::restore_preset(&old, of, None) {
        if kept.is_some() {
            let (line, column) = (fault.line, fault.column);
            let Bilingual { en, ja } = describe_file_fault(&fault.what);
            let detail = both!(
                "not changed: line {line}, column {column}: {en}",
                "変更なし: {line}行{column}列: {ja}"
            );
            plan.steps.push(Step::still(place, What::Kept, detail));
        }
        return Ok(());
    }
    let Some(kept) = kept.filter(|kept| is_preset_of_init(kept, &old, of)) else {
        plan.record.forget(&place.file);
        if let Some(name) = preset::read_preset(&old, of).filter(|_| !target.is_user) {
            let detail = both!(
                "your preset `{name}` for this project stays; delete the line if you do not need it",
                "このプロジェクト用のプリセット `{name}` は残ります。不要なら行を削除してください"
            );
            plan.steps.push(Step::still(place, What::Kept, detail));
        }
        return Ok(());
    };
    let left = match preset::restore_preset(&old, of, preset_before(&kept, of).as_deref()) {
        // A file that existed before stays, even if it is empty now.
        Ok(None) if kept.original.is_some() => Some(String::new()),
        Ok(left) => left,
        Err(fault) => return Err(place.refused(&fault, Bilingual::default())),
    };
    plan.give_back(place, Kind::Config, old, left, detail).map(|_| ())
}

fn plan_gitignore_back(target: &Target, plan: &mut Plan) -> Result<(), CliError> {
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
        None => IgnoreBlock::of_project(IGNORED.map(str::to_owned)).remove(&old),
    };
    let left = left.or_else(|| target.is_committed(&place).then(String::new));
    let detail = both!("Tidegate's patterns removed", "Tidegate のパターンを削除");
    plan.give_back(place, Kind::Ignore, old, left, detail).map(|_| ())
}

/// Removes the link only if its callers are known and gone: the host silently skips a hook whose program is missing. A
/// moved project has a record whose file is gone, and an install without a record may not be the only one.
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
    let others = records.others(&target.root).into_iter().flat_map(|record| record.files);
    let of_others = HOSTS.iter().map(|hooks| target.hooks_of(hooks));
    let here = [Some(target.own_settings()), target.shared_settings()].into_iter().chain(of_others);
    let here = here.flatten().map(|place| place.file);
    let others: Vec<PathBuf> =
        others.filter(|kept| kept.kind == Kind::Settings).map(|kept| kept.file).collect();
    let is_lost = others.iter().any(|file| claude_code::settings_file::read_text(file).is_none());
    // A person's own script around the program needs the link, too.
    let calls = |file: &PathBuf| claude_code::plan::needs_program(&plan.text_after(file), &target.call);
    let place = Place::plain(path.clone());
    let step = if let Some(file) = others.into_iter().chain(here).find(calls) {
        let detail = both!("{file} still needs it", "{file} がまだ使っています", file = file.display());
        Step::still(place, What::Kept, detail)
    } else if is_lost || !was_installed {
        let detail = both!("other installs may need it", "ほかのインストールが使っている可能性があります");
        Step::still(place, What::Kept, detail)
    } else {
        place.check_folder()?;
        Step::new(place, What::Removed, both!("removed", "削除"), Act::Unlink)
    };
    let is_unlinked = step.act == Act::Unlink;
    plan.steps.push(step);
    if is_unlinked {
        plan_copy_back(path, plan);
        plan.folders.extend(path.ancestors().skip(1).map(Path::to_owned));
    }
    Ok(())
}
