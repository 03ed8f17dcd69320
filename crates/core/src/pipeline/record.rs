//! The record of a ruling: one line of JSON in the journal.
//!
//! Readers take the lines they can parse and count the others; writers never change an existing line.

use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::feature::CONTEXT_FOLDER;
use crate::feature::activity::classifier::Phase;
use crate::feature::config::former_names;
use crate::feature::facts::{Facts, Touched};
use crate::feature::knowledge::boundary::Boundary;
use crate::feature::knowledge::effect;
use crate::feature::marks::{Mark, Marks, SessionMark};
use crate::feature::memory::facts as memory;
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say};
use crate::feature::verification::marks::Mark as VerificationMark;
use crate::feature::verification::work::WhyNot;
use crate::host::Host;
use crate::host::person::Person;
use crate::meter::Meter;
use crate::meter::forecast::Forecast;
use crate::pipeline::ruling::{Outcome, Ruling};
use crate::redact::{Found, redact_in_place};
use crate::text::tokens::estimate_tokens;
use crate::time::Millis;

/// Version of the format. Readers skip records of a newer one.
pub const RECORD_FORMAT: u32 = 1;

/// One line of the journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Version of the format.
    pub v: u32,
    /// Used by `tidegate explain`.
    pub id: String,
    /// In UTC.
    pub at: String,
    /// Name on the wire.
    pub event: String,
    pub host: String,
    /// Absent if the payload had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Absent in the main thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Cause of the event: `startup`, `auto`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    #[serde(alias = "attended")]
    pub person: Person,
    /// The call, or `failed` (a check failed), `unguarded` (the guard variable was set), `foreign` (another host
    /// called), `backend` (a language model was asked).
    pub ruling: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<VerdictRecord>,
    /// Deeds at this event that may settle earlier interruptions.
    #[serde(skip_serializing_if = "Deeds::is_empty")]
    pub did: Deeds,
    /// Absent if no policy needed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meter: Option<MeterRecord>,
    #[serde(skip_serializing_if = "SaidTexts::is_empty")]
    pub said: SaidTexts,
    pub cost: HookCost,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<BoundaryRecord>,
    /// A call to a language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<BackendCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailedCheck>,
    /// Policies switched off by the client's environment.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "former_names::read_policies")]
    pub off: Vec<String>,
    /// Policies switched off by `tidegate off`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "former_names::read_policies")]
    pub off_by_command: Vec<String>,
    /// Problems of the config.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub config: Vec<String>,
    /// Secrets removed from the texts.
    #[serde(skip_serializing_if = "Found::is_empty")]
    pub redacted: Found,
}

/// One policy's verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VerdictRecord {
    #[serde(deserialize_with = "former_names::read_policy")]
    pub policy: String,
    pub call: String,
    /// Recorded, but not carried out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shadow: bool,
    /// As given to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// In a few words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// Whether or not it fitted into the reply.
    #[serde(skip_serializing_if = "SaidTexts::is_empty")]
    pub says: SaidTexts,
    #[serde(skip_serializing_if = "Asks::is_empty")]
    pub asks: Asks,
    /// Time to decide, in microseconds.
    pub us: u64,
}

/// Actions that policies ask for, or that people take about them. Paths as the tool named them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "a list of things that can be done")]
pub struct Deeds {
    /// A human prompt began.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prompt: bool,
    /// Invoked by the model or typed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Code files edited by a tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<String>,
    /// Files written by a command line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited_by_shell: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Checks that verified the work: kinds of commands, or the skill.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<String>,
    /// Checks that succeeded without verifying the work: more are required, or code changed after they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checked: Vec<String>,
    /// The command of either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<String>,
    /// Checks running in the background.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub launched: Vec<String>,
    /// A check whose failure would not have been visible, so it verified nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
    /// A check that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// A check that does not read the edited code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// A check that found no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untested: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<SwitchedPolicy>,
    /// A person reviewed the entries of the flow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compound: bool,
    /// An entry was written to the flow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub entry: bool,
    /// A gate of a workflow was passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<usize>,
    /// A person skipped a gate of a workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_gate: Option<usize>,
    /// The conversation was compacted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
    /// A stage of a cycle was declared done or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// An answer carried its meta tag.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tag: bool,
    /// A topic that was closed, or got a manual record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<i64>,
    /// Policies that a person let block again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stepped_up: Vec<SwitchedPolicy>,
}

