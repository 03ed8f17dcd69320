//! Facts: what the policies need to know, read from where it stands. Each read is bounded.

use std::path::{Path, PathBuf};

use tidegate_core::config::Config;
use tidegate_core::event::Event;
use tidegate_core::event::wire::ContextWindow;
use tidegate_core::facts::marks::Marks;
use tidegate_core::facts::sources::Sources;
use tidegate_core::facts::{Facts, Known, Needs, session};
use tidegate_core::meter::models::HostSettings;
use tidegate_core::meter::transcript::Evidence;
use tidegate_core::meter::{Meter, Unknown};
use tidegate_core::policy;
use tidegate_core::time::Millis;
use tidegate_state::{bridge, host_settings, project, transcript};

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

/// Reads what this event needs.
pub fn gather<'a>(
    event: &'a Event<'a>,
    marks: Known<Marks>,
    folder: &Path,
    env: &Environment,
    config: &Config,
    now: Millis,
    in_time: &dyn Fn() -> bool,
) -> Gathered<'a> {
    let payload = &event.payload;
    let cwd = payload.cwd.get().map(|cwd| Path::new(cwd.as_ref()));
    let root = project::root(env.project.as_deref(), cwd);
    let host = session::wants_host_settings(event.kind, &marks)
        .then(|| host_settings::read(root.as_deref(), env.place.host().as_deref()));
    let of_relay = Needs { meter: event.main_thread() && event.human_prompt().is_some() };
    let meter = if policy::needs(event, config).and(of_relay).meter {
        let known = marks.value();
        let files =
            host.as_ref().or(known.and_then(|marks| marks.host.as_ref())).cloned().unwrap_or_default();
        let path = payload.transcript_path.get().map(|path| Path::new(path.as_ref()));
        Sources {
            now,
            payload: payload
                .context_window
                .get()
                .map(|window| (ContextWindow::used(window), ContextWindow::window(window))),
            bridge: bridge::read(folder),
            transcript: path
                .map_or(Ok(None), |path| transcript::last_reading(path, Evidence::of(event), in_time)),
            marks: known,
            window: config.meter.window,
            host: &env.host_settings(&files),
        }
        .meter()
    } else {
        Meter::Unknown(Unknown::NotNeeded)
    };
    Gathered { facts: Facts { now, event, marks, meter, attended: env.attended }, root, host }
}
