//! 6. What is written down: one record per ruling, one line of JSON each.
//!
//! Readers take what they can and count what they cannot; a writer never touches a line that is there.

use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::feature::CONTEXT_FOLDER;
use crate::feature::activity::classifier::Phase;
use crate::feature::facts::{Facts, Touched};
use crate::feature::knowledge::boundary::Boundary;
use crate::feature::knowledge::effect;
use crate::feature::marks::{Mark, Marks, SessionMark};
use crate::feature::memory::facts as memory;
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say};
use crate::feature::verification::marks::Mark as VerificationMark;
use crate::host::Host;
use crate::host::person::Person;
use crate::meter::Meter;
use crate::pipeline::ruling::{Outcome, Ruling};
use crate::redact::{Found, redact_in_place};
use crate::text::tokens::count_recorded_tokens;
use crate::time::Millis;

/// The version of the format. A reader skips records of a newer one.
pub const FORMAT: u32 = 1;

/// One line of the journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The version of the format.
    pub v: u32,
    /// Names the record in `tidegate explain`.
    pub id: String,
    /// When, in UTC.
    pub at: String,
    /// The event's name on the wire.
    pub event: String,
    /// Which client called.
    pub host: String,
    /// The session; absent when the payload had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The session's project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The subagent, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool, at tool events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What started or ended it: `startup`, `auto`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Whether a person was there.
    #[serde(alias = "attended")]
    pub person: Person,
    /// The call, or `failed` when a check could not be made, `unguarded` when the guard variable was set, `foreign` when
    /// another host called, `backend` when a language model was asked.
    pub ruling: String,
    /// Each policy's answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<VerdictRecord>,
    /// What was done at this event that settles what was said before.
    #[serde(skip_serializing_if = "Deeds::is_empty")]
    pub did: Deeds,
    /// The meter at that moment; absent when nobody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meter: Option<MeterRecord>,
    /// What was said.
    #[serde(skip_serializing_if = "Said::is_empty")]
    pub said: Said,
    /// What it cost.
    pub cost: Cost,
    /// A compaction, with what was kept as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<BoundaryRecord>,
    /// A language model that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<BackendCall>,
    /// The check that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Policies that the client's environment switched off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<String>,
    /// Policies that `tidegate off` switched off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub off_by_command: Vec<String>,
    /// What was wrong with the config.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub config: Vec<String>,
    /// Secrets that were taken out of the texts.
    #[serde(skip_serializing_if = "Found::is_empty")]
    pub redacted: Found,
}

/// One policy's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VerdictRecord {
    /// Whose.
    pub policy: String,
    /// What.
    pub call: String,
    /// Only recorded, not carried out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shadow: bool,
    /// Why, as it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, in a few words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// What it wanted to say, whether or not it was said.
    #[serde(skip_serializing_if = "Said::is_empty")]
    pub says: Said,
    /// What would satisfy it.
    #[serde(skip_serializing_if = "Asks::is_empty")]
    pub asks: Asks,
    /// Time to decide.
    pub us: u64,
}

/// What was done that policies ask for, or that people do about them. Paths as the tool named them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "a list of things that can be done")]
pub struct Deeds {
    /// A human prompt began.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prompt: bool,
    /// Skills that were invoked or typed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Files of code that a tool edited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<String>,
    /// Files that a command line wrote.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited_by_shell: Vec<String>,
    /// Files that were read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// By what the work came to count as verified: kinds of commands, or the skill.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<String>,
    /// Checks that succeeded and did not verify the work: more are wanted, or code was edited since they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checked: Vec<String>,
    /// Checks that run in the background.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub launched: Vec<String>,
    /// A check whose failure would not have shown, and that therefore verified nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
    /// A person switched a policy off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<Switched>,
    /// A person went through the entries of the flow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compound: bool,
    /// An entry was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub entry: bool,
    /// A gate of a workflow was passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<usize>,
    /// A person let a gate of a workflow be skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_gate: Option<usize>,
    /// The conversation was compacted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
    /// The stage of a cycle that somebody said is done, or cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// An answer has its meta tag.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tag: bool,
    /// The topic for which something was recorded by hand, or that was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<i64>,
    /// A person let a policy block again that had stepped down.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stepped_up: Vec<Switched>,
}

