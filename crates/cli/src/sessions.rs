//! Finding the session that a command means.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tidegate_core::event::SessionId;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::Marks;
use tidegate_core::feature::memory::relay_log;
use tidegate_core::host::Host;
use tidegate_core::host::window::Window;
use tidegate_core::meter::forecast::{self, Forecast};
use tidegate_core::meter::sources::MeterSources;
use tidegate_core::meter::transcript::EventTrace;
use tidegate_core::meter::{Meter, NoReading, Reading, Source};
use tidegate_core::pipeline::record::Record;
use tidegate_core::settings::setting::Whole;
use tidegate_core::text::hidden::show_name;
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_state::config::switches;
use tidegate_state::host::claude_code::settings as host_settings;
use tidegate_state::host::transcript;
use tidegate_state::place::StateDir;
use tidegate_state::session::{bridge, marks};
use tidegate_state::{clock, config, journal};

use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::host::claude_code::settings_file::has_our_hooks;
use crate::host::registered::{HOSTS, HostHooks};
use crate::language;
use crate::project_root;

fn unusable_state(why: &str) -> CliError {
    CliError::new(both!(
        "the state directory cannot be used: {why}",
        "状態を保存するフォルダを使えません: {why}"
    ))
    .hint(both!(
        "set TIDEGATE_STATE_DIR to a folder of your own",
        "TIDEGATE_STATE_DIR に自分のフォルダを指定してください"
    ))
}

/// Everything that commands start from.
pub(crate) struct Here {
    pub(crate) env: Environment,
    pub(crate) config: Config,
    pub(crate) state: StateDir,
    pub(crate) now: Millis,
    pub(crate) root: Option<PathBuf>,
}

impl Here {
    pub(crate) fn find() -> Result<Here, CliError> {
        let env = Environment::of_process();
        let state = StateDir::open(&env.place).map_err(|why| unusable_state(&why))?;
        Ok(Here::with_state(env, state))
    }

    /// `None` if the state directory is gone.
    pub(crate) fn find_in_background() -> Result<Option<Here>, CliError> {
        let env = Environment::of_process();
        let state = StateDir::open_in_background(&env.place).map_err(|why| unusable_state(&why))?;
        Ok(state.map(|state| Here::with_state(env, state)))
    }

    /// As `self`, now: settings may have changed, the project is the same. For what looks again and again, and changes nothing.
    pub(crate) fn again(&self) -> Here {
        let (env, state) = (Environment::of_process(), self.state.clone());
        let mut here =
            Here { env, config: Config::default(), state, now: clock::now(), root: self.root.clone() };
        here.config = here.read_config();
        here
    }

    fn with_state(env: Environment, state: StateDir) -> Here {
        let mut here = Here { env, config: Config::default(), state, now: clock::now(), root: None };
        here.root = here.find_root();
        here.config = here.read_config();
        config::keep_copies(&here.state, here.env.place.config().as_deref(), here.root.as_deref());
        language::choose(&here.env, here.config.general.lang);
        here
    }

    /// Switches to another project than that of the current folder.
    pub(crate) fn look_at(&mut self, project: &Path) -> Result<(), CliError> {
        let folder = fs::canonicalize(project).map_err(|error| {
            CliError::from(error).prefixed(&Bilingual::data(show_name(&project.display().to_string())))
        })?;
        self.root = Some(folder);
        self.config = self.read_config();
        Ok(())
    }

    fn read_config(&self) -> Config {
        let user = self.env.place.config();
        let mut config = config::read(&config::Sources {
            user: user.as_deref(),
            root: self.root.as_deref(),
            state: Some(&self.state),
            variables: &self.env.settings,
            off: self.env.off.as_deref(),
        });
        let session = self.env.session.as_deref();
        switches::read(&self.state).apply(&mut config, self.now, self.root.as_deref(), session);
        config
    }

    /// Whether conversations in another project are recorded, with or without a person in the session.
    pub(crate) fn is_recorded(&self, root: &Path, is_attended: bool) -> bool {
        let user = self.env.place.config();
        let mut config = config::read(&config::Sources {
            user: user.as_deref(),
            root: Some(root),
            state: Some(&self.state),
            variables: &self.env.settings,
            off: self.env.off.as_deref(),
        });
        switches::read(&self.state).apply(&mut config, self.now, Some(root), None);
        relay_log::is_on(&config) && (is_attended || config.memory.headless)
    }