/// A policy in a session or project; everywhere without either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SwitchedPolicy {
    #[serde(deserialize_with = "former_names::read_policy")]
    pub policy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl Deeds {
    fn is_empty(&self) -> bool {
        *self == Deeds::default()
    }

    fn from_event(facts: &Facts<'_>, marks: &[Mark]) -> Deeds {
        let (event, before) = (facts.event, facts.marks.value());
        let prompt = event.kind == EventKind::UserPromptSubmit && event.is_main_thread();
        let mut deeds = Deeds { prompt: prompt && event.is_human_prompt(), ..Deeds::default() };
        deeds.tag = facts.memory.tag().is_some();
        deeds.topic = memory::recorded_topic(event);
        deeds.read.extend(event.read_path().filter(|path| is_knowledge(path)).map(str::to_owned));
        deeds.entry =
            event.kind == EventKind::PostToolUse && facts.verification.files.iter().any(is_progress);
        let by_shell = facts.verification.files.iter().filter(|file| file.step.is_some());
        deeds.edited_by_shell.extend(by_shell.filter_map(|file| file.inside.clone()));
        for mark in marks {
            match mark {
                Mark::Session(SessionMark::Skill { name, .. }) => deeds.skills.push(name.clone()),
                Mark::Session(SessionMark::Boundary(_)) => deeds.compacted = true,
                Mark::Verification(mark) => deeds.add_verification(mark, before, marks),
                _ => {}
            }
        }
        deeds
    }

    /// Deeds shown by one of the new marks.
    fn add_verification(&mut self, mark: &VerificationMark, before: Option<&Marks>, new: &[Mark]) {
        match mark {
            VerificationMark::Edit(edit) if !edit.shell => self.edited.push(edit.file.clone()),
            VerificationMark::Hidden(check) => self.hidden = Some(check.line.clone()),
            VerificationMark::Failed(check) => self.failed = check.shown().map(str::to_owned),
            VerificationMark::Uncounted(check) => match check.why {
                WhyNot::Unread | WhyNot::Stashed | WhyNot::Elsewhere | WhyNot::TreeMoved => {
                    self.unread = Some(check.line.clone());
                }
                WhyNot::NoTests | WhyNot::OnlyLists => self.untested = Some(check.line.clone()),
                // It passed: `checked` has its kind.
                WhyNot::OnlyLint | WhyNot::OtherKind => {}
            },
            VerificationMark::Launched(check) if check.awaited.is_none() => {
                self.launched.extend(check.kinds.iter().map(|kind| kind.name().to_owned()));
            }
            VerificationMark::Checked(checked) => {
                let verifies = before.is_some_and(|before| before.verification.after(new).changes.is_none());
                let by = if checked.kinds.is_empty() {
                    vec!["skill".to_owned()]
                } else {
                    checked.kinds.iter().map(|kind| kind.name().to_owned()).collect()
                };
                self.passed = Some(checked.check.clone()).filter(|check| !check.is_empty());
                // A check that came too late, or is not enough, verified nothing.
                if checked.verified && verifies { self.verified = by } else { self.checked = by }
            }
            _ => {}
        }
    }
}

/// A file of flow or stock.
fn is_knowledge(path: &str) -> bool {
    let mut found = path.match_indices(CONTEXT_FOLDER);
    found.any(|(at, folder)| path[..at].ends_with('/') && path[at + folder.len()..].starts_with('/'))
}

