//! Registers the MCP server, so that the model can search its memory: in the person's own file, or in the one that a team
//! shares.
//!
//! The client rewrites its own file at any time. So the change is made under the client's lock, on the text as it is then.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tidegate_state::file::replace;
use tidegate_state::project::Checkout;

use super::server_text::{self, Found};
use super::{plugin, warnings};
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::install::place::Place;
use crate::install::plan::Plan;
use crate::install::record::{Kind, Record, Records};
use crate::install::step::{Act, Step, What};
use crate::install::target::Target;
use crate::json_text::Fault;
use crate::path::future_real_path;

/// One change of a file, made on its text at that moment.
#[derive(Debug, PartialEq)]
pub(crate) struct ServerChange {
    keys: Vec<String>,
    program: String,
    edit: Edit,
    lock: Option<LockPlace>,
}

/// Where the client locks its file, and the note that this lock is Tidegate's.
#[derive(Clone, Debug, PartialEq)]
struct LockPlace {
    folder: PathBuf,
    note: PathBuf,
}

#[derive(Debug, PartialEq)]
enum Edit {
    Add(Value),
    Remove {
        /// See [`server_text::draw_outline`].
        outline: Option<String>,
        /// Left instead of no file.
        otherwise: Option<String>,
    },
}

/// The file, and the way to the list of servers in it.
struct Site {
    place: Place,
    keys: Vec<String>,
    lock: Option<LockPlace>,
    /// The program as the entry names it.
    program: String,
}

impl Site {
    /// `None` without a home.
    fn own(target: &Target) -> Option<Site> {
        let shown = client_file(target)?;
        let file = future_real_path(&shown).unwrap_or_else(|_| shown.clone());
        let mut folder = shown.clone().into_os_string();
        folder.push(".lock");
        let note = target.env.place.state().ok()?.join("installs/client-lock");
        let keys = if target.is_user {
            vec!["mcpServers".to_owned()]
        } else {
            let project = client_project(&target.root).to_str()?.to_owned();
            ["projects", &project, "mcpServers"].map(str::to_owned).to_vec()
        };
        Some(Site {
            place: Place { shown, file },
            keys,
            lock: Some(LockPlace { folder: folder.into(), note }),
            program: target.call.clone(),
        })
    }

    /// Every teammate's own program: on their `PATH`, since this file has no other place to look.
    fn shared(target: &Target) -> Site {
        let (place, keys) = (target.place(".mcp.json"), vec!["mcpServers".to_owned()]);
        Site { place, keys, lock: None, program: "tidegate".to_owned() }
    }

    /// What was there before any install. The last one to go takes out what another one added around its entry.
    fn outline(&self, text: Option<&str>, target: &Target, others: &[Record]) -> Option<String> {
        let own = server_text::draw_outline(text, &self.keys)?;
        let host = target.env.place.host();
        for other in others {
            let Some(kept) = other.of(&self.place.file) else { continue };
            let before = kept.original.as_deref()?;
            let is_alike = host.as_ref().is_some_and(|host| *host == other.target) == target.is_user;
            if is_alike && server_text::draw_outline(Some(before), &self.keys[..1]).as_deref() == Some("{}") {
                return Some("{}".to_owned());
            }
        }
        Some(own)
    }

    /// The link moved, or the program that the entry starts is gone. One that a person registered stays.
    fn leads_elsewhere(&self, plan: &Plan) -> bool {
        let text = self.place.read().ok().flatten().unwrap_or_default();
        let called = server_text::called_program(&text, &self.keys).unwrap_or_default();
        let is_ours = plan.record.of(&self.place.file).is_some();
        called != self.program
            && (is_ours || Path::new(&called).is_absolute() && !Path::new(&called).exists())
    }

    fn find(&self) -> Result<Found, CliError> {
        let Some(text) = self.place.read()? else { return Ok(Found::Nothing) };
        if text.trim().is_empty() {
            return Ok(Found::Nothing);
        }
        let found = server_text::find_entry(&text, &self.keys, &self.program);
        found.map_err(|fault| self.place.refused(&fault, Bilingual::default()))
    }
}

/// The client's own file in the home. An old name counts while there is no new one.
fn client_file(target: &Target) -> Option<PathBuf> {
    let place = &target.env.place;
    let new = match &place.host_config {
        Some(folder) if folder.is_absolute() => folder.join(".claude.json"),
        _ => place.home.as_ref().filter(|home| home.is_absolute())?.join(".claude.json"),
    };
    let old = place.host()?.join(".config.json");
    Some(if !new.exists() && old.is_file() { old } else { new })
}

/// The folder under which the client keeps what belongs to a project: all worktrees of a repository are one.
pub(crate) fn client_project(root: &Path) -> PathBuf {
    match Checkout::find(root) {
        Some(checkout) if checkout.common == checkout.git => checkout.top,
        Some(checkout) if checkout.common.ends_with(".git") => {
            checkout.common.parent().map_or(checkout.top, Path::to_owned)
        }
        Some(checkout) => checkout.common,
        None => {
            let top = root.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
            top.unwrap_or(root).to_owned()
        }
    }
}

