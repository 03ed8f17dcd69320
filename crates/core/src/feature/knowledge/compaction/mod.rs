//! Compaction: names the facts to keep before it, and measures afterwards what the summary lost. The model gets lost
//! facts back, and the person sees how many were kept.
//!
//! The rules, case by case, are in `compaction.md`. It never fails a compaction: unreadable files are left
//! out.

use std::fmt::Write as _;

use crate::event::{Event, EventKind, Start};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::knowledge::boundary::Boundary;
use crate::feature::knowledge::effect;
use crate::feature::knowledge::facts;
use crate::feature::knowledge::facts::Knowledge;
use crate::feature::knowledge::flow;
use crate::feature::knowledge::handoff::HandoffHead;
use crate::feature::knowledge::key_facts::{FactSources, KeyFact, select_key_facts, summary_instructions};
use crate::feature::knowledge::marks::{HandoffKnown, Mark};
use crate::feature::knowledge::plan;
use crate::feature::knowledge::stated;
use crate::feature::knowledge::survival;
use crate::feature::knowledge::survival::Survival;
use crate::feature::knowledge::tracked;
use crate::feature::knowledge::tracked::{FileNumbers, TrackedFile};
use crate::feature::knowledge::words;
use crate::feature::marks::{Marks, Note, SessionMark};
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say, Verdict};
use crate::feature::{CONTEXT_FOLDER, HANDOFF_FILE, Mode, Policy};
use crate::host::Host;
use crate::settings::section::section;
use crate::settings::setting::{Whole, choices};
use crate::text::cut::cut_to_word;
use crate::text::fnv;
use crate::text::lang::Lang;
use crate::text::quoted::quoted_line;
use crate::time::{Millis, describe_age};

