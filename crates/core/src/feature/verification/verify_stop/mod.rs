//! Verify before stop: a turn that edited code does not end before a check that could have failed has
//! succeeded.
//!
//! The rules, case by case, are in `verify_stop.md`. It blocks only on facts: successful edits, and no
//! successful check since. If it cannot tell, it passes: a stop that can never succeed would loop.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::Marks;
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say, Verdict};
use crate::feature::verification::bookkeeping;
use crate::feature::verification::checks::{Kinds, ProjectChecks};
use crate::feature::verification::facts as own;
use crate::feature::verification::marks::Mark;
use crate::feature::verification::required_checks::{SKILL, missing_kinds, open_files};
use crate::feature::verification::words;
use crate::feature::verification::work::{BackgroundCheck, ChangeSet, SucceededChecks};
use crate::feature::{Mode, Policy};
use crate::file_class::FileClass;
use crate::text::lang::Lang;
use crate::text::question::{self, needs_answer};
use settings::{VerifyMode, Wants};

pub mod settings;

pub use settings::Settings;

pub const ID: &str = "verify-stop";

pub struct VerifyStop;

impl Policy for VerifyStop {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.verify_stop.mode {
            VerifyMode::Block => Mode::Live,
            VerifyMode::Shadow => Mode::Shadow,
            VerifyMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        let unverified = marks.is_some_and(|marks| marks.verification.changes.is_some());
        match event.kind {
            EventKind::Stop if event.is_main_thread() => {
                let verification = own::Needs { checks: unverified, ..own::Needs::default() };
                Some(Needs { verification, ..Needs::default() })
            }
            EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::PostToolUse
                if unverified
                    && event.is_main_thread()
                    && marks.is_some_and(|marks| marks.session.may_remind(event)) =>
            {
                Some(Needs::default())
            }
            EventKind::PostToolUse if event.is_main_thread() && may_advise(event, marks) => {
                let verification = own::Needs { checks: true, ..own::Needs::default() };
                Some(Needs { verification, ..Needs::default() })
            }
            _ => None,
        }
    }

    fn skills<'c>(&self, _: &'c Config) -> Vec<&'c str> {
        vec![SKILL]
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let marks = facts.marks.value();
        let reminds = marks.is_some_and(|marks| marks.session.may_remind(facts.event));
        match facts.event.kind {
            EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::PostToolUse if reminds => {
                let changes = marks.and_then(|marks| marks.verification.changes.as_ref());
                let changes = changes.filter(|_| !is_checked_now(facts, config));
                changes.map_or_else(|| Verdict::silent("no code was edited"), remind_after_compaction)
            }
            EventKind::PostToolUse => advise_after_edit(facts, config),
            _ => judge_stop(facts, config),
        }
    }
}

/// What the end of a turn finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopStanding {
    /// Also if the session's state cannot be read, or the edited files are gone.
    NothingToCheck,
    Verified,
    /// Something in the background may still edit or verify.
    Waiting,
    /// The agent needs the person's answer.
    Asks,
    Unverified,
}

/// What to do about it, before any text is written.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, never in a list")]
pub enum StopCourse<'f> {
    Settled(Verdict),
    /// It passes, although nothing was verified.
    Tell(&'f ChangeSet, &'static str),
    Block(&'f ChangeSet),
}

fn judge_stop(facts: &Facts<'_>, config: &Config) -> Verdict {
    match weigh_stop(facts, config).1 {
        StopCourse::Settled(verdict) => verdict,
        StopCourse::Tell(changes, because) => pass_and_tell(facts, config, changes, because),
        StopCourse::Block(changes) => block_stop(facts, config, changes),
    }
}

