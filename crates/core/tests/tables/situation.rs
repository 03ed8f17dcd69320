//! The case of a policy's table: an event with what is known at it, and the config.

use std::sync::LazyLock;

use serde_json::{Map, Value as Json, json};
use tidegate_core::event::Event;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::config::layer::{Assignment, Layer, Origin};
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::{Mark, Marks};
use tidegate_core::feature::verdict::{Audience, Call, Effect, Say};
use tidegate_core::feature::verification::checks::Kinds;
use tidegate_core::host::Host;
use tidegate_core::host::person::{CallingClient, Person};
use tidegate_core::host::window::Window;
use tidegate_core::meter::{Meter, NoReading, Reading, Source};
use tidegate_core::pipeline;
use tidegate_core::pipeline::ruling::{Outcome, RulingPart};
use tidegate_core::settings::section::Voice;
use tidegate_core::settings::value::Value;
use tidegate_core::time::Millis;

use crate::policies::{Room, cycle, knowledge, memory, workflow};
use crate::vocabulary::Case;
use crate::words::assert_short;

pub(crate) const NOW: Millis = Millis(1_768_901_800_000);

/// Those that are checked.
const OTHER_HOSTS: [Host; 4] = [Host::Codex, Host::Copilot, Host::Qwen, Host::OpenCode];

pub(crate) const TRANSCRIPT: &str = "/t/a.jsonl";

pub(crate) const fn ago(ms: u64) -> Millis {
    Millis(NOW.0 - ms)
}

/// Stands for the event until the payload is read.
static NO_EVENT: LazyLock<Event<'static>> = LazyLock::new(|| {
    Host::ClaudeCode.read(br#"{"session_id": "s", "hook_event_name": "Stop"}"#, None).expect("an event")
});

#[derive(Clone)]
pub(crate) struct Situation {
    room: &'static Room,
    pub payload: Map<String, Json>,
    pub config: Config,
    /// In the order in which they were left.
    pub marks: Vec<Mark>,
    pub marks_broken: bool,
    pub meter: Gauge,
    pub tool_input: String,
    pub tool_response: String,
    /// Everything else.
    pub facts: Facts<'static>,
    /// Checks that passed.
    pub passed: Kinds,
    /// Whose text is shown.
    pub reader: Option<Audience>,
    pub cycle: cycle::Draft,
    pub knowledge: knowledge::Draft,
    pub topics: memory::Draft,
    pub workflow: workflow::Draft,
}

/// A reading as a row gives it.
#[derive(Clone, Default)]
pub(crate) struct Gauge {
    pub used: Option<u64>,
    /// Instead of `used`.
    pub left: Option<u64>,
    pub window: Option<u64>,
    pub compacts: Option<u64>,
    pub stale: bool,
}

impl Gauge {
    fn meter(&self) -> Meter {
        let window = self.window.map(|tokens| Window { tokens, compact_at: self.compacts });
        let left = self.left.zip(window).map(|(left, window)| window.reference() - left);
        let Some(used) = self.used.or(left) else { return Meter::Unknown(NoReading::NothingYet) };
        let reading = Reading { used, window, source: Source::Transcript, at: NOW, outgrown: None };
        if self.stale { Meter::StaleByOne(reading) } else { Meter::Current(reading) }
    }
}

impl Situation {
    pub(crate) fn new(room: &'static Room) -> Situation {
        let payload = json!({
            "session_id": "s", "hook_event_name": "Stop", "prompt": "go on", "prompt_id": "p1",
            "transcript_path": TRANSCRIPT, "last_assistant_message": "done.", "tool_name": "Read",
            "tool_use_id": "toolu_1", "tool_input": {},
        });
        let Json::Object(payload) = payload else { unreachable!() };
        let facts =
            Facts { person: Person::There, client: CallingClient::OfPerson(7), ..Facts::of(&NO_EVENT, NOW) };
        let mut situation = Situation {
            room,
            payload,
            config: Config::default(),
            marks: Vec::new(),
            marks_broken: false,
            meter: Gauge { window: Some(200_000), ..Gauge::default() },
            tool_input: String::new(),
            tool_response: String::new(),
            facts,
            passed: Kinds::NONE,
            reader: None,
            cycle: cycle::Draft::default(),
            knowledge: knowledge::Draft::default(),
            topics: memory::Draft::default(),
            workflow: workflow::Draft::default(),
        };
        (room.begin)(&mut situation);
        situation
    }

    pub(crate) fn put(&mut self, member: &str, value: impl Into<Json>) {
        self.payload.insert(member.into(), value.into());
    }

    /// Makes it this event.
    pub(crate) fn event(&mut self, name: &str) {
        self.put("hook_event_name", name);
        if name != "SessionStart" {
            self.payload.remove("source");
        }
    }

    pub(crate) fn mark(&mut self, mark: impl Into<Mark>) {
        self.marks.push(mark.into());
    }

    pub(crate) fn leave<M: Into<Mark>>(&mut self, marks: impl IntoIterator<Item = M>) {
        self.marks.extend(marks.into_iter().map(M::into));
    }

