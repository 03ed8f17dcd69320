//! Facts: what the policies need to know, read from where it stands. Each read is bounded.

use std::path::{Path, PathBuf};

use tidegate_core::config::Config;
use tidegate_core::config::setting::Whole;
use tidegate_core::event::Event;
use tidegate_core::event::wire::{ContextWindow, RawTool};
use tidegate_core::facts::marks::Marks;
use tidegate_core::facts::sources::Sources;
use tidegate_core::facts::{Facts, Known, Needs, OwnFile, session};
use tidegate_core::meter::models::HostSettings;
use tidegate_core::meter::transcript::Evidence;
use tidegate_core::meter::{Meter, Unknown};
use tidegate_core::policy;
use tidegate_core::time::Millis;
use tidegate_state::{bridge, host_settings, own_files, project, transcript};

use crate::environment::Environment;

/// Facts with what was found on the way to them.
#[derive(Debug)]
pub struct Gathered<'a> {
    /// For the policies.
    pub facts: Facts<'a>,
    /// The session's project.
    pub root: Option<PathBuf>,
    /// The host's settings, if this event was a reason to read them.
    pub host: Option<HostSettings>,
}

/// The project this event belongs to.
pub fn project_root(event: &Event<'_>, env: &Environment) -> Option<PathBuf> {
    let cwd = event.payload.cwd.get().map(|cwd| Path::new(cwd.as_ref()));
    project::root(env.project.as_deref(), cwd)
}

/// What reading rests on.
pub struct Gather<'a> {
    /// The environment.
    pub env: &'a Environment,
    /// The config.
    pub config: &'a Config,
    /// The payload as it came.
    pub payload: &'a [u8],
    /// The session's folder.
    pub folder: &'a Path,
    /// When the hook was called.
    pub now: Millis,
    /// Whether another step of reading may begin.
    pub in_time: &'a dyn Fn() -> bool,
}

impl Gather<'_> {
    /// Reads what this event needs, and no more.
    pub fn facts<'e>(
        &'e self,
        event: &'e Event<'e>,
        marks: Known<Marks>,
        root: Option<PathBuf>,
    ) -> Gathered<'e> {
        // With the client's environment in it: a command in another terminal has only the mark to know that by.
        let host = session::wants_host_settings(event.kind, &marks).then(|| {
            self.env.host_settings(&host_settings::read(root.as_deref(), self.env.place.host().as_deref()))
        });
        let of_relay =
            Needs { meter: event.main_thread() && event.human_prompt().is_some(), ..Needs::default() };
        let needs = policy::needs(event, marks.value(), self.config).and(of_relay);
        let meter = if needs.meter {
            let settings = host.as_ref().or(marks.value().and_then(|marks| marks.host.as_ref()));
            self.meter(event, marks.value(), &settings.cloned().unwrap_or_default())
        } else {
            Meter::Unknown(Unknown::NotNeeded)
        };
        let lang = self.env.lang(self.config.general.lang, marks.value().and_then(|marks| marks.lang));
        let tool = if needs.tool { RawTool::read(self.payload) } else { RawTool::default() };
        let target = event.edit_target().and_then(Result::ok).filter(|_| needs.own_file);
        let facts = Facts {
            now: self.now,
            event,
            marks,
            meter,
            attended: self.env.attended,
            client: self.env.client,
            lang,
            tool_input: tool.input,
            tool_response: tool.response,
            own_file: target.and_then(|target| self.own_file(Path::new(target), root.as_deref())),
        };
        Gathered { facts, root, host }
    }

    /// Which of our files this is.
    fn own_file(&self, target: &Path, root: Option<&Path>) -> Option<OwnFile> {
        let place = &self.env.place;
        let config = place.config();
        let host = place.host();
        let state = place.state().ok();
        // In another worktree the client goes on using the settings of the folder it was started in.
        let main = root.and_then(project::main_worktree);
        let mut roots: Vec<PathBuf> =
            [root.map(Path::to_owned), self.env.project.clone(), main].into_iter().flatten().collect();
        roots.dedup();
        own_files::which(
            target,
            &own_files::Places {
                roots: &roots,
                config: config.as_deref(),
                host: host.as_deref(),
                state: state.as_deref(),
            },
        )
    }

    fn meter(&self, event: &Event<'_>, marks: Option<&Marks>, host: &HostSettings) -> Meter {
        let payload = &event.payload;
        let path = payload.transcript_path.get().map(|path| Path::new(path.as_ref()));
        let read = |path| transcript::last_reading(path, Evidence::of(event), self.in_time);
        Sources {
            now: self.now,
            payload: payload
                .context_window
                .get()
                .map(|window| (ContextWindow::used(window), ContextWindow::window(window))),
            bridge: bridge::read(self.folder),
            transcript: path.map_or(Ok(None), read),
            marks,
            window: self.config.meter.window.map(Whole::get),
            host,
        }
        .meter()
    }
}
