//! Relay log: leaves the conversation for the worker, which records it.
//!
//! The rules, case by case, are in `recording.md`. It never blocks. A person hears once on a machine that they are
//! recorded; a new session hears what was worked on before.

mod earlier_work;

use crate::event::{Event, EventKind, Start};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs, Told};
use crate::feature::marks::Marks;
use crate::feature::memory::effect::{self, StartWhen};
use crate::feature::memory::facts as own;
use crate::feature::memory::facts::{chosen_topic, turn_ends};
use crate::feature::memory::job::{AnswerDigest, JobCause, TranscriptPart, Work};
use crate::feature::memory::marks::{Mark, Spooled};
use crate::feature::memory::words;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::feature::{Mode, Policy};
use crate::settings::section::section;
use crate::settings::setting::choices;
use crate::text::fnv;
use crate::text::json::LongText;

section! {
    /// Section `[recording]`.
    Settings "recording" {
        /// Record your prompts and the agent's answers (`on`), or do not (`off`). A project's file may switch it off without trust.
        mode: RecordMode = RecordMode::On, Tightens;
    }
    presets {
        mode: RecordMode::On, RecordMode::On;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordMode {
    On,
    Off,
}

// Recording less is the stricter choice.
choices!(RecordMode { "on" => RecordMode::On, "off" => RecordMode::Off });

pub const ID: &str = "recording";

pub struct RelayLog;

/// A longer answer is not compared: a hook has no time to read it.
const LONGEST_ANSWER: usize = 1024 * 1024;

impl Policy for RelayLog {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.relay_log.mode {
            RecordMode::On => Mode::Live,
            RecordMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, _: Option<&Marks>) -> Option<Needs> {
        let reads = job_cause(event).is_some();
        let starts = event.kind == EventKind::SessionStart && event.is_main_thread();
        let page = starts && earlier_work::may_tell(event.kind, event.start);
        let memory = own::Needs { transcript: reads, page, ..own::Needs::default() };
        (reads || starts).then(|| Needs { memory, ..Needs::default() })
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        if !facts.person.may_be_there() && !config.memory.headless {
            return Verdict::silent("the session is unattended");
        }
        let marks = match &facts.marks {
            Known::Value(marks) => Some(marks),
            Known::Absent => None,
            // Unknown how far it was left before, and a new mark could not be written.
            Known::Broken(_) => return Verdict::silent("the session's state cannot be read"),
        };
        let work = |because| next_part(facts, marks, because);
        // After a turn another one may come; after anything else the next event may be far off.
        let starts =
            if facts.event.kind == EventKind::Stop { StartWhen::OnceAMinute } else { StartWhen::AnyTime };
        let start = |waits| Effect::Memory(effect::Effect::StartWorker { waits, starts });
        let (effects, because) = match job_cause(facts.event).map(work) {
            None => (vec![start(false)], "nothing was queued"),
            Some(Err(why)) => (vec![start(false)], why),
            Some(Ok(part)) => {
                let spooled = Spooled { to: part.to, at: facts.now, passed: part.passed };
                let (work, mark) = (Box::new(Work::Relays(part)), Some(Mark::Spooled(spooled)));
                let spool = Effect::Memory(effect::Effect::Spool { work, mark });
                (vec![spool, start(true)], "queued for the worker")
            }
        };
        let says = tell_once(facts, config).into_iter().chain(earlier_work::tell(facts, config));
        Verdict { effects, says: says.collect(), ..Verdict::silent(because) }
    }
}

fn tell_once(facts: &Facts<'_>, config: &Config) -> Option<Say> {
    let team = &config.memory.team;
    let is_shared = team.url.is_some() && !team.projects.0.is_empty();
    let is_news = facts.session.untold.contains(&Told::Recording) && facts.person.may_be_there();
    is_news.then(|| Say {
        to: Audience::User,
        text: words::conversations_are_recorded(facts.lang, is_shared),
        weight: 90,
        explains: false,
        when_said: vec![Effect::told(Told::Recording)],
    })
}

/// `None` if this event leaves nothing: a fork's transcript is a copy, a compaction comes in the middle of a
/// turn, and a new session has nothing yet.
fn job_cause(event: &Event<'_>) -> Option<JobCause> {
    match event.kind {
        _ if !event.is_main_thread() => None,
        EventKind::Stop => Some(JobCause::Stop),
        EventKind::SessionEnd => Some(JobCause::End),
        EventKind::SessionStart if event.start == Some(Start::Resume) => Some(JobCause::Start),
        _ => None,
    }
}

pub fn records_session(facts: &Facts<'_>, config: &Config) -> bool {
    is_on(config) && (facts.person.may_be_there() || config.memory.headless)
}

pub fn is_on(config: &Config) -> bool {
    config.policies.relay_log.mode == RecordMode::On && !config.switched_off(ID)
}

/// How far this transcript was left.
fn spooled_so_far(facts: &Facts<'_>, marks: Option<&Marks>) -> Option<Spooled> {
    let path = facts.event.transcript.as_deref();
    marks.filter(|marks| marks.session.transcript.as_deref() == path)?.memory.spooled
}

fn next_part(
    facts: &Facts<'_>,
    marks: Option<&Marks>,
    because: JobCause,
) -> Result<TranscriptPart, &'static str> {
    let left = spooled_so_far(facts, marks);
    let to = left.map_or(0, |left| left.to);
    // The first turn may end before any of it is in a file.
    let length = facts.memory.length.or((because == JobCause::Stop && to == 0).then_some(0));
    let (Some(path), Some(length)) = (facts.event.transcript.as_ref(), length) else {
        return Err("there is no transcript");
    };
    let Some(project) = &facts.memory.project else { return Err("there is no project") };
    // A file that is shorter than before is another one.
    let from = if to > length { 0 } else { to };
    // At the end of a turn the answer may not be in the file yet.
    if from == length && because != JobCause::Stop {
        return Err("nothing was said since");
    }
    let answer = facts.event.last_message.filter(|_| because == JobCause::Stop);
    let answer = answer.and_then(|text| digest_answer(text)).filter(|answer| answer.bytes > 0);
    Ok(TranscriptPart {
        transcript: path.to_string(),
        from,
        to: length,
        because,
        answer,
        topic: marks.and_then(|marks| marks.memory.topic_set.as_ref()).map(|set| set.topic.id),
        passed: left.and_then(|left| left.passed),
        project: project.clone(),
        lang: marks.and_then(|marks| marks.session.lang),
    })
}

/// Hashes a long answer in place: a copy would cost another megabyte.
fn digest_answer(text: LongText<'_>) -> Option<AnswerDigest> {
    let mut answer = AnswerDigest { bytes: 0, hash: fnv::START };
    text.pieces(LONGEST_ANSWER, |piece| {
        answer.bytes += piece.len() as u64;
        answer.hash = fnv::extend_hash(answer.hash, piece.bytes());
    })?;
    Some(answer)
}

pub fn marks(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
    chosen_topic(facts).map(Mark::TopicSet).into_iter().chain(skipped_mark(facts, config)).collect()
}

/// Marks the part that is not recorded, so that recording resumes after it. The end of a turn alone is not
/// enough: an interrupted turn has none, and its prompt may reach the file later. The beginning of a fork
/// belongs to another session, which recorded it or not.
fn skipped_mark(facts: &Facts<'_>, config: &Config) -> Option<Mark> {
    let kind = facts.event.kind;
    let ends = turn_ends(facts.event) || kind == EventKind::SessionEnd;
    let passes = (ends || kind == EventKind::UserPromptSubmit) && !records_session(facts, config);
    if !passes && !is_fork(facts.event) {
        return None;
    }
    let known = spooled_so_far(facts, facts.marks.value());
    let to = facts.memory.length.filter(|_| ends).or(known.map(|known| known.to)).unwrap_or_default();
    let at = if ends { facts.now } else { known.map(|known| known.at).unwrap_or_default() };
    Some(Mark::Spooled(Spooled { to, at, passed: Some(facts.now) }))
}

fn is_fork(event: &Event<'_>) -> bool {
    event.start == Some(Start::Fork)
}

pub fn needs_for_skipping(event: &Event<'_>, config: &Config) -> Needs {
    let ends = turn_ends(event) || event.kind == EventKind::SessionEnd;
    let off = config.policies.relay_log.mode == RecordMode::Off || config.switched_off(ID);
    let memory = own::Needs { transcript: ends && off, ..own::Needs::default() };
    Needs { memory, ..Needs::default() }
}