pub(crate) fn plan_server(target: &Target, records: &Records, plan: &mut Plan) -> Result<(), CliError> {
    let shared = Site::shared(target);
    let site = if target.shared { Some(shared) } else { Site::own(target) };
    let Some(site) = site else { return Ok(()) };
    let place = site.place.clone();
    if let Some(why) = registered_elsewhere(target) {
        plan.steps.push(Step::still(place, What::Unchanged, why));
        return Ok(());
    }
    match site.find() {
        Ok(Found::Ours) if !site.leads_elsewhere(plan) => {
            plan.steps.push(Step::still(place, What::Unchanged, registered()));
        }
        Ok(Found::Theirs) => {
            let name = server_text::NAME;
            let detail = both!(
                "kept your MCP server `{name}`; Claude has no memory tools",
                "既存の MCP サーバー `{name}` を残しました。Claude は記憶を検索できません"
            );
            plan.steps.push(Step::still(place, What::Kept, detail));
        }
        Ok(Found::Nothing | Found::Ours) => {
            let entry = server_text::make_entry(&site.program);
            let old = place.read()?;
            // Refused files are the client's to mend: everything else works without the tools.
            if let Err(fault) = server_text::add_entry(old.as_deref(), &site.keys, &entry) {
                let (line, column) = (fault.line, fault.column);
                let why = Bilingual::data(format!("{line}:{column}: {}", fault.what));
                plan.steps.push(Step::still(place, What::Kept, not_registered(&why)));
                return Ok(());
            }
            if let Err(error) = place.check_writable() {
                plan.steps.push(Step::still(place, What::Kept, not_registered(error.words())));
                return Ok(());
            }
            let outline = site.outline(old.as_deref(), target, &records.others(&target.root));
            plan.record.note_outline(&place.file, outline, plan.now);
            plan.make_folders(place.file.parent());
            plan.steps.push(site.step(old, Edit::Add(entry), registered()));
        }
        Err(error) => {
            plan.steps.push(Step::still(place, What::Kept, not_registered(error.words())));
        }
    }
    Ok(())
}

fn registered() -> Bilingual {
    both!(
        "MCP server: Claude can search earlier conversations",
        "MCP サーバー: Claude が過去の会話を検索できます"
    )
}

fn not_registered(why: &Bilingual) -> Bilingual {
    let Bilingual { en, ja } = why;
    both!("Claude has no memory tools: {en}", "Claude は記憶を検索できません: {ja}")
}

fn still_registered(why: &Bilingual) -> Bilingual {
    let Bilingual { en, ja } = why;
    both!(
        "Tidegate's MCP server is still registered there: {en}; fix this, then run it again",
        "Tidegate の MCP サーバーの登録が残っています: {ja}。原因を取り除いて、もう一度実行してください"
    )
}

/// Two servers would give the model every tool twice.
fn registered_elsewhere(target: &Target) -> Option<Bilingual> {
    let settings = warnings::read_settings(target);
    let host = target.env.place.host();
    if let Some(plugin) = plugin::find_plugin(&settings, host.as_deref()).filter(|_| !target.shared) {
        let id = plugin.id;
        return Some(both!("the plugin {id} has the MCP server", "MCP サーバーはプラグイン {id} にあります"));
    }
    let is_team = !target.shared
        && !target.is_user
        && Site::shared(target).find().is_ok_and(|found| found == Found::Ours);
    is_team.then(|| {
        both!("your team's .mcp.json has the MCP server", "MCP サーバーはチームの .mcp.json にあります")
    })
}

/// Forgets the file only together with the entry: a second run has to know what was there before.
pub(crate) fn plan_server_back(target: &Target, records: &Records, plan: &mut Plan) -> Result<(), CliError> {
    let mut sites: Vec<Site> = Site::own(target).into_iter().collect();
    if target.shared {
        sites.push(Site::shared(target));
    }
    for site in sites {
        let place = site.place.clone();
        let kept = plan.record.of(&place.file).cloned();
        let is_others = |other: &Record| {
            other.of(&place.file).is_some() && client_project(&other.target) == client_project(&target.root)
        };
        // Worktrees of one repository share the entry.
        if !target.is_user && records.others(&target.root).iter().any(is_others) {
            plan.record.forget(&place.file);
            continue;
        }
        let found = match site.find() {
            Ok(Found::Ours) => place.check_writable(),
            Ok(Found::Nothing | Found::Theirs) => {
                plan.record.forget(&place.file);
                continue;
            }
            // Without a record there is no reason to expect an entry.
            Err(_) if kept.is_none() => continue,
            Err(error) => Err(error),
        };
        if let Err(error) = found {
            plan.steps.push(Step::still(place, What::Kept, still_registered(error.words())));
            continue;
        }
        plan.record.forget(&place.file);
        let old = place.read()?;
        // Without a record nothing around the entry is known to be Tidegate's.
        let outline = match &kept {
            Some(kept) => kept.original.clone(),
            None => server_text::draw_outline(old.as_deref(), &site.keys),
        };
        let otherwise = target.is_committed(&place).then(|| "{}\n".to_owned());
        let edit = Edit::Remove { outline, otherwise };
        plan.folders.extend(place.file.parent().into_iter().flat_map(Path::ancestors).map(Path::to_owned));
        plan.steps.push(site.step(old, edit, both!("MCP server removed", "MCP サーバーを削除")));
    }
    Ok(())
}