fn is_progress(file: &Touched) -> bool {
    let name = file.inside.as_deref().and_then(|path| path.strip_prefix(CONTEXT_FOLDER));
    name == Some("/progress.md")
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SaidTexts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Texts that did not fit.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
pub(crate) fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl SaidTexts {
    fn is_empty(&self) -> bool {
        *self == SaidTexts::default()
    }

    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        self.model.iter_mut().chain(&mut self.user)
    }

    fn from_says(says: &[Say]) -> SaidTexts {
        let text = |to: Audience| {
            let texts: Vec<&str> =
                says.iter().filter(|say| say.to == to).map(|say| say.text.as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        };
        SaidTexts { model: text(Audience::Model), user: text(Audience::User), dropped: 0 }
    }
}

/// The meter at the time of the event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MeterRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Where the host compacts by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_at: Option<u64>,
    /// Percentage of the window, rounded to a tenth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_pct: Option<f64>,
    /// Percentage of the window, rounded to a tenth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_pct: Option<f64>,
    /// Tokens to the reference point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
    /// 0 below all levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_left: Option<u32>,
    /// Fewest and most turns left, from the quartiles of growth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_range: Option<(u32, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `current`, `stale_by_one` or `unknown`.
    pub freshness: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// Why there are no numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

impl MeterRecord {
    pub fn from_meter(meter: &Meter, forecast: Option<Forecast>, now: Millis) -> MeterRecord {
        let mut record = MeterRecord { freshness: meter.freshness().to_owned(), ..MeterRecord::default() };
        match meter {
            Meter::Unknown(why) => record.unknown = Some(why.to_string()),
            Meter::Current(reading) | Meter::StaleByOne(reading) => {
                let tenth = |number: f64| (number * 10.0).round() / 10.0;
                record.used = Some(reading.used);
                record.window = reading.window.map(|window| window.tokens);
                record.compact_at = reading.window.and_then(|window| window.compact_at);
                record.used_pct = reading.used_pct().map(tenth);
                record.remaining_pct = reading.used_pct().map(|used| tenth((100.0 - used).max(0.0)));
                record.left = reading.left();
                record.level = reading.level();
                record.turns_left = forecast.map(|forecast| forecast.turns);
                record.turns_range = forecast.map(|forecast| (forecast.fewest, forecast.most));
                record.source = Some(reading.source.name().to_owned());
                record.age_s = Some(now.since(reading.at) / 1000);
            }
        }
        record
    }

    /// Percentage of the window for people. Version 0.1 recorded more than 100 where the window was longer than known.
    pub fn shown_pct(&self) -> Option<f64> {
        self.used_pct.map(|used| used.min(100.0).round())
    }

    /// [`Forecast::shown_turns`].
    pub fn shown_turns(&self) -> Option<u32> {
        let (turns, (fewest, most)) = self.turns_left.zip(self.turns_range)?;
        Forecast { turns, fewest, most }.shown_turns()
    }
}

/// The cost of a hook run to the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookCost {
    /// Added to the context.
    pub bytes: usize,
    /// Estimated.
    pub tokens: usize,
    /// Forced model turns.
    pub turns: u32,
    /// Microseconds from start to reply.
    pub us: u64,
}

impl HookCost {
    /// `copies` of the reason reach the model.
    pub fn of_texts(reason: &str, copies: usize, context: &str) -> HookCost {
        let tokens = |text: &str| estimate_tokens(text) as usize;
        HookCost {
            bytes: copies * reason.len() + context.len(),
            tokens: copies * tokens(reason) + tokens(context),
            ..HookCost::default()
        }
    }
}

/// A compaction. Several records may describe the same one: of those with the same `noted` the last counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BoundaryRecord {
    /// When its key facts were noted: identifies it within its session.
    pub noted: String,
    /// `auto` or `manual`.
    pub trigger: String,
    /// Noted key facts.
    pub of: usize,
    /// Key facts named to the summariser.
    pub named: usize,
    /// Entries of the flow that were not reviewed.
    pub unpromoted: usize,
    /// Key facts that survived; absent before there is a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<usize>,
    /// Key facts that did not survive.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// How many of these the conversation has again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_back: Option<usize>,
}

impl BoundaryRecord {
    fn from_boundary(boundary: &Boundary) -> BoundaryRecord {
        let survival = boundary.survival.as_ref();
        BoundaryRecord {
            noted: boundary.noted.iso(),
            trigger: boundary.trigger.clone(),
            of: boundary.facts.len(),
            named: boundary.named,
            unpromoted: boundary.unpromoted,
            kept: survival.map(|survival| survival.kept),
            lost: survival
                .into_iter()
                .flat_map(|survival| &survival.lost)
                .map(|fact| fact.text.clone())
                .collect(),
            given_back: survival.map(|survival| survival.given_back).filter(|given| *given > 0),
        }
    }
}