    /// Sets a key in the config; outside of all sections is `""`.
    pub(crate) fn set(&mut self, section: &str, key: &str, value: impl Into<Value>) {
        let origin = Origin::Line("config.toml".into(), 1);
        let assignment = Assignment::new(section, key, value.into(), origin);
        self.config.apply(&Layer { voice: Voice::User, assignments: vec![assignment] });
        assert!(self.config.problems.is_empty(), "{:?}", self.config.problems);
    }

    /// A person overrode the policy of the table too often.
    pub(crate) fn step_down(&mut self) {
        self.config.stepped_down.push(self.room.policy.into());
    }

    pub(crate) fn decide(&self) -> Decided {
        let mut finished = self.clone();
        (self.room.finish)(&mut finished);
        let payload = serde_json::to_vec(&finished.payload).expect("JSON");
        let event = Host::ClaudeCode.read(&payload, None).expect("the payload is whole");
        let marks = fold(finished.marks);
        let facts = Facts {
            event: &event,
            marks: if self.marks_broken { Known::Broken("test".into()) } else { Known::Value(marks.clone()) },
            meter: finished.meter.meter(),
            tool_input: &finished.tool_input,
            tool_response: &finished.tool_response,
            ..finished.facts
        };
        let config = &self.config;
        let observed = pipeline::observe(&facts, config);
        let ruling = pipeline::decide(&facts, config, &|| 0);
        let main_thread = event.is_main_thread();
        let outcome = ruling.settle(event.host, event.kind, main_thread, config.text_budget(&event));
        let part = ruling.parts.into_iter().find(|part| part.policy == self.room.policy);
        for host in OTHER_HOSTS {
            let event = Event { host, ..event.clone() };
            let facts = Facts { event: &event, ..facts.clone() };
            pipeline::decide(&facts, config, &|| 0)
                .parts
                .iter()
                .for_each(|part| assert_own_names(host, part));
        }
        let decided = Decided { case: self.clone(), main_thread, marks, observed, part, outcome };
        (self.room.law)(&decided);
        decided.says_to_person().for_each(assert_short);
        decided
    }
}

/// Texts are written for Claude Code. On another host they name that host, its commands and what it has.
fn assert_own_names(host: Host, part: &RulingPart) {
    let commands: &[&str] = match host {
        Host::Codex => &[" /compound", "`/compound", " /dev-cycle", "`/dev-cycle"],
        Host::Qwen => &["/compact"],
        _ => &[],
    };
    let says = part.verdict.says.iter().map(|say| say.text.as_str());
    for text in part.verdict.reason.as_deref().into_iter().chain(says) {
        for foreign in ["Claude", "CLAUDE", "AskUserQuestion", "tool search"].iter().chain(commands) {
            assert!(!text.contains(foreign), "{} to {}: {text}", part.policy, host.name());
        }
    }
}

impl Case for Situation {
    type Outcome = Decided;

    fn outcome(self) -> Decided {
        self.decide()
    }
}

/// What comes of a situation, and of the table's policy in it.
pub(crate) struct Decided {
    pub case: Situation,
    pub main_thread: bool,
    /// As they were before.
    pub marks: Marks,
    pub observed: Vec<Mark>,
    /// `None` where the policy does not take part.
    pub part: Option<RulingPart>,
    /// Of all policies.
    pub outcome: Outcome,
}

impl Decided {
    pub(crate) fn effects(&self) -> &[Effect] {
        self.part.as_ref().map(|part| part.verdict.effects.as_slice()).unwrap_or_default()
    }

    /// The marks among its effects.
    pub(crate) fn left(&self) -> impl Iterator<Item = &Mark> {
        marks(self.effects())
    }

    pub(crate) fn says(&self) -> &[Say] {
        self.part.as_ref().map(|part| part.verdict.says.as_slice()).unwrap_or_default()
    }

    /// Each text for the person; the client shows them the reason of a question, too.
    fn says_to_person(&self) -> impl Iterator<Item = &str> {
        let texts = self.says().iter().filter(|say| say.to == Audience::User).map(|say| say.text.as_str());
        let asks = self.part.iter().filter(|part| part.verdict.call == Call::Ask);
        texts.chain(asks.filter_map(|part| part.verdict.reason.as_deref()))
    }

    /// What is done once the texts were said.
    pub(crate) fn when_said(&self) -> impl Iterator<Item = &Effect> {
        self.says().iter().flat_map(|say| &say.when_said)
    }

    pub(crate) fn because(&self) -> &'static str {
        self.part.as_ref().map_or("-", |part| part.verdict.because)
    }

    pub(crate) fn tells(&self, to: Audience) -> bool {
        self.main_thread && self.says().iter().any(|say| say.to == to)
    }
}

pub(crate) fn fold(marks: Vec<Mark>) -> Marks {
    let mut all = Marks::default();
    for mark in marks {
        all.apply(mark);
    }
    all
}

/// The marks among them.
pub(crate) fn marks<'a>(effects: impl IntoIterator<Item = &'a Effect>) -> impl Iterator<Item = &'a Mark> {
    effects.into_iter().filter_map(|effect| match effect {
        Effect::Mark(mark) => Some(mark),
        _ => None,
    })
}

/// The value of the first that has the form.
macro_rules! pick {
    ($among:expr, $form:pat => $value:expr) => {
        $among.into_iter().find_map(|found| match found {
            $form => Some($value),
            _ => None,
        })
    };
}
pub(crate) use pick;