section! {
    /// Section `[compaction]`.
    Settings "compaction" {
        /// Act (`on`), only measure without a word (`shadow`), or do not look (`off`).
        mode: CompactionMode = CompactionMode::On, Tightens;
        /// Pause the first manual compaction while progress notes are not reviewed (`first`), or none (`never`).
        hold: Hold = Hold::Never, Tightens;
        /// Characters for the summariser at an automatic compaction. (At a manual one the client repeats the text in the
        /// conversation, so `text_budget` limits it.)
        instructions: Whole<200, 9_000> = Whole::new(4000), WithTrust;
    }
    presets {
        mode: CompactionMode::Shadow, CompactionMode::On;
        hold: Hold::Never, Hold::First;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionMode {
    Off,
    /// Only measures.
    Shadow,
    On,
}

choices!(CompactionMode {
    "off" => CompactionMode::Off,
    "shadow" => CompactionMode::Shadow,
    "on" => CompactionMode::On,
});

/// The manual compactions to pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Never,
    /// The first, while entries are not promoted.
    First,
}

choices!(Hold { "never" => Hold::Never, "first" => Hold::First });

pub const ID: &str = "compaction";

/// Entries that stay in `progress.md`; older ones move to the archive.
pub const KEPT_ENTRIES: usize = 10;

/// Decisions of the memory to keep: a long-lived project has hundreds.
const MOST_STANDING: usize = 8;

/// No compaction takes longer.
const LONGEST_COMPACTION_MS: u64 = 30 * 60_000;

/// Only the beginning of a longer summary counts.
const LONGEST_SUMMARY: usize = 1024 * 1024;

/// For this long after the summary the host may not have written the boundary to the transcript: some 100 ms
/// were seen with 2.1.325.
const WRITTEN_MS: u64 = 1000;

pub struct Compaction;

impl Policy for Compaction {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.compaction.mode {
            CompactionMode::On => Mode::Live,
            CompactionMode::Shadow => Mode::Shadow,
            CompactionMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        // A subagent's compaction does not concern the main conversation.
        if !event.is_main_thread() {
            return None;
        }
        let waits = |note| marks.is_some_and(|marks| marks.session.notes.contains(&note));
        let (lost, kept, compacts) = (waits(Note::Lost), waits(Note::Kept), waits(Note::Compacting));
        let needs = |boundary| Needs {
            knowledge: facts::Needs { boundary, ..facts::Needs::default() },
            ..Needs::default()
        };
        match event.kind {
            EventKind::PreCompact => {
                let mut needs = needs(lost);
                needs.memory.page = true;
                Some(needs)
            }
            EventKind::PostCompact => Some(needs(true)),
            EventKind::SessionStart => Some(needs(event.follows_compaction())),
            EventKind::UserPromptSubmit | EventKind::PostToolUse if compacts => {
                let mut needs = needs(true);
                needs.knowledge.preserved = true;
                Some(needs)
            }
            EventKind::UserPromptSubmit | EventKind::PostToolUse if lost || kept => Some(needs(true)),
            // Lost facts cannot be given back there, and the person hears of both together.
            EventKind::Stop if kept && !lost => Some(needs(true)),
            EventKind::PostToolUse | EventKind::Stop => {
                marks.is_some_and(stated::is_untold).then(|| needs(false))
            }
            _ => None,
        }
    }

    fn needs_more(&self, facts: &Facts<'_>, _: &Config) -> Needs {
        let kind = facts.event.kind;
        let files =
            matches!(kind, EventKind::PreCompact | EventKind::SessionStart) || has_ended_silently(facts);
        // Only facts missing from the summary are searched in the kept messages.
        let survival = facts.knowledge.boundary.as_ref().and_then(|boundary| boundary.survival.as_ref());
        let preserved = matches!(kind, EventKind::UserPromptSubmit | EventKind::PostToolUse)
            && survival.is_some_and(|found| !found.lost.is_empty());
        // A host that gives hooks no summary has written it down by now.
        let preserved =
            preserved || facts.event.follows_compaction() && facts.event.host.tells_by_transcript();
        let more = facts::Needs { files, preserved, ..facts::Needs::default() };
        Needs { knowledge: more, ..Needs::default() }
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        if let Known::Broken(_) = &facts.marks {
            return Verdict::silent("the session's state cannot be read");
        }
        match facts.event.kind {
            EventKind::PreCompact => prepare_compaction(facts, config),
            EventKind::SessionStart => {
                let mut verdict =
                    if facts.event.follows_compaction() { report_recovery(facts) } else { list_once(facts) };
                verdict.says.extend(mention_handoff(facts));
                verdict.says.extend(mention_conflicts(facts));
                if facts.event.follows_compaction() {
                    give_back_at_start(facts, config, &mut verdict);
                }
                verdict
            }
            EventKind::PostCompact => measure_summary(facts),
            EventKind::UserPromptSubmit | EventKind::PostToolUse if is_compacting(facts) => {
                end_silent_compaction(facts, config)
            }
            _ => {
                let notes = facts.marks.value().map(|marks| marks.session.notes.as_slice());
                let waits = |note| notes.is_some_and(|notes| notes.contains(&note));
                let mut verdict = match facts.event.kind {
                    EventKind::Stop if !waits(Note::Kept) || waits(Note::Lost) => Verdict::pass(),
                    _ if waits(Note::Kept) || waits(Note::Lost) => tell_summary(facts, config),
                    _ => Verdict::pass(),
                };
                stated::tell_changes(facts, &mut verdict);
                verdict
            }
        }
    }
}

fn prepare_compaction(facts: &Facts<'_>, config: &Config) -> Verdict {
    let settings = &config.policies.compaction;
    let none = Knowledge::default();
    let knowledge = facts.knowledge.files.as_ref().unwrap_or(&none);
    let by_hand = facts.event.by_hand;
    let can_hold = facts.event.host.deliverable(facts.event.kind, Call::Deny) == Call::Deny;
    if settings.hold == Hold::First && by_hand && can_hold && should_hold(facts, knowledge) {
        return Verdict {
            call: Call::Deny,
            reason: Some(words::compaction_held(facts.lang, knowledge.unpromoted.len())),
            because: "progress notes are not reviewed",
            effects: vec![Effect::mark(Mark::CompactionHeld(knowledge.set))],
            asks: Asks::compound(),
            ..Verdict::pass()
        };
    }
    let owed = untold_facts(facts);
    let key_facts = collect_key_facts(facts, knowledge, &owed);
    if key_facts.is_empty() && facts.knowledge.files.is_none() {
        return Verdict::silent("no facts to keep are known");
    }
    // A text costs one character more than its length.
    let said = summary_instructions(&key_facts, config.text_budget(facts.event).saturating_sub(1));
    let said = said.filter(|_| facts.event.host.channels(facts.event.kind).context);
    let named = said.as_ref().map_or(0, |text| text.lines().filter(|line| line.starts_with("- ")).count());
    let boundary = Boundary {
        noted: facts.now,
        trigger: if by_hand { "manual" } else { "auto" }.to_owned(),
        entries: knowledge.entries,
        unpromoted: knowledge.unpromoted.len(),
        headings: knowledge.headings.clone(),
        confidence: knowledge.confidence,
        named,
        facts: key_facts,
        measured: None,
        owed,
        survival: None,
    };
    let mut verdict = Verdict {
        effects: vec![Effect::Knowledge(effect::Effect::NoteBoundary(Box::new(boundary)))],
        ..Verdict::silent("no facts to keep are known")
    };
    verdict.effects.extend(handoff(facts));
    if facts.event.host.compacts_silently() {
        verdict.effects.push(Effect::mark(SessionMark::Note(Note::Compacting)));
    }
    if let Some(said) = said {
        verdict.because = "facts to keep were named";
        verdict.says.push(Say {
            to: Audience::Model,
            text: said,
            weight: 90,
            explains: false,
            when_said: Vec::new(),
        });
    }
    verdict
}

/// With a cycle or workflow under way: the summary may lose its state.
fn handoff(facts: &Facts<'_>) -> Option<Effect> {
    let in_cycle = facts.marks.value().is_some_and(|marks| marks.cycle.stage.is_some());
    let steps = facts.workflow.steps();
    let work = in_cycle || steps.is_some();
    work.then(|| Effect::Knowledge(effect::Effect::WriteHandoff(steps.into_iter().collect())))
}

/// A second attempt passes, and so does one for entries that a compaction was already paused for.
fn should_hold(facts: &Facts<'_>, knowledge: &Knowledge) -> bool {
    let marks = facts.marks.value();
    let held = marks.is_some_and(|marks| {
        marks.knowledge.held_since_boundary || marks.knowledge.compaction_held == Some(knowledge.set)
    });
    !knowledge.unpromoted.is_empty() && !held && facts.person.may_be_there()
}

fn as_strs(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// Facts lost at an earlier boundary, not told yet, and nowhere in the conversation.
fn untold_facts(facts: &Facts<'_>) -> Vec<KeyFact> {
    let waits = facts.marks.value().is_some_and(|marks| marks.session.notes.contains(&Note::Lost));
    let Some(boundary) = facts.knowledge.boundary.as_ref().filter(|_| waits) else { return Vec::new() };
    let mut untold = if boundary.survival.is_none() {
        boundary.owed.clone()
    } else {
        let missing = boundary.missing(facts.knowledge.preserved.repeated);
        survival::measure_survival(&missing, "", &as_strs(&facts.knowledge.preserved.texts)).lost
    };
    stated::retain_standing(&mut untold, facts);
    untold
}

/// The newest first. What is allowed for this once comes with what forbids it.
fn stated_texts(marks: &Marks) -> Vec<&str> {
    let constraints = marks.knowledge.constraints.iter().rev().map(|constraint| constraint.text.as_str());
    marks.knowledge.allowed_once.iter().map(String::as_str).chain(constraints).collect()
}

fn collect_key_facts(facts: &Facts<'_>, knowledge: &Knowledge, owed: &[KeyFact]) -> Vec<KeyFact> {
    let none = Marks::default();
    let marks = facts.marks.value().unwrap_or(&none);
    let unverified =
        marks.verification.changes.as_ref().map(|changes| changes.files.as_slice()).unwrap_or_default();
    // The classified activity of a prompt is a guess, not a stage.
    let stage = marks.cycle.key_fact().or_else(|| marks.workflow.key_fact());
    let manifest = facts.workflow.key_facts();
    select_key_facts(&FactSources {
        stated: stated_texts(marks),
        constraints: as_strs(&knowledge.constraints),
        decisions: as_strs(&knowledge.decisions),
        standing: facts
            .memory
            .page
            .value()
            .into_iter()
            .flat_map(|page| &page.decisions)
            .take(MOST_STANDING)
            .map(|decision| decision.name.as_str())
            .collect(),
        manifest: as_strs(&manifest),
        headings: as_strs(&knowledge.unpromoted),
        nexts: as_strs(&knowledge.next),
        open_items: as_strs(&knowledge.open),
        unverified: as_strs(unverified),
        files: marks.verification.wrote.files.iter().rev().map(String::as_str).collect(),
        phase: stage.as_deref(),
        notes: owed.iter().map(|fact| fact.text.as_str()).collect(),
    })
}

fn report_recovery(facts: &Facts<'_>) -> Verdict {
    let recovered = facts.marks.value().and_then(|marks| marks.knowledge.recovered);
    let noted = facts.knowledge.boundary.as_ref().filter(|boundary| recovered != Some(boundary.noted));
    let Some(boundary) = noted else {
        return Verdict::silent("nothing was noted before this compaction");
    };
    let recovered = Effect::mark(Mark::Recovered(boundary.noted));
    // Only now: the host also announces compactions that it then does not make.
    let published = Effect::Knowledge(effect::Effect::PublishCompaction(Box::new(boundary.clone())));
    // Without a place for knowledge, the summary already says everything.
    let Some(knowledge) = &facts.knowledge.files else {
        return Verdict { effects: vec![recovered], ..Verdict::silent("there are no progress notes here") };
    };
    let host = Host::title(facts.event.host.name());
    let mut text = match first_files(knowledge) {
        Some(files) => format!("Read {files} before you continue: {host} compacted the conversation."),
        None => format!("{host} compacted the conversation."),
    };
    match knowledge.unpromoted.len() {
        0 if knowledge.entries > 0 => text.push_str(" Every progress note is reviewed."),
        0 => {}
        waiting => {
            let _ =
                write!(text, " {} not reviewed; the user can run `/compound`.", words::notes_are(waiting));
        }
    }
    // Nothing is moved out of a merge that is not resolved.
    let is_settled = !knowledge.conflicts.iter().any(|name| [flow::FILE, flow::ARCHIVE].contains(name));
    let moved = if is_settled { knowledge.entries.saturating_sub(KEPT_ENTRIES) } else { 0 };
    let files = files_after_trim(moved, knowledge, facts.now);
    if !files.is_empty() {
        let first = format!("Files in {CONTEXT_FOLDER}:");
        let _ = write!(text, "\n{}", tracked::list_files(&first, &files, facts.now));
    }
    if moved > 0 {
        let notes = if moved == 1 { "note" } else { "notes" };
        let _ =
            write!(text, "\nTidegate moved {moved} older {notes} from progress.md to progress.archive.md.");
    }
    let when_said = vec![recovered, Effect::mark(Mark::Listed(listing_hash(&files, &excerpt(knowledge))))];
    Verdict {
        says: vec![Say { to: Audience::Model, text, weight: 100, explains: false, when_said }],
        effects: vec![published, Effect::Knowledge(effect::Effect::TidyFlow)],
        ..Verdict::silent("the conversation was compacted")
    }
}

/// The files after `moved` entries have gone to the archive.
fn files_after_trim(moved: usize, knowledge: &Knowledge, now: Millis) -> Vec<TrackedFile> {
    let mut files = knowledge.tracked.clone();
    if moved == 0 {
        return files;
    }
    if !files.iter().any(|file| file.name == flow::ARCHIVE) {
        files.push(TrackedFile {
            name: flow::ARCHIVE,
            what: FileNumbers::Flow { entries: 0 },
            modified: now,
        });
    }
    for file in &mut files {
        match (&mut file.what, file.name) {
            (FileNumbers::Flow { entries }, flow::FILE) => *entries = KEPT_ENTRIES,
            (FileNumbers::Flow { entries }, flow::ARCHIVE) => *entries += moved,
            _ => continue,
        }
        file.modified = now;
    }
    files
}

/// Plan and progress, if they are there.
fn first_files(knowledge: &Knowledge) -> Option<String> {
    let is_there = |name: &&str| knowledge.tracked.iter().any(|file| file.name == *name);
    let names: Vec<&str> = [plan::FILE, flow::FILE].into_iter().filter(is_there).collect();
    (!names.is_empty()).then(|| format!("{} in {CONTEXT_FOLDER}", names.join(" and ")))
}

/// Mentions a handoff younger than a day, to one session. The session that wrote it needs it only after its
/// conversation was compacted.
fn mention_handoff(facts: &Facts<'_>) -> Vec<Say> {
    let files = facts.knowledge.files.as_ref();
    let written = files.and_then(|knowledge| knowledge.handoff);
    let Some(at) = written.filter(|at| HandoffHead::is_news(*at, facts.now)) else { return Vec::new() };
    let is_told = files.is_some_and(|knowledge| knowledge.handoff_told);
    if is_told && !facts.event.follows_compaction() {
        return Vec::new();
    }
    let known =
        facts.marks.value().filter(|_| !is_new_conversation(facts)).and_then(|marks| marks.knowledge.handoff);
    if known.is_some_and(|known| known.at == at && !(known.wrote && facts.event.follows_compaction())) {
        return Vec::new();
    }
    let age = facts.now.since(at);
    let to_model = format!(
        "Read {CONTEXT_FOLDER}/{HANDOFF_FILE} before you continue: it is a handoff written {}, with goal, state, decisions, unverified \
         files and next steps. Trust a file that changed since over it.",
        describe_age(Lang::En, age)
    );
    let told = Effect::mark(Mark::Handoff(HandoffKnown { at, wrote: false }));
    let say = |to, text, when_said| Say { to, text, weight: 80, explains: false, when_said };
    let remembered = Effect::Knowledge(effect::Effect::Nudged(HandoffHead::set(at)));
    let mut says = vec![say(Audience::Model, to_model, vec![told, remembered])];
    // The person of the session that wrote it has the work before them.
    let is_own = known.is_some_and(|known| known.at == at && known.wrote);
    if facts.person.may_be_there() && !is_own {
        says.push(say(Audience::User, words::handoff_waits(facts.lang, age), Vec::new()));
    }
    says
}

/// Tells the person once per session of files with conflict markers: until they are resolved, nothing is written there.
fn mention_conflicts(facts: &Facts<'_>) -> Option<Say> {
    let names = &facts.knowledge.files.as_ref()?.conflicts;
    let notice = format!("conflict {}", names.join(" "));
    let is_told = facts.marks.value().is_some_and(|marks| marks.session.noticed(&notice));
    (!names.is_empty() && !is_told && facts.person.may_be_there()).then(|| Say {
        to: Audience::User,
        text: words::conflicts(facts.lang, names),
        weight: 70,
        explains: false,
        when_said: vec![Effect::mark(SessionMark::Notice(notice))],
    })
}

fn is_new_conversation(facts: &Facts<'_>) -> bool {
    facts.event.start.is_some_and(Start::is_new)
}

/// Once per session: the host repeats earlier texts on resume.
fn list_once(facts: &Facts<'_>) -> Verdict {
    let Some(knowledge) = facts.knowledge.files.as_ref().filter(|knowledge| !knowledge.tracked.is_empty())
    else {
        return Verdict::silent("there are no progress notes or learnings");
    };
    let excerpt = excerpt(knowledge);
    let names = listing_hash(&knowledge.tracked, &excerpt);
    if !is_new_conversation(facts)
        && facts.marks.value().is_some_and(|marks| marks.knowledge.listed == Some(names))
    {
        return Verdict::silent("the files did not change since they were named");
    }
    Verdict {
        says: vec![Say {
            to: Audience::Model,
            text: tracked::list_files(
                &format!("Read these files in {CONTEXT_FOLDER} when they matter to the task:"),
                &knowledge.tracked,
                facts.now,
            ) + &excerpt,
            weight: 60,
            explains: false,
            when_said: vec![Effect::mark(Mark::Listed(names))],
        }],
        ..Verdict::silent("there are progress notes or learnings")
    }
}

/// Most characters of one line from a file.
const LONGEST_EXCERPT: usize = 120;

/// The next step and the first constraint, as the words of their files.
fn excerpt(knowledge: &Knowledge) -> String {
    let next = knowledge.next.first().map(|next| (flow::FILE, next));
    let next = next.or_else(|| knowledge.open.first().map(|open| (plan::FILE, open)));
    let constraint = knowledge.constraints.first().map(|constraint| (plan::FILE, constraint));
    let others = match knowledge.constraints.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let mut text = String::new();
    for (what, said, more) in [("next step", next, ""), ("constraint", constraint, others.as_str())] {
        if let Some((file, said)) = said {
            let said = quoted_line(said);
            let _ = write!(
                text,
                "\nThe file {file} says, as {what}: {}{more}",
                cut_to_word(&said, LONGEST_EXCERPT)
            );
        }
    }
    text
}

/// Covers everything in the listing but the ages.
fn listing_hash(files: &[TrackedFile], excerpt: &str) -> u64 {
    let mut files: Vec<String> =
        files.iter().map(|file| format!("{} {:?}\n", file.name, file.what)).collect();
    files.sort();
    fnv::hash(files.into_iter().flat_map(String::into_bytes).chain(excerpt.bytes()))
}

fn measure_summary(facts: &Facts<'_>) -> Verdict {
    let Some(boundary) = facts.knowledge.boundary.as_ref().filter(|boundary| boundary.survival.is_none())
    else {
        return Verdict::silent("nothing was noted before this compaction");
    };
    // Noted for a compaction that did not happen; nothing was noted before this one.
    if facts.now.since(boundary.noted) > LONGEST_COMPACTION_MS {
        return Verdict::silent("the noted facts are of an earlier compaction");
    }
    let Some(summary) = facts.event.summary else {
        return Verdict::silent("the client gave no summary");
    };
    let summary = summary.head(LONGEST_SUMMARY);
    let survival = survival::measure_survival(&boundary.facts, &summary, &[]);
    let boundary = Boundary { measured: Some(facts.now), survival: Some(survival), ..boundary.clone() };
    // The host has not written down yet which messages it kept; by the next event it will have.
    let missing = !boundary.missing(false).is_empty();
    let of = boundary.facts.len();
    let mut verdict =
        Verdict::silent(if missing { "the summary lost something" } else { "nothing was lost" });
    verdict.effects.push(Effect::Knowledge(effect::Effect::NoteBoundary(Box::new(boundary.clone()))));
    verdict.effects.push(Effect::Knowledge(effect::Effect::PublishCompaction(Box::new(boundary))));
    if missing {
        verdict.effects.push(Effect::mark(SessionMark::Note(Note::Lost)));
    }
    // The client shows no message of this event to the person.
    if of > 0 && facts.person.may_be_there() {
        verdict.effects.push(Effect::mark(SessionMark::Note(Note::Kept)));
    }
    verdict
}

/// Measures a summary that only the transcript has, and gives lost facts back at once.
fn give_back_at_start(facts: &Facts<'_>, config: &Config, verdict: &mut Verdict) {
    let Some(boundary) = facts.knowledge.boundary.as_ref().filter(|boundary| boundary.survival.is_none())
    else {
        return;
    };
    let Some(summary) = &facts.knowledge.preserved.summary else { return };
    if facts.now.since(boundary.noted) > LONGEST_COMPACTION_MS {
        return;
    }
    let preserved = as_strs(&facts.knowledge.preserved.texts);
    let survival = survival::measure_survival(&boundary.facts, summary, &preserved);
    let boundary = Boundary { measured: Some(facts.now), survival: Some(survival), ..boundary.clone() };
    let mut missing = boundary.missing(false);
    let lifted = stated::retain_standing(&mut missing, facts);
    // Half of the room: the list of files comes with it.
    let (text, given) = survival::lost_note(&missing, config.general.text_budget.get() as usize / 2);
    verdict.effects.push(Effect::Knowledge(effect::Effect::NoteBoundary(Box::new(boundary.clone()))));
    verdict.effects.push(Effect::Knowledge(effect::Effect::PublishCompaction(Box::new(boundary.clone()))));
    if !text.is_empty() {
        // If it is not delivered now, it comes with the next event.
        verdict.effects.push(Effect::mark(SessionMark::Note(Note::Lost)));
        let mut told = Verdict::pass();
        let when_said = vec![Effect::mark(SessionMark::NoteGiven(Note::Lost))];
        told.says.push(Say { to: Audience::Model, text, weight: 95, explains: false, when_said });
        note_given_back(&mut told, &boundary, missing.len() - given + lifted);
        verdict.says.append(&mut told.says);
        verdict.because = "the summary lost something";
    }
    if !boundary.facts.is_empty() && facts.person.may_be_there() {
        verdict.says.extend(tell_person(facts, &boundary, &missing, (given, lifted)));
    }
}

fn is_compacting(facts: &Facts<'_>) -> bool {
    facts.marks.value().is_some_and(|marks| marks.session.notes.contains(&Note::Compacting))
}

/// The compaction that was noted last is in the transcript by now.
fn has_ended_silently(facts: &Facts<'_>) -> bool {
    let is_new = facts.knowledge.boundary.as_ref().is_some_and(|boundary| boundary.survival.is_none());
    is_new && is_compacting(facts) && facts.knowledge.preserved.known
}

/// On a host that goes on while it compacts, and does not say when it is done.
fn end_silent_compaction(facts: &Facts<'_>, config: &Config) -> Verdict {
    let ended = Effect::mark(SessionMark::NoteGiven(Note::Compacting));
    let noted = facts.knowledge.boundary.as_ref().filter(|boundary| boundary.survival.is_none());
    let may_come = noted.is_some_and(|noted| facts.now.since(noted.noted) <= LONGEST_COMPACTION_MS);
    if !has_ended_silently(facts) {
        let effects = if may_come { Vec::new() } else { vec![ended] };
        return Verdict { effects, ..Verdict::silent("the compaction is not in the transcript yet") };
    }
    let mut verdict = report_recovery(facts);
    give_back_at_start(facts, config, &mut verdict);
    let notes = [SessionMark::Boundary(facts.now), SessionMark::Note(Note::Compacted)];
    verdict.effects.push(ended);
    verdict.effects.extend(notes.map(Effect::mark));
    verdict
}

/// Gives lost facts back to the model, and tells the person how many were kept. By now the host has written down
/// which messages it kept whole.
fn tell_summary(facts: &Facts<'_>, config: &Config) -> Verdict {
    let Some(boundary) = &facts.knowledge.boundary else {
        return drop_notes("what was lost is not known any more");
    };
    let Some(survival) = boundary.survival.clone() else {
        // Another compaction was tried since, and did not happen.
        let given = drop_notes("what was lost is not known any more");
        let mut owed = boundary.owed.clone();
        stated::retain_standing(&mut owed, facts);
        if stated::may_be_lifted(&owed, facts) {
            return Verdict::silent("the prompt may take a lost constraint back");
        }
        return tell_missing(given, missing_text(&owed, config).0);
    };
    // In the middle of a turn there will be another call. At a prompt the host has long written it down, or
    // never will.
    let just_now = boundary.measured.is_some_and(|measured| facts.now.since(measured) < WRITTEN_MS);
    let may_be_kept = !survival.lost.is_empty() && !facts.knowledge.preserved.known;
    if facts.event.kind == EventKind::PostToolUse && may_be_kept && just_now {
        return Verdict::silent("the client has not written down yet what it kept");
    }
    let preserved = as_strs(&facts.knowledge.preserved.texts);
    let found = survival::measure_survival(&survival.lost, "", &preserved);
    let mut verdict = drop_notes("the conversation still has every fact");
    let mut boundary = boundary.clone();
    if found.kept > 0 {
        boundary.survival =
            Some(Survival { kept: survival.kept + found.kept, ..Survival { lost: found.lost, ..survival } });
        verdict.effects.push(Effect::Knowledge(effect::Effect::NoteBoundary(Box::new(boundary.clone()))));
        verdict
            .effects
            .push(Effect::Knowledge(effect::Effect::PublishCompaction(Box::new(boundary.clone()))));
    }
    let mut missing = boundary.missing(facts.knowledge.preserved.repeated);
    let lifted = stated::retain_standing(&mut missing, facts);
    if stated::may_be_lifted(&missing, facts) {
        return Verdict::silent("the prompt may take a lost constraint back");
    }
    let waits = facts.marks.value().is_some_and(|marks| marks.session.notes.contains(&Note::Kept));
    let (text, given) = missing_text(&missing, config);
    let mut verdict = tell_missing(verdict, text);
    note_given_back(&mut verdict, &boundary, missing.len() - given + lifted);
    if waits && facts.person.may_be_there() {
        verdict.says.extend(tell_person(facts, &boundary, &missing, (given, lifted)));
    }
    verdict
}

/// They are given, or no longer true.
fn drop_notes(because: &'static str) -> Verdict {
    let given = [Note::Lost, Note::Kept].map(|note| Effect::mark(SessionMark::NoteGiven(note)));
    Verdict { effects: given.to_vec(), ..Verdict::silent(because) }
}

/// Also the number of facts in it. Leaves room for other texts: a note over the whole budget would never be delivered.
fn missing_text(missing: &[KeyFact], config: &Config) -> (String, usize) {
    survival::lost_note(missing, (config.general.text_budget.get() as usize * 3) / 4)
}

fn tell_missing(mut verdict: Verdict, text: String) -> Verdict {
    if text.is_empty() {
        return verdict;
    }
    verdict.because = "the summary lost something";
    // Both notes wait on if this text is not delivered.
    let is_note = |effect: &Effect| matches!(effect, Effect::Mark(_));
    let (when_said, effects) = verdict.effects.into_iter().partition(is_note);
    verdict.effects = effects;
    verdict.says.push(Say { to: Audience::Model, text, weight: 80, explains: false, when_said });
    verdict
}

/// Together with the text for the model, if there is one: what is not delivered is not given back.
fn note_given_back(verdict: &mut Verdict, boundary: &Boundary, left_out: usize) {
    let mut boundary = boundary.clone();
    let Some(survival) = boundary.survival.as_mut() else { return };
    survival.given_back = survival.lost.len().saturating_sub(left_out);
    if survival.given_back == 0 {
        return;
    }
    let effects = match verdict.says.first_mut() {
        Some(say) => &mut say.when_said,
        None => &mut verdict.effects,
    };
    effects.push(Effect::Knowledge(effect::Effect::NoteBoundary(Box::new(boundary.clone()))));
    effects.push(Effect::Knowledge(effect::Effect::PublishCompaction(Box::new(boundary))));
}

/// `given`: the first ones of the missing facts had room in the text for the model. `lifted`: lost ones that the person took back
/// count no longer.
fn tell_person(
    facts: &Facts<'_>,
    boundary: &Boundary,
    missing: &[KeyFact],
    (given, lifted): (usize, usize),
) -> Option<Say> {
    let lost = boundary.survival.as_ref().map_or(0, |survival| survival.lost.len()).saturating_sub(lifted);
    let given_back: Vec<&str> = missing.iter().take(given).map(|fact| fact.text.as_str()).collect();
    let of = boundary.facts.len().checked_sub(lifted).filter(|of| *of > 0)?;
    let kept = words::Kept {
        kept: of - missing.len().min(of),
        of,
        repeated: missing.len() < lost,
        given_back: &given_back,
        left_out: missing.len() - given_back.len(),
    };
    let text = words::summary_kept(facts.lang, kept);
    Some(Say { to: Audience::User, text, weight: 70, explains: false, when_said: Vec::new() })
}