pub fn weigh_stop<'f>(facts: &'f Facts<'_>, config: &Config) -> (StopStanding, StopCourse<'f>) {
    let settled = |standing, verdict| (standing, StopCourse::Settled(verdict));
    let nothing = |because| settled(StopStanding::NothingToCheck, Verdict::silent(because));
    let marks = match &facts.marks {
        Known::Value(marks) => marks,
        Known::Absent => return nothing("no code was edited"),
        Known::Broken(_) => return nothing("the session's state cannot be read"),
    };
    let Some(changes) = &marks.verification.changes else {
        if marks.verification.verified.is_some() {
            return settled(StopStanding::Verified, Verdict::silent("verified since the last edit"));
        }
        return nothing("no code was edited");
    };
    if facts.verification.edits_gone {
        return nothing("the edited files are gone");
    }
    if let Some(verdict) = verified_by_now(facts, config, changes) {
        return settled(StopStanding::Verified, verdict);
    }
    if let Some(verdict) = still_running(facts.event, marks) {
        return settled(StopStanding::Waiting, verdict);
    }
    let pass = |because| (StopStanding::Unverified, StopCourse::Tell(changes, because));
    if changes.held >= config.policies.verify_stop.blocks.get() as u32 {
        return pass(because_of_limit(changes));
    }
    if facts.event.held_before && changes.held > 0 && !changes.ran {
        return pass("nothing ran since the last block");
    }
    if config.stepped_down(ID) {
        return pass("stepped down: only tells the person");
    }
    if let Some(verdict) = wait_for_person(facts, changes) {
        return settled(StopStanding::Asks, verdict);
    }
    (StopStanding::Unverified, StopCourse::Block(changes))
}

/// Why code is unverified.
pub(super) fn because_of(changes: &ChangeSet) -> &'static str {
    match changes.failure() {
        Some(_) => "a check failed and has not passed since",
        None => "code was edited and not verified since",
    }
}

/// The same, where a stop passes all the same.
fn because_of_limit(changes: &ChangeSet) -> &'static str {
    match (changes.failure(), &changes.hidden, &changes.uncounted) {
        (Some(_), ..) => "a check failed; blocked as often as the config allows",
        (None, Some(_), _) => "a check hid its exit status; blocked as often as the config allows",
        (None, None, Some(_)) => "a check did not count; blocked as often as the config allows",
        (None, None, None) => "no check passed; blocked as often as the config allows",
    }
}

fn may_advise(event: &Event<'_>, marks: Option<&Marks>) -> bool {
    let advised = marks.is_some_and(|marks| marks.verification.advised);
    let is_code = |path: &Cow<'_, str>| FileClass::of(path) == FileClass::Code;
    !advised && event.edit_paths().and_then(Result::ok).is_some_and(|paths| paths.iter().any(is_code))
}

/// Most checks that do not count were piped into `tail`: the model hears of it before it runs one. Where the project has
/// none, there is nothing to run.
fn advise_after_edit(facts: &Facts<'_>, config: &Config) -> Verdict {
    let edited: Vec<String> = bookkeeping::edit_marks(facts, config)
        .into_iter()
        .filter_map(|mark| if let Mark::Edit(edit) = mark { Some(edit.file) } else { None })
        .collect();
    let checks = facts.verification.checks.as_ref();
    if edited.is_empty() || missing_kinds(checks, config, &edited, Kinds::NONE).is_empty() {
        return Verdict::pass();
    }
    let when_said = vec![Effect::mark(Mark::ToldHow)];
    let text = words::how_to_check().to_owned();
    Verdict {
        because: "the first code edit of the session",
        says: vec![Say { to: Audience::Model, text, weight: 30, explains: false, when_said }],
        ..Verdict::pass()
    }
}

/// Parallel checks, or a config that requires less by now, may have left nothing to ask for.
pub(super) fn verified_by_now(facts: &Facts<'_>, config: &Config, changes: &ChangeSet) -> Option<Verdict> {
    let checks = facts.verification.checks.as_ref();
    let kinds = changes.passed();
    let checked = SucceededChecks { seen: facts.now, ..SucceededChecks::seen_at(changes.last, kinds, true) };
    let is_done = !changes.files.is_empty() && open_files(checks, config, changes).is_empty();
    is_done.then(|| Verdict {
        effects: vec![Effect::mark(Mark::Checked(checked))],
        ..Verdict::silent("verified since the last edit")
    })
}