    fn find_root(&self) -> Option<PathBuf> {
        let of_session = self.env.session.as_deref().and_then(|id| self.known_session(id).ok());
        let of_session = of_session.and_then(|session| session.marks.session.root).map(PathBuf::from);
        let known = || {
            let roots = self.all().into_iter().filter_map(|session| session.marks.session.root);
            roots.map(PathBuf::from).collect()
        };
        project_root::find_project(&self.env, of_session, known)
    }

    /// By its name in records.
    pub(crate) fn known_session(&self, name: &str) -> Result<Session, CliError> {
        let id = SessionId::parse(name).map_err(|step| CliError::new(step).hint(without_session()))?;
        self.open(id)
    }

    /// A session's name in records, for what a person typed: people know the id that the host shows, without the name of
    /// the host.
    pub(crate) fn complete_name<'a>(&self, typed: &'a str) -> Cow<'a, str> {
        let is_there = |id: &SessionId| self.state.session(id).is_dir();
        if SessionId::parse(typed).is_ok_and(|id| is_there(&id)) {
            return Cow::Borrowed(typed);
        }
        let in_hosts = Host::ALL.iter().filter_map(|host| SessionId::of(*host, typed).ok());
        let mut found = in_hosts.filter(is_there);
        match (found.next(), found.next()) {
            (Some(only), None) => Cow::Owned(only.to_string()),
            _ => Cow::Borrowed(typed),
        }
    }

    /// As [`Here::complete_name`], also for the beginning of an id: tables show no more of it.
    pub(crate) fn find_name<'a>(&self, typed: &'a str) -> Result<Cow<'a, str>, CliError> {
        let whole = self.complete_name(typed);
        if SessionId::parse(&whole).is_ok_and(|id| self.state.session(&id).is_dir()) {
            return Ok(whole);
        }
        let entries = fs::read_dir(self.state.sessions()).into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| SessionId::parse(&entry.file_name().to_string_lossy()).ok());
        let mut found = ids.filter(|id| has_beginning(id, typed));
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(Cow::Owned(only.to_string())),
            (Some(_), Some(_)) => Err(more_than_one(typed)),
            (None, _) => Ok(whole),
        }
    }

    /// The named one, else the environment's, else the project's newest.
    pub(crate) fn session(&self, named: Option<&str>) -> Result<Session, CliError> {
        if let Some(typed) = named {
            return self.known_session(&self.find_name(typed)?);
        }
        if let Some(own) = &self.env.session {
            return self.known_session(own);
        }
        let mut all = self.all();
        let here = all
            .iter()
            .position(|session| session.marks.session.root.as_deref().map(Path::new) == self.root.as_deref());
        match here {
            Some(newest) => Ok(all.swap_remove(newest)),
            None if all.is_empty() => Err(CliError::new(both!(
                "no session has been seen yet",
                "セッションはまだ一度も見つかっていません"
            ))
            .hint(how_to_begin(self))),
            None => {
                let unknown = both!("an unknown project", "不明なプロジェクト");
                let line = |session: &Session| {
                    let id = &session.id;
                    match session.marks.session.root.as_deref().map(show_name) {
                        Some(root) => both!("{id} in {root}", "{id}（{root}）"),
                        None => both!("{id} in {en}", "{id}（{ja}）", en = unknown.en, ja = unknown.ja),
                    }
                };
                let (en, ja): (Vec<String>, Vec<String>) =
                    all.iter().take(5).map(line).map(|line| (line.en, line.ja)).unzip();
                let (en, ja) = (en.join("\n  "), ja.join("\n  "));
                Err(CliError::new(both!(
                    "no session has been seen in this project; elsewhere:\n  {en}",
                    "このプロジェクトのセッションはまだありません。ほかのプロジェクト:\n  {ja}"
                ))
                .hint(both!("name one with --session", "--session で指定してください")))
            }
        }
    }

    /// The last attached first.
    pub(crate) fn all(&self) -> Vec<Session> {
        let entries = fs::read_dir(self.state.sessions()).into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| SessionId::parse(&entry.file_name().to_string_lossy()).ok());
        let mut sessions: Vec<Session> = ids.filter_map(|id| self.open(id).ok()).collect();
        sessions.sort_by_key(|session| Reverse(session.marks.session.attached));
        sessions
    }

    /// Those that left a mark last come first. Only as many as are wanted are read.
    pub(crate) fn newest(&self, most: usize) -> Vec<Session> {
        self.newest_after(0, most).0
    }

    /// Without the first ones, and the number of all.
    pub(crate) fn newest_after(&self, first: usize, most: usize) -> (Vec<Session>, usize) {
        let entries = fs::read_dir(self.state.sessions()).into_iter().flatten().flatten();
        let mut found: Vec<(SystemTime, SessionId)> = entries
            .filter_map(|entry| {
                let id = SessionId::parse(&entry.file_name().to_string_lossy()).ok()?;
                Some((marks::changed(&entry.path())?, id))
            })
            .collect();
        found.sort_by_key(|(changed, _)| Reverse(*changed));
        let all = found.len();
        let chosen = found.into_iter().skip(first).take(most);
        (chosen.filter_map(|(_, id)| self.open(id).ok()).collect(), all)
    }

    pub(crate) fn open(&self, id: SessionId) -> Result<Session, CliError> {
        match marks::read(&self.state.session(&id)) {
            Known::Value(marks) => Ok(Session { id, marks }),
            Known::Absent => Err(CliError::new(both!(
                "session {id} has not been seen",
                "セッション {id} は見つかりません"
            ))
            .hint(without_session())),
            Known::Broken(why) => Err(CliError::new(both!(
                "the marks of session {id} cannot be read: {why}",
                "セッション {id} の記録を読めません: {why}"
            ))),
        }
    }

    /// Of the named session, else of this project. Failures without a project are shown by `--all`.
    pub(crate) fn concerns(&self, record: &Record, session: Option<&str>, all: bool) -> bool {
        match session {
            Some(id) => record.session.as_deref() == Some(id),
            None => {
                all || match record.project.as_deref() {
                    Some(project) => Some(Path::new(project)) == self.root.as_deref(),
                    None => record.failure.is_none(),
                }
            }
        }
    }

    /// Of a session, or of a transcript alone.
    pub(crate) fn meter(&self, session: Option<&Session>, path: Option<&Path>) -> (Meter, Option<Forecast>) {
        let known = session.map(|session| &session.marks);
        let meter = self.meter_of_files(session, path);
        let has_transcript = path.is_some() || known.is_some_and(|known| known.session.transcript.is_some());
        let meter = match (meter.reading(), has_transcript, session) {
            (None, false, Some(session)) => self.told_to_hooks(session).unwrap_or(meter),
            _ => meter,
        };
        let left = meter.reading().and_then(Reading::left);
        let forecast = left.and_then(|left| forecast::forecast(&known?.session.relays, left));
        (meter, forecast)
    }

    /// What the status line and the transcript say. The journal is not asked: it may be long.
    pub(crate) fn meter_of_files(&self, session: Option<&Session>, path: Option<&Path>) -> Meter {
        let known = session.map(|session| &session.marks);
        let path = path.map(Path::to_owned).or_else(|| known?.session.transcript.as_ref().map(PathBuf::from));
        let root = known
            .and_then(|known| known.session.root.as_ref())
            .map(PathBuf::from)
            .or_else(|| self.root.clone());
        // The hooks' reading wins: they run in the client's environment, this terminal does not.
        let read = || {
            self.env.host_settings(&host_settings::read(root.as_deref(), self.env.place.host().as_deref()))
        };
        let host = known.and_then(|known| known.session.host.clone()).unwrap_or_else(read);
        let of = path.as_deref().and_then(transcript::find_writer).unwrap_or_default();
        let transcript = match &path {
            None => Ok(None),
            // The host writes its first line with the first prompt.
            Some(path) if known.is_some_and(|known| known.session.relays.is_empty()) && !path.exists() => {
                Ok(None)
            }
            Some(path) if !path.exists() => {
                Err(NoReading::Broken(format!("{}: no such file", path.display())))
            }
            Some(path) => transcript::last_reading(of, path, EventTrace::None, &|| true),
        };
        MeterSources {
            now: self.now,
            payload: None,
            bridge: session.and_then(|session| bridge::read(&self.state.session(&session.id))),
            transcript,
            boundary: known.and_then(|known| known.session.boundary),
            model: known.and_then(|known| known.session.model.as_ref()).map(|(id, at)| (id.as_str(), *at)),
            outgrown: known.and_then(|known| known.session.outgrown_window()),
            window: self.config.meter.window.map(Whole::get),
            host: of,
            settings: &host,
        }
        .meter()
    }
}