/// A question to a language model about a prompt, or one that was not sent. The prompt itself is never recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackendCall {
    pub backend: String,
    pub model: String,
    pub outcome: BackendOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Short reason for a missing answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub ms: u64,
    /// Absent if not reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Absent if not reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendOutcome {
    /// It named a phase.
    Answered,
    /// It said something else.
    NoAnswer,
    Timeout,
    /// It refused, broke off, or could not be reached.
    #[default]
    Failed,
    /// The daily limit was reached.
    Capped,
    /// The program for asking it is not installed.
    NoProgram,
    NoKey,
}

impl BackendOutcome {
    pub fn name(self) -> &'static str {
        match self {
            BackendOutcome::Answered => "answered",
            BackendOutcome::NoAnswer => "no-answer",
            BackendOutcome::Timeout => "timeout",
            BackendOutcome::Failed => "failed",
            BackendOutcome::Capped => "capped",
            BackendOutcome::NoProgram => "no-program",
            BackendOutcome::NoKey => "no-key",
        }
    }

    pub fn was_asked(self) -> bool {
        matches!(
            self,
            BackendOutcome::Answered
                | BackendOutcome::NoAnswer
                | BackendOutcome::Timeout
                | BackendOutcome::Failed
        )
    }
}

/// A check that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedCheck {
    /// One word: `payload`, `session`, `state`, …
    pub class: String,
    pub step: String,
    /// A gate denied because of it.
    pub closed: bool,
}

/// A denial at this event makes the model answer once more.
fn forces_turn(kind: EventKind) -> bool {
    matches!(kind, EventKind::Stop | EventKind::PreToolUse | EventKind::TaskCompleted)
}

impl Record {
    /// `marks` are those left by the event.
    pub fn from_ruling(facts: &Facts<'_>, ruling: &Ruling, outcome: &Outcome, marks: &[Mark]) -> Record {
        let event = facts.event;
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let to_model = [outcome.reason.as_str(), outcome.context.as_str()].concat();
        Record {
            session: Some(event.session.to_string()),
            agent: event.agent_id().map(str::to_owned),
            tool: event.tool_name().map(str::to_owned),
            cause: event.cause.as_deref().map(str::to_owned),
            person: facts.person,
            ruling: outcome.call.name().to_owned(),
            verdicts: ruling
                .parts
                .iter()
                .map(|part| VerdictRecord {
                    policy: part.policy.to_owned(),
                    call: part.verdict.call.name().to_owned(),
                    shadow: part.shadow,
                    reason: part.verdict.reason.clone(),
                    because: part.verdict.because.to_owned(),
                    says: SaidTexts::from_says(&part.verdict.says),
                    asks: part.verdict.asks.clone(),
                    us: part.micros,
                })
                .collect(),
            did: Deeds::from_event(facts, marks),
            meter: match &facts.meter {
                Meter::Unknown(crate::meter::NoReading::NotNeeded) => None,
                meter => Some(MeterRecord::from_meter(meter, facts.forecast(), facts.now)),
            },
            // The last one: it also knows what was given back.
            boundary: outcome.effects.iter().rev().find_map(|effect| match effect {
                Effect::Knowledge(effect::Effect::NoteBoundary(boundary)) => {
                    Some(BoundaryRecord::from_boundary(boundary))
                }
                _ => None,
            }),
            said: SaidTexts { model: some(&to_model), user: some(&outcome.user), dropped: outcome.dropped },
            cost: HookCost {
                turns: u32::from(outcome.call == Call::Deny && forces_turn(event.kind)),
                ..HookCost::of_texts(
                    &outcome.reason,
                    event.host.copies_of_reason(event.kind),
                    &outcome.context,
                )
            },
            ..Record::begin_for(event.host, &event.name, facts.now)
        }
    }