/// A running task may edit or verify: the stop passes, and the next one is examined again.
fn still_running(event: &Event<'_>, marks: &Marks) -> Option<Verdict> {
    if event.has_running_agents() {
        return Some(waiting_pass("agents still run in the background"));
    }
    if marks.verification.check_runs(event) {
        return Some(waiting_pass("a check still runs in the background"));
    }
    // A task that has just ended is not listed any more, but the host reports its end after this turn (seen
    // with 2.1.325). The end of a task that ended with its client, or that a person stopped, is never
    // reported: so wait for one turn only.
    let turn = event.turn.as_deref().unwrap_or_default();
    let told_later =
        |check: &&BackgroundCheck| check.awaited.as_deref().is_none_or(|awaited| awaited == turn);
    let gone: Vec<&BackgroundCheck> = marks.verification.pending().filter(told_later).collect();
    if gone.is_empty() {
        return None;
    }
    let new = gone.into_iter().filter(|check| check.awaited.is_none());
    let awaited = new.map(|check| BackgroundCheck { awaited: Some(turn.to_owned()), ..check.clone() });
    Some(Verdict {
        effects: awaited.map(|check| Effect::mark(Mark::Launched(check))).collect(),
        ..waiting_pass("a check in the background has just ended")
    })
}

/// The agent cannot continue without the person's answer. Once per change set: an agent that ends every turn
/// with a question is blocked the second time.
fn wait_for_person(facts: &Facts<'_>, changes: &ChangeSet) -> Option<Verdict> {
    let message = facts.event.last_message.filter(|_| !changes.asked)?;
    needs_answer(&message.tail(question::BYTES)).then(|| Verdict {
        effects: vec![Effect::mark(Mark::Asked)],
        ..waiting_pass("asks the person a question")
    })
}

/// A pass that still waits: the earlier block does not count as ignored yet.
fn waiting_pass(because: &'static str) -> Verdict {
    Verdict { asks: Asks::verified(), ..Verdict::silent(because) }
}

/// The stop passes; the person is told once that nothing was verified.
fn pass_and_tell(facts: &Facts<'_>, config: &Config, changes: &ChangeSet, because: &'static str) -> Verdict {
    if changes.told {
        return Verdict::silent(because);
    }
    let checks = facts.verification.checks.as_ref();
    let commands = example_commands(
        checks,
        config,
        &changes.files,
        missing_kinds(checks, config, &changes.files, changes.valid(changes.passed())),
    );
    let text = words::unverified(facts.lang, changes, commands.first().map(String::as_str));
    let when_said = vec![Effect::mark(Mark::Told)];
    let say = Say { to: Audience::User, text, weight: 60, explains: false, when_said };
    Verdict { says: vec![say], ..Verdict::silent(because) }
}

fn block_stop(facts: &Facts<'_>, config: &Config, changes: &ChangeSet) -> Verdict {
    let mut reason = block_reason(facts, config, changes);
    if !facts.person.may_be_there() {
        reason.push_str(
            " After the check, give the whole final answer again: the last message of this run is its result.",
        );
    }
    let mut verdict = Verdict {
        call: Call::Deny,
        reason: Some(reason),
        because: because_of(changes),
        effects: vec![Effect::mark(Mark::Held)],
        asks: Asks::verified(),
        ..Verdict::pass()
    };
    // Without it the person reads only "Stop hook error" there. Once per prompt is enough.
    if changes.held == 0 {
        let checks = facts.verification.checks.as_ref();
        let is_known = !example_commands(
            checks,
            config,
            &changes.files,
            missing_kinds(checks, config, &changes.files, changes.valid(changes.passed())),
        )
        .is_empty();
        verdict.says.push(Say {
            to: Audience::User,
            text: words::stop_held(facts.lang, changes, is_known),
            weight: 50,
            explains: true,
            when_said: Vec::new(),
        });
    }
    verdict
}

