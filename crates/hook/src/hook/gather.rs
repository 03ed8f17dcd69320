//! Gathers facts: those of the event itself, then those of each room's reader. Each read is bounded.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tidegate_core::event::{Event, EventKind};
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::Marks;
use tidegate_core::host::person::CallingClient;
use tidegate_core::host::window::HostSettings;
use tidegate_core::meter::Meter;
use tidegate_core::meter::sources::MeterSources;
use tidegate_core::meter::transcript::EventTrace;
use tidegate_core::pipeline;
use tidegate_core::settings::setting::Whole;
use tidegate_state::feature;
use tidegate_state::feature::HookContext;
use tidegate_state::host::{self, transcript};
use tidegate_state::project;
use tidegate_state::session::bridge;

use crate::environment::Environment;
use crate::host::claude_code::caller;
use crate::patience::stretch_for_client;
use crate::process::ancestry::{self, Ancestry};

/// The client writes its transcript this much later than it reports an answer (4 to 75 ms seen with 2.1.325).
const LATE_TRANSCRIPT: Duration = Duration::from_millis(150);

const LOOKS_AGAIN: Duration = Duration::from_millis(8);

pub(crate) fn project_root(event: &Event<'_>, env: &Environment) -> Option<PathBuf> {
    let cwd = event.cwd.as_deref().map(Path::new);
    project::root(env.project.as_deref(), cwd)
}

/// Before a tool runs the answer that calls it was just given. A host that names no call may write its count some
/// milliseconds later.
fn may_outrun_transcript(event: &Event<'_>) -> bool {
    event.kind == EventKind::PreToolUse && event.at.is_some() && event.transcript.is_some()
}

pub(crate) struct Gather<'a> {
    pub(crate) env: &'a Environment,
    /// Unparsed.
    pub(crate) payload: &'a [u8],
    pub(crate) here: &'a HookContext<'a>,
}

impl<'a> Gather<'a> {
    /// Reads only the facts that this event needs.
    pub(crate) fn facts(&self, event: &'a Event<'a>, marks: Known<Marks>) -> Facts<'a> {
        let (env, here) = (self.env, self.here);
        let needs = pipeline::needs(event, marks.value(), here.config);
        let mut facts = Facts {
            root: here.root.map(Path::to_string_lossy),
            person: env.person,
            lang: env.lang(here.config.general.lang, marks.value().and_then(|marks| marks.session.lang)),
            ..Facts::of(event, here.now)
        };
        if needs.host_settings {
            // Includes the client's variables: a command in another terminal knows them only from the mark.
            let files = host::settings(event.host, here.root, here.place, env.host_home.as_deref());
            facts.host = Some(env.host_settings(&files));
        }
        if needs.meter {
            let settings =
                facts.host.as_ref().or(marks.value().and_then(|marks| marks.session.host.as_ref()));
            let settings = settings.cloned().unwrap_or_default();
            let waits = needs.current || may_outrun_transcript(event);
            facts.meter = self.meter(event, marks.value(), &settings, waits);
        }
        if needs.tool {
            let tool = event.host.raw_tool(self.payload);
            (facts.tool_input, facts.tool_response) = (tool.input, tool.response);
        }
        if needs.client {
            facts.client = self.client(event);
        }
        facts.marks = marks;
        feature::read_facts(&mut facts, needs, here);
        let more = pipeline::needs_more(&facts, here.config);
        feature::read_facts(&mut facts, more, here);
        facts
    }

    /// Known only at events that can be a person's answer.
    fn client(&self, event: &Event<'_>) -> CallingClient {
        if !matches!(event.kind, EventKind::UserPromptSubmit | EventKind::PostToolUse) {
            return CallingClient::Unknown;
        }
        match self.env.client.filter(|client| caller::is_client(*client)) {
            None => CallingClient::Unknown,
            Some(_) if self.env.unattended => CallingClient::Unattended,
            Some(client) => match ancestry::check(client) {
                Ancestry::Clear => CallingClient::OfPerson(client),
                Ancestry::OfAgent(_) | Ancestry::Unknown => CallingClient::OfAgent,
            },
        }
    }

    /// With `wait`, gives the client a moment to write the answer that the event follows.
    fn meter(&self, event: &Event<'_>, marks: Option<&Marks>, host: &HostSettings, wait: bool) -> Meter {
        let until = Instant::now() + stretch_for_client(LATE_TRANSCRIPT);
        // Otherwise nothing shows that the answer is there.
        let wait = wait && event.transcript.is_some() && EventTrace::of_event(event) != EventTrace::None;
        loop {
            let meter = self.meter_now(event, marks, host);
            let is_late = wait && !matches!(meter, Meter::Current(_));
            if !is_late || Instant::now() >= until || !(self.here.in_time)() {
                return meter;
            }
            std::thread::sleep(LOOKS_AGAIN);
        }
    }

    fn meter_now(&self, event: &Event<'_>, marks: Option<&Marks>, settings: &HostSettings) -> Meter {
        let session = marks.map(|marks| &marks.session);
        let path = event.transcript.as_deref().map(Path::new);
        let read =
            |path| transcript::last_reading(event.host, path, EventTrace::of_event(event), self.here.in_time);
        MeterSources {
            now: self.here.now,
            payload: event.context.map(|context| (context.used, context.window)),
            bridge: bridge::read(self.here.folder),
            transcript: path.map_or(Ok(None), read),
            boundary: session.and_then(|session| session.boundary),
            model: session.and_then(|session| session.model.as_ref()).map(|(id, at)| (id.as_str(), *at)),
            outgrown: session.and_then(|session| session.outgrown_window()),
            window: self.here.config.meter.window.map(Whole::get),
            host: event.host,
            settings,
        }
        .meter()
    }
}
