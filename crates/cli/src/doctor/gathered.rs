//! Everything the checks look at, read once and bounded.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::marks::Marks;
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_state::file::bounded;
use tidegate_state::place::StateDir;
use tidegate_state::{clock, config};

use super::history::{self, History};
use crate::bilingual::both;
use crate::error::CliError;
use crate::host::claude_code::client::Client;
use crate::language;
use crate::local_time::LocalClock;
use crate::path::real_path;
use crate::program;
use crate::project_root;

/// More than this is damage.
const LARGEST_MARKS: u64 = 4 * 1024 * 1024;

pub(crate) struct Gathered {
    pub(crate) env: Environment,
    pub(crate) now: Millis,
    /// For times in texts: of this machine for people, UTC for programs.
    pub(crate) clock: LocalClock,
    /// Folders of `PATH`.
    pub(crate) path: Vec<PathBuf>,
    pub(crate) exe: Option<PathBuf>,
    /// Stable link to this program, made by `init`.
    pub(crate) link: Option<PathBuf>,
    /// Path of this program in settings.
    pub(crate) call: String,
    pub(crate) project: Option<PathBuf>,
    pub(crate) client: Client,
    pub(crate) config: Config,
    pub(crate) state: Result<StateDir, String>,
    /// Before opening it, which tightens the mode.
    pub(crate) state_mode: Option<u32>,
    pub(crate) history: History,
    pub(crate) sessions: Vec<SeenSession>,
}

/// A session that Tidegate's hooks have seen.
pub(crate) struct SeenSession {
    pub(crate) id: SessionId,
    pub(crate) marks: Marks,
}

impl Gathered {
    pub(crate) fn gather(
        named: Option<&Path>,
        clock: fn(Millis) -> LocalClock,
    ) -> Result<Gathered, CliError> {
        let named = match named {
            Some(folder) if !folder.is_dir() => {
                let folder = folder.display();
                return Err(CliError::new(both!(
                    "{folder} is not a folder",
                    "{folder} はフォルダではありません"
                ))
                .hint(both!(
                    "name the project's folder with --project",
                    "--project にプロジェクトのフォルダを指定してください"
                )));
            }
            named => named.map(real_path),
        };
        let (env, now) = (Environment::of_process(), clock::now());
        let path = program::search_path();
        let exe = std::env::current_exe().and_then(fs::canonicalize).ok();
        let state_mode = env.place.state().ok().as_deref().and_then(file_mode);
        let state = StateDir::open(&env.place);
        let history = state.as_ref().map(|state| history::read_history(state, now)).unwrap_or_default();
        let sessions = state.as_ref().map(read_sessions).unwrap_or_default();
        let project = named.or_else(|| {
            let root = |session: &SeenSession| session.marks.session.root.as_deref().map(PathBuf::from);
            let is_ours = |known: &&SeenSession| env.session.as_deref() == Some(known.id.as_str());
            let of_session = sessions.iter().find(is_ours).and_then(root);
            project_root::find_project(&env, of_session, || sessions.iter().filter_map(root).collect())
        });
        let user = env.place.config();
        let config = config::read(&config::Sources {
            user: user.as_deref(),
            root: project.as_deref(),
            state: state.as_ref().ok(),
            variables: &env.settings,
            off: env.off.as_deref(),
        });
        language::choose(&env, config.general.lang);

        let link = env.place.link();
        let call = link.as_ref().filter(|_| cfg!(unix)).or(exe.as_ref());
        let call = call.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let client = Client::read(env.place.host(), project.as_deref(), &call);
        let mut gathered = Gathered {
            env,
            now,
            clock: clock(now),
            path,
            exe,
            link,
            call,
            project,
            client,
            config,
            state,
            state_mode,
            history,
            sessions,
        };
        let since = gathered.installed().unwrap_or(now);
        gathered.client.read_sessions(gathered.project.as_deref(), since);
        Ok(gathered)
    }

    /// A program in the project's folder may be the repository's, and is not run.
    pub(crate) fn is_in_project(&self, program: &Path) -> bool {
        let real = real_path(program);
        let is_this = self.exe.as_deref() == Some(&real);
        !is_this && self.project.as_deref().is_some_and(|project| program::is_in(program, project))
    }

    pub(crate) fn is_here(&self, record: &tidegate_core::pipeline::record::Record) -> bool {
        record.project.is_some() && record.project.as_deref().map(Path::new) == self.project.as_deref()
    }

    pub(crate) fn sessions_here(&self) -> impl Iterator<Item = &SeenSession> {
        let here = |session: &&SeenSession| {
            session.marks.session.root.is_some()
                && session.marks.session.root.as_deref().map(Path::new) == self.project.as_deref()
        };
        self.sessions.iter().filter(here)
    }
}

#[cfg(unix)]
fn file_mode(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|found| std::os::unix::fs::PermissionsExt::mode(&found.permissions()))
}

#[cfg(not(unix))]
fn file_mode(_: &Path) -> Option<u32> {
    None
}

fn read_sessions(state: &StateDir) -> Vec<SeenSession> {
    let entries = fs::read_dir(state.sessions()).into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| SessionId::parse(&entry.file_name().to_string_lossy()).ok());
    let read = |id: SessionId| {
        let bytes = bounded::read(&state.session(&id).join("marks"), LARGEST_MARKS).ok()?;
        Some(SeenSession { id, marks: Marks::fold(&bytes) })
    };
    ids.filter_map(read).collect()
}
