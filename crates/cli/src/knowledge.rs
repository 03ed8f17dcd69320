//! Flow and stock of the project that a command means. Unlike the hooks, it reports files that it cannot read.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tidegate_core::event::SessionId;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::flow::{NewEntry, Progress, ShownEntries, unpromoted};
use tidegate_core::feature::knowledge::stock::{CountForm, StockFile};
use tidegate_core::feature::marks::Marks;
use tidegate_core::text::one_line::one_line;

use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::feature::knowledge::folder::ContextFolder;
use tidegate_state::feature::knowledge::{edit, promotions};
use tidegate_state::file::bounded;
use tidegate_state::project;

use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::path::real_path;
use crate::print::page::Page;
use crate::print::text::{Text, data, prose};
use crate::sessions::Here;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StockName {
    /// `learnings-coding.md`
    Coding,
    /// `learnings-design.md`
    Design,
    /// `learnings-feature-spec.md`
    FeatureSpec,
    /// `learnings.md`
    General,
    /// The file that your own config names
    Global,
}

/// So many digits of an id are shown; the beginning of one is enough to name it.
const SHOWN_DIGITS: usize = 8;

/// Fewer digits name too much.
const FEWEST_DIGITS: usize = 4;

/// A list of learnings that people read is far smaller.
pub(crate) const LARGEST: u64 = 1024 * 1024;

/// A project, and the session that works in it, if there is one.
pub(crate) struct Project {
    pub(crate) here: Here,
    pub(crate) root: PathBuf,
    pub(crate) session: Option<SessionId>,
    marks: Option<Marks>,
}

impl Project {
    pub(crate) fn find(of: &ProjectArgs) -> Result<Project, CliError> {
        let mut here = Here::find()?;
        if let Some(folder) = &of.project {
            here.look_at(folder)?;
        }
        if let Some(named) = &of.session {
            let session = here.session(Some(named))?;
            here.root = session.marks.session.root.map(PathBuf::from).or(here.root);
            here.env.session = Some(session.id.to_string());
        }
        let root = here.root.clone().ok_or_else(|| {
            CliError::new(both!("the project is not known", "プロジェクトがわかりません")).hint(both!(
                "go to its folder, or name it with --project",
                "プロジェクトのフォルダに移動するか、--project で指定してください"
            ))
        })?;
        // As the hooks see it: a worktree of the same repository has its own flow and stock.
        let cwd = std::env::current_dir().ok().filter(|_| of.project.is_none());
        let there = project::root(Some(&root), cwd.as_deref()).unwrap_or_else(|| root.clone());
        if there != root {
            here.look_at(&there)?;
        }
        let session = here.env.session.as_deref().and_then(|id| SessionId::parse(id).ok());
        let marks = session.as_ref().and_then(|id| here.known_session(id.as_str()).ok());
        let marks = marks.map(|session| session.marks);
        Ok(Project { root: here.root.clone().unwrap_or(there), here, session, marks })
    }

    pub(crate) fn folder(&self) -> PathBuf {
        context_folder(&self.root)
    }

    /// Folder for notes about this session; at a terminal, about this project.
    pub(crate) fn private(&self) -> PathBuf {
        match &self.session {
            Some(session) => self.here.state.session(session),
            None => self.here.state.project(&self.root),
        }
    }

    pub(crate) fn is_seen(&self) -> bool {
        self.marks.is_some()
    }

    /// New files count confirmations in the person's language.
    pub(crate) fn form(&self) -> CountForm {
        let prompt = self.marks.as_ref().and_then(|marks| marks.session.lang);
        match self.here.env.lang(self.here.config.general.lang, prompt) {
            Lang::En => CountForm::Times,
            Lang::Ja => CountForm::Kai,
        }
    }

    pub(crate) fn read(&self) -> Result<Knowledge, CliError> {
        read_knowledge(&self.here, &self.root, KnowledgeFiles::Notes)
    }

    pub(crate) fn read_learnings(&self) -> Result<Knowledge, CliError> {
        read_knowledge(&self.here, &self.root, KnowledgeFiles::Learnings)
    }