/// A policy, in a session, in a project, or with neither everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Switched {
    /// The policy.
    pub policy: String,
    /// Only in this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only in this project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl Deeds {
    fn is_empty(&self) -> bool {
        *self == Deeds::default()
    }

    /// What the event shows, and what it left in the marks.
    fn of(facts: &Facts<'_>, marks: &[Mark]) -> Deeds {
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
                Mark::Verification(mark) => deeds.verify(mark, before, marks),
                _ => {}
            }
        }
        deeds
    }

    /// What one of the new marks says about edits and checks.
    fn verify(&mut self, mark: &VerificationMark, before: Option<&Marks>, new: &[Mark]) {
        match mark {
            VerificationMark::Edit(edit) if !edit.shell => self.edited.push(edit.file.clone()),
            VerificationMark::Hidden(line) => self.hidden = Some(line.clone()),
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
                // What came too late, or is not enough, verified nothing.
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

/// Texts, by who was meant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Said {
    /// For the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// For the person.
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

impl Said {
    fn is_empty(&self) -> bool {
        *self == Said::default()
    }

    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        self.model.iter_mut().chain(&mut self.user)
    }

    fn of(says: &[Say]) -> Said {
        let text = |to: Audience| {
            let texts: Vec<&str> =
                says.iter().filter(|say| say.to == to).map(|say| say.text.as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        };
        Said { model: text(Audience::Model), user: text(Audience::User), dropped: 0 }
    }
}

/// The meter as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MeterRecord {
    /// Tokens in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// The model's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Where the host compacts by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_at: Option<u64>,
    /// Per cent of the window in use, to a tenth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_pct: Option<f64>,
    /// The rest of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_pct: Option<f64>,
    /// Tokens to the reference point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
    /// The highest level reached; 0 below all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// Turns left by the forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_left: Option<u32>,
    /// Fewest and most turns left, by the quartiles of growth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_range: Option<(u32, u32)>,
    /// Who said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `current`, `stale_by_one` or `unknown`.
    pub freshness: String,
    /// How old the numbers are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

impl MeterRecord {
    /// Writes down a meter with its forecast.
    pub fn of(meter: &Meter, forecast: Option<crate::meter::forecast::Forecast>, now: Millis) -> MeterRecord {
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
}

/// What a hook run cost the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Bytes put into the context.
    pub bytes: usize,
    /// Tokens that is, by estimate.
    pub tokens: usize,
    /// Model turns that were forced.
    pub turns: u32,
    /// Microseconds from start to reply.
    pub us: u64,
}

/// A compaction. Several records may tell of one: of those with the same time the last counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BoundaryRecord {
    /// When its key facts were noted: names it within its session.
    pub noted: String,
    /// `auto` or `manual`.
    pub trigger: String,
    /// Key facts that were noted.
    pub of: usize,
    /// Key facts that were named to the summariser.
    pub named: usize,
    /// Entries of the flow that were not promoted.
    pub unpromoted: usize,
    /// Key facts that survived; absent before there is a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<usize>,
    /// Those that did not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}

impl BoundaryRecord {
    fn of(boundary: &Boundary) -> BoundaryRecord {
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
        }
    }
}

/// A language model that was asked about a prompt, or would have been. Never what it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackendCall {
    /// Which kind of backend.
    pub backend: String,
    /// Which model.
    pub model: String,
    /// What came of it.
    pub outcome: BackendOutcome,
    /// The phase that it named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Why there is no answer, where that can be said in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How long it took.
    pub ms: u64,
    /// Tokens that went in, if that was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that came out, if that was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

/// What came of asking a language model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendOutcome {
    /// It named a phase.
    Answered,
    /// It said something else.
    NoAnswer,
    /// It took too long.
    Timeout,
    /// It refused or broke off, or could not be reached.
    #[default]
    Failed,
    /// It was asked often enough today.
    Capped,
    /// The program that would ask it is not there.
    NoProgram,
    /// There is no key for it.
    NoKey,
}