pub(super) fn block_reason(facts: &Facts<'_>, config: &Config, changes: &ChangeSet) -> String {
    let checks = facts.verification.checks.as_ref();
    let commands = example_commands(
        checks,
        config,
        &changes.files,
        missing_kinds(checks, config, &changes.files, changes.valid(changes.passed())),
    );
    let edited = changes.list_files();
    if let Some(check) = changes.failure().and_then(|failed| failed.shown()) {
        let when = if changes.is_reopened() {
            "it passed before and fails now".to_owned()
        } else {
            format!("it failed after {edited} changed")
        };
        return format!(
            "Run `{check}` again until it passes: {when}. If the change is not the cause, say so and end the turn; Tidegate \
             reports the failure."
        );
    }
    let why = words::why_not(changes);
    let changed = |told: &str| match &why {
        Some(why) => format!("{told} changed, and {why}"),
        None => format!("{told} changed and no check has passed since."),
    };
    let syntax = changes.syntax_check();
    let mut reason = match (commands.as_slice(), config.policies.verify_stop.wants) {
        ([], _) if syntax.is_some() => {
            format!("Run `{}` on {edited}, or its tests: {}", syntax.unwrap_or_default(), changed("it"))
        }
        ([], _) => format!(
            "Invoke the skill {SKILL}: {} Tidegate knows no check of this project that reads it.",
            changed(&edited)
        ),
        // The model has tried one of them already.
        ([command, ..], Wants::One) if changes.hidden.is_some() || commands.len() == 1 => {
            format!("Run {command} on its own: {}", changed(&edited))
        }
        ([command], _) => format!("Run {command} on its own: {}", changed(&edited)),
        (commands, Wants::One) => {
            format!("Run one of these on its own: {}. {}", commands.join(", "), changed(&edited))
        }
        (commands, Wants::Each) => {
            let told = why.as_ref().map_or("they have not all passed since.", |why| why.as_str());
            format!("Run each of these on its own: {}. {edited} changed, and {told}", commands.join(", "))
        }
    };
    if !commands.is_empty() || syntax.is_some() {
        let _ = write!(reason, " If no command fits, invoke the skill {SKILL}.");
    }
    reason
}

/// One for each missing kind. If each kind is required, lines made unnecessary by others are left out.
pub fn example_commands(
    checks: Option<&ProjectChecks>,
    config: &Config,
    files: &[String],
    missing: Kinds,
) -> Vec<String> {
    let settings = &config.policies.verify_stop;
    let configured = settings.commands.all().map(|(kind, line)| (kind, line.to_owned()));
    let found = checks.map(|checks| checks.examples_for(files)).unwrap_or_default();
    let mut kinds = Kinds::default();
    let mut lines: Vec<(String, Kinds)> = Vec::new();
    for (kind, line) in configured.chain(found) {
        let new = missing.has(kind) && !kinds.has(kind);
        if new && !lines.iter().any(|(known, _)| *known == line) {
            let proves = checks.map(|project| project.proves(&line)).unwrap_or_default().and(kind.into());
            lines.push((line, proves));
        }
        kinds = kinds.and(kind.into());
    }
    if settings.wants == Wants::Each {
        // The weakest evidence first: compiled tests make a build unnecessary, not the other way round.
        for at in (0..lines.len()).rev() {
            let others = lines.iter().enumerate().filter(|(number, _)| *number != at);
            let others = others.fold(Kinds::default(), |all, (_, (_, proves))| all.and(*proves));
            if lines[at].1.common(missing).without(others).is_empty() {
                lines.remove(at);
            }
        }
    }
    lines.into_iter().map(|(line, _)| format!("`{line}`")).collect()
}

/// The summary may have lost that code is unverified.
/// This call was a check that passed.
fn is_checked_now(facts: &Facts<'_>, config: &Config) -> bool {
    let marks = bookkeeping::marks(facts, config);
    marks.iter().any(|mark| matches!(mark, Mark::Checked(_)))
}

fn remind_after_compaction(changes: &ChangeSet) -> Verdict {
    let text = match changes.failure() {
        Some(_) => format!("Before this compaction, {}.", words::failed_since(Lang::En, changes)),
        None => {
            format!("{} changed before this compaction, and no check has passed since.", changes.list_files())
        }
    };
    Verdict {
        because: "unverified edits outlive the compaction",
        says: vec![Say { to: Audience::Model, text, weight: 70, explains: false, when_said: Vec::new() }],
        ..Verdict::pass()
    }
}