    /// Notes belong to a project.
    pub(crate) fn check_is_known(&self) -> Result<(), CliError> {
        if project::is_known(&self.root, self.here.env.place.home.as_deref()) {
            return Ok(());
        }
        let root = self.root.display();
        Err(CliError::new(both!(
            "{root} is not a project, so nothing was written",
            "{root} はプロジェクトではないため、書き込んでいません"
        ))
        .hint(both!(
            "go to the folder of the project, or name it with --project",
            "プロジェクトのフォルダに移動するか、--project で指定してください"
        )))
    }

    /// Makes the folder, but nothing outside the project.
    pub(crate) fn add(&self, entry: &NewEntry) -> std::io::Result<Option<EntryId>> {
        edit::add_entry(&self.here.state, &ContextFolder::make(&self.root)?, entry)
    }

    /// Writes only if the file still has its old text.
    pub(crate) fn write_stock(&self, path: &Path, old: Option<&str>, new: &str) -> std::io::Result<()> {
        let change = |now: &str| (now == old.unwrap_or_default()).then(|| new.to_owned());
        let name = path.file_name().and_then(|name| name.to_str());
        let in_project = name.filter(|_| path.parent() == Some(&self.folder()));
        let written = if let Some(name) = in_project {
            edit::change(&self.here.state, &ContextFolder::make(&self.root)?, name, change)?
        } else {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            edit::change_file(&self.here.state, path, change)?
        };
        if written { Ok(()) } else { Err(std::io::Error::other("it was changed in between")) }
    }

    pub(crate) fn unwritten(path: &Path, error: &std::io::Error) -> CliError {
        let path = path.display();
        CliError::new(both!("{path} was not written: {error}", "{path} に書き込めませんでした: {error}"))
    }

    /// Behind all links.
    pub(crate) fn real(&self) -> PathBuf {
        real_path(&self.root)
    }

    pub(crate) fn path_of(&self, file: StockName) -> Result<PathBuf, CliError> {
        let of_project = |file: StockFile| Ok(self.folder().join(file.file_name()));
        match file {
            StockName::Coding => of_project(StockFile::Coding),
            StockName::Design => of_project(StockFile::Design),
            StockName::FeatureSpec => of_project(StockFile::FeatureSpec),
            StockName::General => of_project(StockFile::General),
            StockName::Global => global_stock(&self.here).ok_or_else(|| {
                let config = self.here.env.place.config();
                let config =
                    config.map_or_else(|| "your config".to_owned(), |path| path.display().to_string());
                CliError::new(both!(
                    "there is no file for learnings of all projects",
                    "すべてのプロジェクト共通の学びのファイルが指定されていません"
                ))
                .hint(both!(
                    "write `global = \"~/.claude/learnings.md\"` under [knowledge] in {config}",
                    "{config} の [knowledge] に `global = \"~/.claude/learnings.md\"` と書いてください"
                ))
            }),
        }
    }
}

/// What a command cannot do without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnowledgeFiles {
    Notes,
    /// Notes that cannot be read are left out.
    Learnings,
}

pub(crate) fn warn_left_out(why: &Bilingual) {
    let Bilingual { en, ja } = why;
    let mut page = Page::new();
    page.labelled(Text::from(both!("warning", "警告")).warning(), both!("left out: {en}", "除外: {ja}"));
    page.print_to_stderr();
}

