//! Feeds the moments of a session to the core, as the hook does: facts, marks, policies. Marks are in memory, and a hold has no
//! consequence: each end of a turn is judged by itself.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use tidegate_core::event::action::Exit;
use tidegate_core::event::{Event, SessionId};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known, Needs};
use tidegate_core::feature::marks::{Mark, Marks};
use tidegate_core::feature::verdict::{Call, Carried, Verdict};
use tidegate_core::feature::verification::checks::{LONGEST_OUTPUT, kinds_of, read_ending};
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::verify_stop::{self, StopStanding};
use tidegate_core::host::Host;
use tidegate_core::pipeline;
use tidegate_core::time::Millis;
use tidegate_state::feature::{self, HookContext};
use tidegate_state::place::PlaceEnv;
use tidegate_state::project;

use crate::outcome::{HoldCause, JudgedRun, StopOutcome, find_cause};
use crate::payload::write_payload;
use crate::scratch::Scratch;
use crate::seen_files::ProjectFiles;
use crate::transcript::{Happening, Moment, ReplaySession};
use crate::turn::TurnEnd;

/// The end of a turn, judged.
pub struct JudgedEnd {
    pub end: TurnEnd,
    pub outcome: StopOutcome,
    /// The run that decided.
    pub run: Option<JudgedRun>,
}

/// A check whose status shows, and whose closing lines say that it passed.
pub struct ClosedRun {
    pub line: usize,
    pub command: String,
    pub succeeded: bool,
}

#[derive(Default)]
pub struct PlayedSession {
    pub ends: Vec<JudgedEnd>,
    pub closed: Vec<ClosedRun>,
}

/// Times of a replay are in the future: a file that no call of the session changed is older than all of them.
const AHEAD: Duration = Duration::from_hours(24);

pub fn play_session(session: &ReplaySession, root: &str, files: &ProjectFiles) -> Result<PlayedSession> {
    let scratch = Scratch::new(root)?;
    let config = Config::default();
    let began = session.moments.first().map(|moment| moment.at).unwrap_or_default();
    let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + AHEAD;
    let mut player = Player {
        files,
        config: &config,
        place: PlaceEnv { home: Some(scratch.home.clone()), ..PlaceEnv::default() },
        session: SessionId::parse("replayed").map_err(|step| Error::new(step.to_string()))?,
        start: Millis(start.as_millis() as u64),
        began,
        scratch,
        marks: None,
        since_edit: Vec::new(),
        passed_before: false,
        verified_by: None,
        closed: Vec::new(),
        turn: 1,
    };
    let mut ends = Vec::new();
    for moment in &session.moments {
        ends.extend(player.play(moment)?);
    }
    Ok(PlayedSession { ends, closed: player.closed })
}

struct Player<'a> {
    files: &'a ProjectFiles,
    config: &'a Config,
    place: PlaceEnv,
    session: SessionId,
    scratch: Scratch,
    /// Of the replay and of the session.
    start: Millis,
    began: Millis,
    marks: Option<Marks>,
    /// Runs after the last edit.
    since_edit: Vec<JudgedRun>,
    /// A check passed before the last edit, in the same turn or change set.
    passed_before: bool,
    /// The run that verified the last change set.
    verified_by: Option<JudgedRun>,
    closed: Vec<ClosedRun>,
    turn: usize,
}