    /// Unique: live processes do not share a number, and no number is reused within a millisecond.
    pub fn new_id(now: Millis, process: u32) -> String {
        format!("{:x}-{process:x}", now.0)
    }

    pub fn begin(event: &str, now: Millis) -> Record {
        Record::begin_for(Host::ClaudeCode, event, now)
    }

    pub fn begin_for(host: Host, event: &str, now: Millis) -> Record {
        Record {
            v: RECORD_FORMAT,
            at: now.iso(),
            event: event.to_owned(),
            host: host.name().to_owned(),
            ..Record::default()
        }
    }

    /// Removes secrets from every text of foreign origin. Not from identifiers by which records are looked up:
    /// session, project, agent, tool.
    pub fn redact(&mut self) {
        let Record { event, cause, verdicts, did, said, boundary, backend, failure, config, .. } = self;
        let mut found = Found::default();
        let mut take = |text: &mut String| redact_in_place(text, &mut found);
        take(event);
        cause.iter_mut().for_each(&mut take);
        for verdict in verdicts {
            let VerdictRecord { reason, says, asks, .. } = verdict;
            reason.iter_mut().for_each(&mut take);
            says.texts().for_each(&mut take);
            let Asks { skills, any_skill, any_file, file, stage, .. } = asks;
            let lists = skills.iter_mut().chain(any_skill).chain(any_file);
            lists.chain(file).chain(stage).for_each(&mut take);
        }
        let Deeds { skills, edited, edited_by_shell, read, stage, .. } = &mut *did;
        let lists = skills.iter_mut().chain(edited).chain(edited_by_shell).chain(read).chain(stage);
        lists.for_each(&mut take);
        let Deeds { passed, hidden, failed, unread, untested, .. } = did;
        let lines = passed.iter_mut().chain(hidden).chain(failed).chain(unread).chain(untested);
        lines.for_each(&mut take);
        said.texts().for_each(&mut take);
        boundary.iter_mut().flat_map(|boundary| &mut boundary.lost).for_each(&mut take);
        backend.iter_mut().flat_map(|call| &mut call.why).for_each(&mut take);
        failure.iter_mut().map(|failure| &mut failure.step).for_each(&mut take);
        config.iter_mut().for_each(&mut take);
        self.redacted.merge(&found);
    }

    /// The record as a line of JSON, with its line break.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("records have no maps with other keys than text") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_record_keeps_a_secret() {
        const LINE: &str = "curl -u me:hunter2 x";
        let line = || LINE.to_owned();
        let lines = || vec![line()];
        let said = || SaidTexts { model: Some(line()), user: Some(line()), dropped: 0 };
        let asks = Asks {
            skills: lines(),
            any_skill: lines(),
            any_file: lines(),
            file: Some(line()),
            stage: Some(line()),
            ..Asks::default()
        };
        let did = Deeds {
            skills: lines(),
            edited: lines(),
            edited_by_shell: lines(),
            read: lines(),
            passed: Some(line()),
            hidden: Some(line()),
            failed: Some(line()),
            unread: Some(line()),
            untested: Some(line()),
            stage: Some(line()),
            ..Deeds::default()
        };
        let mut record = Record {
            event: line(),
            cause: Some(line()),
            verdicts: vec![VerdictRecord {
                reason: Some(line()),
                says: said(),
                asks,
                ..VerdictRecord::default()
            }],
            did,
            said: said(),
            boundary: Some(BoundaryRecord { lost: lines(), ..BoundaryRecord::default() }),
            backend: Some(BackendCall { why: Some(line()), ..BackendCall::default() }),
            failure: Some(FailedCheck { step: line(), ..FailedCheck::default() }),
            config: lines(),
            ..Record::begin("", Millis(0))
        };
        let texts = record.to_line().matches("hunter2").count();
        record.redact();
        assert!(!record.to_line().contains("hunter2"));
        assert!(record.to_line().ends_with("\"redacted\":{\"url_password\":26}}\n"), "{}", record.to_line());
        assert_eq!(record.redacted.total() as usize, texts);
        let again: Record = serde_json::from_str(&record.to_line()).unwrap();
        assert_eq!(again, record);
    }
}
