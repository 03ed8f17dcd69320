//! Worktree: copies flow and stock that exist only in a worktree before it goes away, and tells the person where they
//! are.
//!
//! The client reports removed worktrees, but not those that it made with git (2.1.325). So the copy is made at the
//! last event that sees the worktree, and reported once the worktree is really gone. The rules are in `worktree.md`
//! next to this file.

pub mod effect;
pub mod kept;
pub mod marks;
mod words;

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::Marks;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::feature::worktree::kept::{KeptWorktree, Worktrees};
use crate::feature::worktree::marks::Mark;
use crate::feature::{Feature, Mode, Policy};
use crate::settings::section::section;
use crate::settings::setting::choices;

section! {
    /// Section `[worktree]`.
    Settings "worktree" {
        /// When a worktree is removed: copy its progress notes and learnings and tell the person (`on`), copy them silently (`shadow`), or do nothing (`off`).
        mode: WorktreeMode = WorktreeMode::On, Tightens;
    }
    presets {
        mode: WorktreeMode::Shadow, WorktreeMode::On;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeMode {
    Off,
    Shadow,
    On,
}

choices!(WorktreeMode {
    "off" => WorktreeMode::Off,
    "shadow" => WorktreeMode::Shadow,
    "on" => WorktreeMode::On,
});

pub const ID: &str = "worktree";

pub struct Room;

impl Feature for Room {
    type Needs = bool;
    type Facts = Worktrees;
    type Effect = effect::Effect;
}

pub struct Worktree;

impl Policy for Worktree {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.worktree.mode {
            WorktreeMode::On => Mode::Live,
            WorktreeMode::Shadow => Mode::Shadow,
            WorktreeMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        let waits = marks.is_some_and(|marks| !marks.worktree.kept.is_empty());
        let tells = matches!(
            event.kind,
            EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::PostToolUse | EventKind::Stop
        );
        let listens = event.may_end_worktree() || (tells && waits && event.is_main_thread());
        listens.then_some(Needs { worktree: true, ..Needs::default() })
    }

    fn decide(&self, facts: &Facts<'_>, _: &Config) -> Verdict {
        if let Known::Broken(_) = &facts.marks {
            return Verdict::silent("the session's state cannot be read");
        }
        if let Some(kept) = &facts.worktree.leaving {
            return Verdict {
                effects: vec![
                    Effect::Worktree(effect::Effect::Keep(kept.clone())),
                    Effect::mark(Mark::WorktreeKept(kept.clone())),
                ],
                ..Verdict::silent("the worktree has notes that exist nowhere else")
            };
        }
        if facts.event.may_end_worktree() {
            return Verdict::silent("there is nothing to keep");
        }
        if facts.worktree.gone.is_empty() {
            return Verdict::silent("the worktrees are still there");
        }
        let say = |kept: &KeptWorktree| Say {
            to: Audience::User,
            text: words::kept(facts.lang, &kept.worktree, &kept.copy),
            weight: 50,
            explains: false,
            when_said: vec![Effect::mark(Mark::WorktreeTold(kept.worktree.clone()))],
        };
        Verdict {
            says: facts.worktree.gone.iter().map(say).collect(),
            ..Verdict::silent("a worktree with progress notes or learnings is gone")
        }
    }
}