impl Site {
    fn step(self, old: Option<String>, edit: Edit, detail: Bilingual) -> Step {
        let what = if matches!(edit, Edit::Add(_)) { What::Written } else { What::Removed };
        let change = ServerChange { keys: self.keys, program: self.program, edit, lock: self.lock };
        Step::of_kind(self.place, what, detail, Act::Server { old, change }, Kind::Server)
    }
}

impl ServerChange {
    /// `None` is no file, before and after.
    pub(crate) fn apply(&self, text: Option<&str>) -> Result<Option<String>, Fault> {
        match &self.edit {
            Edit::Add(entry) => server_text::add_entry(text, &self.keys, entry).map(Some),
            Edit::Remove { outline, otherwise } => {
                let Some(text) = text else { return Ok(None) };
                let left = server_text::remove_entry(text, &self.keys, &self.program, outline.as_deref())?;
                Ok(left.or_else(|| otherwise.clone()))
            }
        }
    }

    /// The client's own file, which it locks.
    pub(crate) fn is_of_client(&self) -> bool {
        self.lock.is_some()
    }

    /// The file before and after. Of the client's own file only Tidegate's entry and the way to it: the rest is full of
    /// others' secrets, possibly all in one line.
    pub(crate) fn show(&self, old: Option<&str>) -> Result<(Option<String>, Option<String>), Fault> {
        let new = self.apply(old)?;
        if !self.is_of_client() {
            return Ok((old.map(str::to_owned), new));
        }
        let draw = |text: &str| server_text::draw_entry(text, &self.keys);
        Ok((old.map(draw), new.as_deref().map(draw)))
    }

    pub(crate) fn run(&self, file: &Path) -> io::Result<()> {
        let lock = self.lock.as_ref().map(|lock| ClientLock::take(&lock.folder, &lock.note));
        let _lock = lock.transpose()?;
        let old = read_if_there(file)?;
        let new = self.apply(old.as_deref());
        let new = new
            .map_err(|fault| io::Error::other(format!("{}:{}: {}", fault.line, fault.column, fault.what)))?;
        match (old, new) {
            (old, new) if old == new => Ok(()),
            (Some(old), Some(new)) => replace::durable_if(file, new.as_bytes(), |path| {
                let is_same = read_if_there(path)?.as_ref() == Some(&old);
                is_same
                    .then_some(())
                    .ok_or_else(|| io::Error::other("it changed in this moment; run this again"))
            }),
            // Only its owner may read what the client will write there.
            (None, Some(new)) if self.is_of_client() => replace::durable_private(file, new.as_bytes()),
            (None, Some(new)) => replace::durable(file, new.as_bytes()),
            (_, None) => fs::remove_file(file),
        }
    }
}

fn read_if_there(file: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The client's own lock: a folder next to the file. It takes one that was not touched for ten seconds for left behind.
///
/// A note in private state says which folder is Tidegate's, so that the next install need not wait for one that a killed
/// process left. Only one install runs at a time.
struct ClientLock {
    path: PathBuf,
    note: PathBuf,
}

impl ClientLock {
    const STALE: Duration = Duration::from_secs(10);
    /// Longer than that, so that one which was left behind is always taken.
    const LONGEST: Duration = Duration::from_secs(12);

    fn take(path: &Path, note: &Path) -> io::Result<ClientLock> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if fs::read_to_string(note).is_ok_and(|known| identify(path).is_some_and(|now| now == known)) {
            let _ = fs::remove_dir(path);
        }
        let end = Instant::now() + ClientLock::LONGEST;
        loop {
            match fs::create_dir(path) {
                Ok(()) => break,
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) if is_stale(path) => {
                    let _ = fs::remove_dir(path);
                }
                Err(_) if Instant::now() > end => {
                    return Err(io::Error::other("Claude Code is writing it; run this again"));
                }
                // Another program's lock tells nobody when it goes.
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        let lock = ClientLock { path: path.to_owned(), note: note.to_owned() };
        if let Some(known) = identify(path) {
            let _ = fs::write(note, known);
        }
        Ok(lock)
    }
}

impl Drop for ClientLock {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
        let _ = fs::remove_file(&self.note);
    }
}

/// The folder and its time: another one at the same path is not the same.
fn identify(lock: &Path) -> Option<String> {
    let touched = fs::metadata(lock).and_then(|found| found.modified()).ok()?;
    let since = touched.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("{} {}", since.as_nanos(), lock.display()))
}

fn is_stale(lock: &Path) -> bool {
    let touched = fs::metadata(lock).and_then(|found| found.modified()).ok();
    let age = touched.and_then(|touched| SystemTime::now().duration_since(touched).ok());
    age.is_some_and(|age| age > ClientLock::STALE)
}