pub(crate) fn read_knowledge(here: &Here, root: &Path, files: KnowledgeFiles) -> Result<Knowledge, CliError> {
    let folder = ContextFolder::find(root);
    if folder.is_none() && std::fs::symlink_metadata(context_folder(root)).is_ok() {
        let folder = context_folder(root);
        let folder = folder.display();
        return Err(CliError::new(both!(
            "{folder} is not a folder in this project",
            "{folder} はこのプロジェクトのフォルダではありません"
        ))
        .hint(both!(
            "move it away; `tidegate progress add` creates it again",
            "別の場所に移してください。`tidegate progress add` で作り直します"
        )));
    }
    let text = |name: &str| match folder.as_ref().map(|folder| folder.text(name)) {
        Some(Known::Value(text)) => Ok(Some(text)),
        Some(Known::Broken(why)) => Err(unreadable_file(&context_folder(root).join(name), &why)),
        Some(Known::Absent) | None => Ok(None),
    };
    let leave_out = |error: CliError| {
        warn_left_out(error.words());
        None
    };
    let progress = match text(flow::FILE) {
        Err(error) if files == KnowledgeFiles::Learnings => leave_out(error),
        progress => progress?,
    };
    // A damaged archive does not stop the command: its entries can wait.
    let archive = text(flow::ARCHIVE).unwrap_or_else(leave_out);
    let mut stock = Vec::new();
    let mut broken = Vec::new();
    for file in StockFile::ALL {
        let path = context_folder(root).join(file.file_name());
        match text(file.file_name()) {
            Ok(Some(text)) => stock.push(StockText { file: of_project(file), path, text }),
            Ok(None) => {}
            Err(error) => broken.push((path, error.words().clone())),
        }
    }
    if let Some(path) = global_stock(here) {
        match global_text(&path) {
            Ok(Some(text)) => stock.push(StockText { file: StockName::Global, path, text }),
            Ok(None) => {}
            Err(why) => broken.push((path.clone(), unreadable_file(&path, &why).words().clone())),
        }
    }
    let shown =
        folder.map(|folder| promotions::read_shown(&here.state, &folder, here.now)).unwrap_or_default();
    Ok(Knowledge {
        progress: progress.unwrap_or_default(),
        archive: archive.unwrap_or_default(),
        stock,
        broken,
        shown,
    })
}

fn unreadable_file(path: &Path, why: &str) -> CliError {
    // Some reasons begin with the file's name.
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let why = why.strip_prefix(&format!("{name}: ")).unwrap_or(why);
    let path = path.display();
    CliError::new(both!("{path} cannot be read: {why}", "{path} を読めません: {why}")).hint(fix_file())
}

/// The stock of all projects, if the user's config names it.
fn global_stock(here: &Here) -> Option<PathBuf> {
    let path = &here.config.knowledge.global.as_ref()?.0;
    match path.strip_prefix("~/") {
        Some(below) => here.env.place.home.as_deref().map(|home| home.join(below)),
        None => Some(PathBuf::from(path)),
    }
}

fn context_folder(root: &Path) -> PathBuf {
    root.join(".claude/context")
}

fn of_project(file: StockFile) -> StockName {
    match file {
        StockFile::FeatureSpec => StockName::FeatureSpec,
        StockFile::Design => StockName::Design,
        StockFile::Coding => StockName::Coding,
        StockFile::General => StockName::General,
    }
}

impl StockName {
    /// For messages.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            StockName::Coding => StockFile::Coding.file_name(),
            StockName::Design => StockFile::Design.file_name(),
            StockName::FeatureSpec => StockFile::FeatureSpec.file_name(),
            StockName::General => StockFile::General.file_name(),
            StockName::Global => "the learnings of all projects",
        }
    }
}

fn global_text(path: &Path) -> Result<Option<String>, String> {
    match bounded::read(path, LARGEST) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned()),
    }
}

pub(crate) struct Knowledge {
    progress: String,
    archive: String,
    pub(crate) stock: Vec<StockText>,
    /// Stock that cannot be read, and why.
    pub(crate) broken: Vec<(PathBuf, Bilingual)>,
    shown: ShownEntries,
}