impl Player<'_> {
    fn play(&mut self, moment: &Moment) -> Result<Option<JudgedEnd>> {
        if let Happening::TurnEnd(end) = &moment.what {
            self.turn = end.turn + 1;
            let is_open = |marks: &Marks| marks.verification.changes.is_some();
            self.passed_before &= self.marks.as_ref().is_some_and(is_open);
            if !end.ending.asks_hooks() {
                return Ok(None);
            }
        }
        let now = Millis(self.start.0 + moment.at.since(self.began));
        let payload = write_payload(moment, self.turn, &self.scratch).to_string();
        let event = Host::ClaudeCode
            .read(payload.as_bytes(), None)
            .map_err(|unread| Error::new(format!("line {}: {}", moment.line, unread.step)))?;
        if matches!(moment.what, Happening::Result(_) | Happening::TurnEnd(_)) {
            self.scratch.write_project(self.files.at(moment.at))?;
        }
        self.change_files(&event, now)?;
        let facts = self.facts(&event, now);
        let marks = pipeline::observe(&facts, self.config);
        let run = judged_run(&event, &facts, moment);
        self.closed.extend(closed_run(&event, &facts, moment));
        let judged = match &moment.what {
            Happening::TurnEnd(end) => Some(self.judge(end, &facts)),
            _ => None,
        };
        drop(facts);
        self.keep(marks, run);
        Ok(judged)
    }

    /// Does to the scratch folder what the call did to the project.
    fn change_files(&self, event: &Event<'_>, now: Millis) -> Result {
        for path in event.written_paths(|_| false) {
            self.scratch.note_edit(path)?;
        }
        if let (Some(command), Some(line)) = (event.finished_command(), event.command_line()) {
            let end = event.cwd.as_deref().unwrap_or_default();
            let before = self.marks.as_ref().and_then(|marks| marks.session.cwd.as_deref());
            let start = before.filter(|_| event.is_main_thread()).unwrap_or(end);
            self.scratch.note_run(line, start, end, command.exit == Exit::Known(0), now)?;
        }
        Ok(())
    }

    fn facts<'e>(&self, event: &'e Event<'e>, now: Millis) -> Facts<'e> {
        let root = project::root(Some(&self.scratch.root), event.cwd.as_deref().map(Path::new));
        let here = HookContext {
            now,
            config: self.config,
            place: &self.place,
            state: None,
            session: &self.session,
            folder: Path::new("/nonexistent"),
            root: root.as_deref(),
            started_in: Some(&self.scratch.root),
            plugin: None,
            ignored: &[],
            in_time: &|| true,
            is_running: |_| None,
        };
        // Facts of other rooms would come from this machine.
        let needs = pipeline::needs(event, self.marks.as_ref(), self.config);
        let needs = Needs { verification: needs.verification, ..Needs::default() };
        let marks = self.marks.clone().map_or(Known::Absent, Known::Value);
        let root = root.as_deref().map(|root| root.to_string_lossy().into_owned().into());
        let mut facts = Facts { marks, root, ..Facts::of(event, now) };
        feature::read_facts(&mut facts, needs, &here);
        facts
    }

    fn judge(&mut self, end: &TurnEnd, facts: &Facts<'_>) -> JudgedEnd {
        let ruling = pipeline::decide(facts, self.config, &|| 0);
        let parts = ruling.parts.into_iter();
        let verdict = parts.filter(|part| part.policy == verify_stop::ID).map(|part| part.verdict).next();
        let verdict = verdict.unwrap_or_else(Verdict::pass);
        let (standing, _) = verify_stop::judge_stop(facts, self.config);
        let (outcome, run) = match standing {
            StopStanding::Unverified => {
                let (cause, run) = find_cause(&self.since_edit, self.passed_before);
                let work = self.marks.as_ref().map(|marks| &marks.verification);
                let has_failed =
                    work.and_then(|work| work.changes.as_ref()).is_some_and(|set| !set.failed.is_empty());
                (StopOutcome::Held(if has_failed { HoldCause::Failed } else { cause }), run.cloned())
            }
            StopStanding::Verified => (StopOutcome::Verified, self.verified_by.clone()),
            StopStanding::Waiting => (StopOutcome::Waiting, None),
            StopStanding::Asks => (StopOutcome::Asking, None),
            StopStanding::NothingToCheck => (StopOutcome::NothingToCheck, None),
        };
        if verdict.call == Call::Pass {
            let marks = self.marks.get_or_insert_default();
            verdict.effects.iter().filter_map(Carried::leaves).for_each(|mark| marks.apply(mark));
        }
        JudgedEnd { end: end.clone(), outcome, run }
    }

    fn keep(&mut self, new: Vec<Mark>, run: Option<JudgedRun>) {
        let is_edit = |mark: &Mark| matches!(mark, Mark::Verification(VerificationMark::Edit(_)));
        if new.iter().any(is_edit) {
            self.passed_before |= self.since_edit.iter().any(|run| run.succeeded && !run.proves.is_empty());
            self.since_edit.clear();
        }
        let marks = self.marks.get_or_insert_default();
        let was_open = marks.verification.changes.is_some() || new.iter().any(is_edit);
        for mark in new {
            marks.apply(mark);
        }
        let is_open = marks.verification.changes.is_some();
        self.since_edit.extend(run);
        if was_open && !is_open {
            self.verified_by = self.since_edit.pop();
            self.since_edit.clear();
            self.passed_before = true;
        }
    }
}