impl Here {
    fn has_hooks_of(&self, hooks: &HostHooks) -> bool {
        let program = self.env.place.link().unwrap_or_default();
        hooks.is_installed(self.root.as_deref(), &self.env.place, &program.to_string_lossy())
    }

    fn last_record(&self, session: &Session, is_wanted: impl Fn(&Record) -> bool) -> Option<Record> {
        let mut last = None;
        let read = journal::for_each_of_session(&self.state.journal(), session.id.as_str(), |record| {
            if is_wanted(&record) {
                last = Some(record);
            }
        });
        read.ok().and(last)
    }

    /// The numbers that a hook was told last: some hosts write no transcript that Tidegate reads.
    fn told_to_hooks(&self, session: &Session) -> Option<Meter> {
        let since = session.marks.session.boundary.unwrap_or_default();
        let time = |record: &Record| Millis::from_iso(&record.at).filter(|at| *at >= since);
        let used = |record: &Record| record.meter.as_ref().and_then(|meter| meter.used);
        let record = self.last_record(session, |record| used(record).is_some() && time(record).is_some())?;
        let (at, meter) = (time(&record)?, record.meter?);
        let window = meter.window.map(|tokens| Window { tokens, compact_at: meter.compact_at });
        let reading = Reading { used: meter.used?, window, source: Source::Payload, at, outgrown: None };
        Some(Meter::StaleByOne(reading))
    }
}

pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) marks: Marks,
}

/// Whether a person who typed this may mean the session: with or without the name of its host.
pub(crate) fn has_beginning(id: &SessionId, typed: &str) -> bool {
    let typed = typed.trim_end_matches('…');
    !typed.is_empty() && (id.as_str().starts_with(typed) || id.in_host().starts_with(typed))
}

pub(crate) fn more_than_one(typed: &str) -> CliError {
    let typed = show_name(typed);
    CliError::new(both!(
        "more than one session begins with `{typed}`",
        "`{typed}` で始まるセッションが複数あります"
    ))
    .hint(both!("write more of its id", "ID をもう少し長く書いてください"))
}

fn without_session() -> Bilingual {
    both!(
        "`tidegate status` without --session shows the newest one of this project",
        "`tidegate status` を --session なしで実行すると、このプロジェクトの最新のセッションを表示します"
    )
}

/// Somebody who has installed it already needs another hint.
fn how_to_begin(here: &Here) -> Bilingual {
    if has_our_hooks(here.root.as_deref(), here.env.place.host().as_deref()) {
        both!(
            "Tidegate is installed here: start `claude` in this project and send a prompt",
            "Tidegate はインストール済みです。このプロジェクトで `claude` を起動し、プロンプトを送ってください"
        )
    } else if let Some(hooks) = HOSTS.iter().find(|hooks| here.has_hooks_of(hooks)) {
        both!(
            "Tidegate is installed here for {host}: send it a prompt in this project. `tidegate doctor` shows whether it runs the hooks",
            "{host} 用にインストール済みです。このプロジェクトで {host} にプロンプトを送ってください。フックが動いているかは `tidegate doctor` でわかります",
            host = hooks.title()
        )
    } else {
        both!(
            "`tidegate init` installs the hooks; then start `claude` in this project",
            "`tidegate init` でフックをインストールし、このプロジェクトで `claude` を起動してください"
        )
    }
}