#[derive(Clone)]
pub(crate) struct StockText {
    pub(crate) file: StockName,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl StockText {
    /// By its name in the project, by its path elsewhere.
    pub(crate) fn shown(&self) -> String {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned());
        match self.file {
            StockName::Global => self.path.display().to_string(),
            _ => name.unwrap_or_default(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) id: EntryId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<String>,
    pub(crate) what: String,
    pub(crate) heading: String,
    pub(crate) body: String,
    pub(crate) file: &'static str,
    pub(crate) line: usize,
    /// Not yet reviewed by a person.
    pub(crate) unpromoted: bool,
}

impl Entry {
    /// Id, time and title in one line.
    pub(crate) fn line(&self, clock: &LocalClock) -> Text {
        let at = self.at.as_deref().and_then(Millis::from_iso).map(|at| clock.minute(at));
        let at = at.map(|at| format!("{at}  ")).unwrap_or_default();
        let archived = if self.file == flow::ARCHIVE {
            Text::from(both!("  (archive)", "（アーカイブ）")).dim()
        } else {
            Text::default()
        };
        data(shorten_id(self.id)).dim() + data(format!("  {at}")).dim() + prose(&self.what) + archived
    }
}

impl Knowledge {
    /// Newest first, each once; those of the archive after those of `progress.md`.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let (progress, archive) = (Progress::parse_flow(&self.progress), Progress::parse(&self.archive));
        let new = unpromoted(&progress, Some(&archive), &self.shown);
        let new: Vec<EntryId> = new.iter().map(|entry| entry.id).collect();
        let mut entries: Vec<Entry> = Vec::new();
        for (file, of_file) in [(flow::FILE, &progress), (flow::ARCHIVE, &archive)] {
            for entry in of_file.newest_first() {
                if entries.iter().any(|known| known.id == entry.id) {
                    continue;
                }
                entries.push(Entry {
                    id: entry.id,
                    at: entry.at.map(Millis::iso_seconds),
                    what: entry.what.to_owned(),
                    heading: entry.heading.to_owned(),
                    body: entry.body.trim().to_owned(),
                    file,
                    line: entry.line,
                    unpromoted: new.contains(&entry.id),
                });
            }
        }
        entries
    }

    /// Entries that count as reviewed by their timestamps alone, because no list of ids exists yet.
    pub(crate) fn promoted_by_time(&self) -> Vec<EntryId> {
        if !self.shown.ids.is_empty() {
            return Vec::new();
        }
        self.entries().into_iter().filter(|entry| !entry.unpromoted).map(|entry| entry.id).collect()
    }

    /// Accepts the beginning of an id.
    pub(crate) fn entry(&self, named: &str) -> Result<Entry, CliError> {
        let mut entries = self.entries();
        entries.retain(|entry| is_named(entry.id, named));
        let ids = entries.iter().map(|entry| entry.id.to_string()).collect();
        let hint =
            both!("`tidegate progress list` shows the ids", "ID は `tidegate progress list` で表示されます");
        check_unique(named, &both!("note", "メモ"), ids, hint)?;
        Ok(entries.swap_remove(0))
    }
}

/// Refuses an id that names nothing, or several things.
pub(crate) fn check_unique(
    named: &str,
    what: &Bilingual,
    mut ids: Vec<String>,
    hint: Bilingual,
) -> Result<(), CliError> {
    let Bilingual { en, ja } = what;
    if named.len() < FEWEST_DIGITS {
        return Err(CliError::new(both!(
            "`{named}` is too short for an id: give at least {FEWEST_DIGITS} digits",
            "`{named}` は ID として短すぎます。{FEWEST_DIGITS}桁以上で指定してください"
        ))
        .hint(hint));
    }
    ids.dedup();
    match ids.len() {
        0 => {
            Err(CliError::new(both!("there is no {en} `{named}`", "`{named}` という{ja}はありません"))
                .hint(hint))
        }
        1 => Ok(()),
        _ => {
            let ids = ids.join(", ");
            Err(CliError::new(both!(
                "`{named}` is the beginning of several ids: {ids}",
                "`{named}` で始まる ID が複数あります: {ids}"
            ))
            .hint(both!("give more of its digits", "もう少し長く指定してください")))
        }
    }
}

pub(crate) fn is_named(id: EntryId, named: &str) -> bool {
    id.to_string().starts_with(&named.to_ascii_lowercase())
}

/// As it is shown in lists.
pub(crate) fn shorten_id(id: EntryId) -> String {
    id.to_string()[..SHOWN_DIGITS].to_owned()
}

/// One line, not empty.
pub(crate) fn required_line(name: &str, text: &str) -> Result<String, CliError> {
    let line = one_line(text);
    if line.is_empty() {
        return Err(CliError::new(both!("`{name}` is empty", "`{name}` が空です"))
            .hint(both!("say it in one line", "1行で書いてください")));
    }
    Ok(line)
}

pub(crate) fn fix_file() -> Bilingual {
    both!(
        "nothing was changed; repair that file or move it away, then try again",
        "何も変更していません。ファイルを直すか別の場所に移して、やり直してください"
    )
}