/// Lines that `tail` would have left: the fewest that people ask for.
const LAST_LINES: usize = 5;

fn closed_run(event: &Event<'_>, facts: &Facts<'_>, moment: &Moment) -> Option<ClosedRun> {
    let command = event.finished_command()?;
    let Exit::Known(status) = command.exit else { return None };
    let checks = &facts.verification.proof.checks;
    let is_shown = checks.hidden.is_empty() && checks.visible.iter().any(|found| !found.by_output);
    if !is_shown || command.background.is_some() {
        return None;
    }
    let output = command.last_output(LONGEST_OUTPUT);
    let mut last: Vec<&str> = output.trim_end().lines().rev().take(LAST_LINES).collect();
    last.reverse();
    let ending = read_ending(&last.join("\n"));
    let says_passed = !ending.passed.is_empty() && ending.failed.is_empty();
    let line = event.command_line()?.to_owned();
    says_passed.then_some(ClosedRun { line: moment.line, command: line, succeeded: status == 0 })
}

fn judged_run(event: &Event<'_>, facts: &Facts<'_>, moment: &Moment) -> Option<JudgedRun> {
    let command = event.finished_command()?;
    let Happening::Result(end) = &moment.what else { return None };
    let work = &facts.verification;
    Some(JudgedRun {
        line: moment.line,
        command: end.call.input["command"].as_str().unwrap_or_default().to_owned(),
        succeeded: command.exit == Exit::Known(0),
        proves: kinds_of(&work.proof.checks.visible),
        hides: !work.proof.checks.hidden.is_empty(),
        checks: work.checks.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::MadeUp;
    use crate::outcome::HoldCause;
    use serde_json::json;

    /// The outcomes at the ends of all turns, in a project of Rust.
    fn play(made: MadeUp) -> Vec<StopOutcome> {
        let session = made.says("Done.").read();
        let mut files = ProjectFiles::default();
        files.add("/w/shop", &session.seen);
        files.sort();
        let played = play_session(&session, "/w/shop", &files).unwrap();
        played.ends.into_iter().map(|judged| judged.outcome).collect()
    }

    fn held(cause: HoldCause) -> StopOutcome {
        StopOutcome::Held(cause)
    }

    fn edited() -> MadeUp {
        MadeUp::new().prompt("fix it").edits("src/a.rs")
    }

    #[test]
    fn an_edit_wants_a_check_that_passed_after_it() {
        assert_eq!(play(MadeUp::new().prompt("why?").runs("ls", "")), [StopOutcome::NothingToCheck]);
        assert_eq!(play(MadeUp::new().prompt("a").edits("README.md")), [StopOutcome::NothingToCheck]);
        assert_eq!(play(edited()), [held(HoldCause::NothingRun)]);
        assert_eq!(play(edited().runs("cargo test", "ok")), [StopOutcome::Verified]);
        assert_eq!(play(edited().fails("cargo test", "Exit code 101")), [held(HoldCause::Failed)]);
        let piped = |output| edited().runs("cargo test 2>&1 | tail -5", output);
        assert_eq!(play(piped("ok")), [held(HoldCause::Hidden("| tail".into()))]);
        assert_eq!(play(piped("test result: ok. 3 passed; 0 failed")), [StopOutcome::Verified]);
        assert_eq!(play(piped("test result: FAILED. 3 passed; 1 failed")), [held(HoldCause::Failed)]);
        assert_eq!(play(edited().runs("frob run test", "ok")), [held(HoldCause::Unknown)]);
        let before =
            MadeUp::new().prompt("a").edits("src/b.rs").runs("cargo clippy; cargo fmt", "").edits("src/a.rs");
        assert_eq!(play(before), [held(HoldCause::NothingRun)]);
    }

    #[test]
    fn a_check_before_the_last_edit_is_named() {
        let made = edited().runs("cargo test", "ok").edits("src/b.rs");
        assert_eq!(play(made), [held(HoldCause::OnlyBefore)]);
        let made = edited().runs("cargo test", "ok").says("Done.").prompt("more").edits("src/b.rs");
        assert_eq!(play(made), [StopOutcome::Verified, held(HoldCause::NothingRun)]);
    }

    #[test]
    fn a_question_to_the_person_is_not_the_end() {
        let made = edited().says("Which of the two formats should I keep?").prompt("the old one");
        assert_eq!(play(made), [StopOutcome::Asking, held(HoldCause::NothingRun)]);
    }

    #[test]
    fn an_edit_that_git_took_back_is_none() {
        let made = edited().runs("git checkout src/a.rs", "Updated 1 path from the index");
        assert_eq!(play(made), [StopOutcome::NothingToCheck]);
    }

    #[test]
    fn a_check_of_a_later_turn_counts() {
        let made = edited().says("Done?").prompt("test it").runs("cargo test", "ok");
        assert_eq!(play(made), [held(HoldCause::NothingRun), StopOutcome::Verified]);
    }

    #[test]
    fn subagents_and_compactions_change_nothing() {
        let made = edited().in_agent("a1").runs("cargo test", "ok").in_main();
        assert_eq!(play(made), [StopOutcome::Verified]);
        let made = MadeUp::new().prompt("a").in_agent("a1").edits("src/a.rs").in_main();
        let made = made.entry(json!({"type": "system", "subtype": "compact_boundary"}));
        assert_eq!(play(made), [held(HoldCause::NothingRun)]);
    }

    #[test]
    fn command_lines_edit() {
        let written = MadeUp::new().prompt("a").runs("sed -i s/a/b/ src/a.rs", "");
        assert_eq!(play(written), [held(HoldCause::NothingRun)]);
        let checked = MadeUp::new().prompt("a").runs("sed -i s/a/b/ src/a.rs && cargo test", "ok");
        assert_eq!(play(checked), [StopOutcome::Verified]);
        let formatted = edited().runs("cargo test", "ok").runs("rustfmt src/a.rs", "");
        assert_eq!(play(formatted), [StopOutcome::Verified]);
        let gone = MadeUp::new().prompt("a").runs("echo x > src/new.rs", "").runs("rm src/new.rs", "");
        assert_eq!(play(gone), [StopOutcome::NothingToCheck]);
    }

    #[test]
    fn a_check_in_the_background_is_waited_for() {
        let started = json!({"stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": "b1"});
        let notice = "<task-notification><task-id>b1</task-id><status>completed</status>\
            <summary>Background command \"cargo test\" completed (exit code 0)</summary></task-notification>";
        let made = edited()
            .calls("Bash", &json!({"command": "cargo test", "run_in_background": true}))
            .result(2, false, "", &started)
            .says("started")
            .prompt(notice);
        assert_eq!(play(made), [StopOutcome::Waiting, StopOutcome::Verified]);
    }

    #[test]
    fn the_skill_counts() {
        let skill = json!({"skill": "verification-before-completion"});
        let made = edited().calls("Skill", &skill).result(2, false, "Launching", &json!({"success": true}));
        assert_eq!(play(made), [StopOutcome::Verified]);
        let typed = "<command-name>/verification-before-completion</command-name>";
        let made = edited().says("Done?").prompt(typed);
        let made = made.entry(json!({"type": "user", "isMeta": true, "message": {"content": "Verify now"}}));
        assert_eq!(play(made), [held(HoldCause::NothingRun), StopOutcome::Verified]);
    }
}
