//! Text for people, in their language. A language is a value of [`Words`]; one with a missing text does not
//! compile. Text for the model is English and stands with the policy that says it.

mod en;
mod ja;

use crate::text::lang::Lang;

use crate::event::FailedStep;
use crate::feature::config::BrokenFile;
use crate::feature::cycle::history::Took;
use crate::feature::cycle::{ActiveStage, Damage};
use crate::feature::facts::OwnFile;
use crate::feature::verification::work::ChangeSet;

/// The texts in this language.
pub fn words(lang: Lang) -> &'static Words {
    match lang {
        Lang::En => &en::WORDS,
        Lang::Ja => &ja::WORDS,
    }
}

/// How full the context is, in the numbers that people know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextUse {
    /// Per cent of the window.
    pub percent: Option<u64>,
    /// Tokens to the reference point.
    pub left: Option<u64>,
}

/// Every text for people.
pub struct Words {
    /// A gate could not check (the failed step, the policy that can be switched off).
    pub gate_closed: fn(&FailedStep, &str) -> String,
    /// An agent wants to edit one of our files (which, the path): the question to the person.
    pub own_file: fn(OwnFile, &str) -> String,
    /// The same where the host would ask nobody (which, the path, the mode, the policy that can be switched off).
    pub own_file_denied: fn(OwnFile, &str, &str, &str) -> String,
    /// A command line of the agent has changed one of our files.
    pub own_file_changed: fn(OwnFile) -> String,
    /// An edit was held back (the file, the skills, the policy that can be switched off).
    pub skill_required: fn(&str, &str, &str) -> String,
    /// A stop was held (what is unverified, the policy that can be switched off).
    pub stop_held: fn(&ChangeSet, &str) -> String,
    /// A turn ended although code is unverified.
    pub unverified: fn(&ChangeSet) -> String,
    /// Status line: so many files are unverified.
    pub unverified_files: fn(usize) -> String,
    /// An agent asks a person to approve a command (the code, the command and what it means).
    pub approval_asked: fn(&str, &str) -> String,
    /// A prompt names a code and approves nothing.
    pub approval_unclear: fn(&str) -> String,
    /// A person is told that a yes to this was not theirs.
    pub approval_refused: fn(&str) -> String,
    /// Status line: an approval waits (the code, the command and what it means).
    pub approval_waits: fn(&str, &str) -> String,
    /// A person approved this command, and what it means.
    pub approved: fn(&str) -> String,
    /// A person approved a code that no request waits with.
    pub nothing_to_approve: fn(&str) -> String,
    /// The model used a code (the code, the command it stood for).
    pub approval_void: fn(&str, &str) -> String,
    /// A config file cannot be read.
    pub config_broken: fn(&BrokenFile) -> String,
    /// A policy stepped down in this project.
    pub stepped_down: fn(&str) -> String,
    /// Entries of the flow are not promoted: how many; and how many of how much stock is unverified, where that is much.
    pub unpromoted: fn(usize, Option<(usize, usize)>) -> String,
    /// A manual compaction was held: how many entries are not promoted.
    pub compaction_held: fn(usize) -> String,
    /// A handoff is there: how many minutes old.
    pub handoff_waits: fn(u64) -> String,
    /// A worktree is gone, and a copy of its flow and stock is there: both paths.
    pub worktree_kept: fn(&str, &str) -> String,
    /// The next stage of a cycle begins: the one that is done, and the next.
    pub stage_begins: fn(&ActiveStage, &str) -> String,
    /// A cycle stopped for want of room: its stage, what was not begun, tokens left and tokens needed.
    pub cycle_stopped: fn(&ActiveStage, &[String], u64, u64) -> String,
    /// A stage is done and the cycle waits, since a prompt came before the turn of the last one had ended.
    pub stage_waits: fn(&ActiveStage) -> String,
    /// The file of a cycle is there and cannot be read: why.
    pub cycle_unreadable: fn(&str) -> String,
    /// A cycle is complete: its name, its stages with their tokens, what they say about themselves.
    pub cycle_complete: fn(&str, &[Took], &str) -> String,
    /// A cycle of this project has stopped: what is done, what was skipped.
    pub cycle_waits: fn(&str, &[String], &[String]) -> String,
    /// A cycle of this project was left in the middle of a stage: its name, the stage, its number, how many there are.
    pub cycle_left: fn(&str, &str, usize, usize) -> String,
    /// The file of a cycle cannot be used: why.
    pub cycle_damaged: fn(&Damage) -> String,
    /// No agents are spawned (from which level, per cent in use and tokens left, the policy that can be switched off).
    pub spawn_blocked: fn(u8, ContextUse, &str) -> String,
    /// A handoff is written because the context is nearly full: from which level.
    pub handoff_written: fn(u8) -> String,
    /// A compaction is due (per cent in use and tokens left).
    pub compact_now: fn(ContextUse) -> String,
    /// A gate holds agents back (its number, the phase before it, how much is missing, the policy that can be switched off).
    pub gate_pending: fn(usize, usize, usize, &str) -> String,
    /// A stop was held because the answer has no meta tag (the policy that can be switched off).
    pub tag_missing: fn(&str) -> String,
    /// A stop was held because nothing is recorded for a topic that was left (its name and id, the policy that can be switched
    /// off).
    pub topic_undecided: fn(&str, &str) -> String,
    /// Status line: a workflow's phase, its number, how many there are.
    pub workflow_phase: fn(&str, usize, usize) -> String,
    /// Status line: the next end of a phase is the moment for a compaction.
    pub plan_compaction: &'static str,
    /// Status line: the stage, its number, how many there are.
    pub stage: fn(&str, usize, usize) -> String,
    /// Status line: so many entries are not promoted.
    pub unpromoted_entries: fn(usize) -> String,
    /// Status line: per cent in use.
    pub used: fn(u64) -> String,
    /// Status line: tokens left before compaction or, with `false`, before the window is full.
    pub left: fn(&str, bool) -> String,
    /// Status line: turns left.
    pub turns: fn(u32) -> String,
    /// Status line: no reading yet.
    pub no_reading: &'static str,
    /// Status line: the host draws us but no hook has been seen in this session.
    pub hooks_silent: &'static str,
    /// Status line: hooks were seen in this session, but not lately.
    pub hooks_stopped: &'static str,
    /// Status line: a config file cannot be read: its name and line.
    pub config_sign: fn(&str) -> String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::config::Owner;

    /// Without a line there is none to fix, and only a user's own copy counts as a whole.
    #[test]
    fn a_broken_config_is_told_as_it_is() {
        let said = |lang: Lang, line, has_copy, owner| {
            (crate::words::words(lang).config_broken)(&BrokenFile {
                file: "/c.toml".to_owned(),
                line,
                has_copy,
                owner,
            })
        };
        for (lang, the_line, only) in [(Lang::En, "that line", "only"), (Lang::Ja, "その行", "だけ")] {
            for (has_copy, owner) in
                [(true, Owner::User), (true, Owner::Project), (false, Owner::User), (false, Owner::Project)]
            {
                assert!(said(lang, Some(3), has_copy, owner).contains(the_line));
                assert!(!said(lang, None, has_copy, owner).contains(the_line));
            }
            assert!(!said(lang, None, true, Owner::User).contains(only));
            assert!(said(lang, None, true, Owner::Project).contains(only));
        }
    }
}