impl BackendOutcome {
    /// As it stands in records.
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

    /// Whether it was asked at all.
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

/// A check that could not be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// One word: `payload`, `session`, `state`, …
    pub class: String,
    /// The step that failed.
    pub step: String,
    /// Whether a gate was closed by it.
    pub closed: bool,
}

/// Whether the model has to answer once more because of a denial at this event.
fn repeats(kind: EventKind) -> bool {
    matches!(kind, EventKind::Stop | EventKind::PreToolUse | EventKind::TaskCompleted)
}

impl Record {
    /// Writes down a ruling and what came of it; `marks` is what the event leaves behind.
    pub fn of(facts: &Facts<'_>, ruling: &Ruling, outcome: &Outcome, marks: &[Mark]) -> Record {
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
                    says: Said::of(&part.verdict.says),
                    asks: part.verdict.asks.clone(),
                    us: part.micros,
                })
                .collect(),
            did: Deeds::of(facts, marks),
            meter: match &facts.meter {
                Meter::Unknown(crate::meter::NoReading::NotNeeded) => None,
                meter => Some(MeterRecord::of(meter, facts.forecast(), facts.now)),
            },
            boundary: outcome.effects.iter().find_map(|effect| match effect {
                Effect::Knowledge(effect::Effect::NoteBoundary(boundary)) => {
                    Some(BoundaryRecord::of(boundary))
                }
                _ => None,
            }),
            said: Said { model: some(&to_model), user: some(&outcome.user), dropped: outcome.dropped },
            cost: Cost {
                bytes: to_model.len(),
                tokens: count_recorded_tokens(&to_model),
                turns: u32::from(outcome.call == Call::Deny && repeats(event.kind)),
                us: 0,
            },
            ..Record::begin_for(event.host, &event.name, facts.now)
        }
    }

    /// A name for a record of this process: no two live ones share a number, and none lives twice in one millisecond.
    pub fn id(now: Millis, process: u32) -> String {
        format!("{:x}-{process:x}", now.0)
    }

    /// A record with nothing in it yet but its event and time.
    pub fn begin(event: &str, now: Millis) -> Record {
        Record::begin_for(Host::ClaudeCode, event, now)
    }

    /// The same for an event of this host.
    pub fn begin_for(host: Host, event: &str, now: Millis) -> Record {
        Record {
            v: FORMAT,
            at: now.iso(),
            event: event.to_owned(),
            host: host.name().to_owned(),
            ..Record::default()
        }
    }

    /// Takes secrets out of every text that is not ours alone. Not of names by which records are found again: session,
    /// project, agent, tool.
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
        let Deeds { skills, edited, edited_by_shell, read, hidden, stage, .. } = did;
        let lists = skills.iter_mut().chain(edited).chain(edited_by_shell).chain(read);
        lists.chain(hidden).chain(stage).for_each(&mut take);
        said.texts().for_each(&mut take);
        boundary.iter_mut().flat_map(|boundary| &mut boundary.lost).for_each(&mut take);
        backend.iter_mut().flat_map(|call| &mut call.why).for_each(&mut take);
        failure.iter_mut().map(|failure| &mut failure.step).for_each(&mut take);
        config.iter_mut().for_each(&mut take);
        self.redacted.merge(&found);
    }

    /// The line, with its end.
    pub fn line(&self) -> String {
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
        let said = || Said { model: Some(line()), user: Some(line()), dropped: 0 };
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
            hidden: Some(line()),
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
            failure: Some(Failure { step: line(), ..Failure::default() }),
            config: lines(),
            ..Record::begin("", Millis(0))
        };
        let texts = record.line().matches("hunter2").count();
        record.redact();
        assert!(!record.line().contains("hunter2"));
        assert!(record.line().ends_with("\"redacted\":{\"url_password\":22}}\n"), "{}", record.line());
        assert_eq!(record.redacted.total() as usize, texts);
        let again: Record = serde_json::from_str(&record.line()).unwrap();
        assert_eq!(again, record);
    }
}
