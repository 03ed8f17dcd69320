//! English.

use crate::event::FailedStep;
use crate::feature::config::Owner;
use crate::feature::cycle::history::Took;
use crate::feature::cycle::state::FILE;
use crate::feature::cycle::{ActiveStage, Damage};
use crate::feature::facts::OwnFile;
use crate::feature::knowledge::handoff;
use crate::meter::short_tokens;
use crate::words::{ContextUse, Words};

pub(super) const WORDS: Words = Words {
    gate_closed: |step, policy| {
        // Where the state cannot be used, no command can either.
        let command = match step {
            FailedStep::State(_) => {
                "`tidegate doctor` says how to mend it. To work without this gate,".to_owned()
            }
            _ => format!(
                "`tidegate journal` shows what happened. To work without this gate, run `tidegate off {policy} --for 1h` in \
                 this project from another terminal, or"
            ),
        };
        format!(
            "Tidegate could not check this call, so it was not let through: {step}. {command} start the client with \
             TIDEGATE_OFF={policy}."
        )
    },
    own_file: |file, path| {
        let risk = match file {
            OwnFile::Memory => "Later sessions are given its contents.",
            _ => "It can switch gates off.",
        };
        format!("The agent wants to edit {path}: {}. {risk}", own_file(file))
    },
    own_file_denied: |file, path, mode, policy| {
        format!(
            "The agent wanted to edit {path}: {}. In the client's mode `{mode}` nobody would have been asked, so it was not \
             let through. Edit it yourself, switch the mode, or run `tidegate off {policy} --for 10m`.",
            own_file(file)
        )
    },
    own_file_changed: |file| {
        format!(
            "A command of the agent has just changed {}, without anybody being asked. It can switch gates off; \
             `tidegate doctor` and `tidegate config show --origin` tell what stands there now.",
            own_file(file)
        )
    },
    skill_required: |file, skills, policy| {
        format!(
            "Tidegate held back an edit of {file} until the agent has invoked the skill {skills}. To work without this gate: \
             `tidegate off {policy} --for 1h` in another terminal."
        )
    },
    stop_held: |changes, policy| {
        format!(
            "Tidegate had the agent go on: code was edited and not verified since ({}). To work without this gate: \
             `tidegate off {policy} --for 1h` in another terminal.",
            changes.listed()
        )
    },
    unverified: |changes| format!("Code was edited and is not verified: {}.", changes.listed()),
    unverified_files: |count| {
        if count == 1 { "1 file unverified".to_owned() } else { format!("{count} files unverified") }
    },
    approval_asked: |code, what| {
        format!(
            "Claude asks you to approve {what}. To allow it once, type `approve {code}` within ten minutes. To refuse, you \
             don't need to do anything."
        )
    },
    approval_unclear: |code| {
        format!("Nothing was approved. To approve it, type `approve {code}` and nothing else.")
    },
    approval_refused: |what| {
        format!(
            "Tidegate did not run {what}: you did not give that yes yourself. A hook answered the question, or a scheduled \
             prompt sent the code. Nothing was changed."
        )
    },
    approval_waits: |code, what| format!("approve {code}? {what}"),
    approved: |what| format!("Approved, once and for ten minutes: {what}"),
    nothing_to_approve: |code| {
        format!(
            "No request waits with the code {code}: it was approved already, is void, is older than ten minutes, or is of another session."
        )
    },
    approval_void: |code, command| {
        format!(
            "The agent put the approval code {code} into a tool call, so the code is void and `{command}` was not approved."
        )
    },
    config_broken: |broken| {
        let place = broken.place();
        let fix = if broken.line.is_some() { "fix that line" } else { "fix the file" };
        match (broken.has_copy, broken.owner) {
            (true, Owner::User) => format!(
                "Tidegate cannot read {place}. Until you {fix}, the last readable copy of the file counts, and readable lines \
                 that are stricter."
            ),
            (true, Owner::Project) => format!(
                "Tidegate cannot read {place}. Until you {fix}, only stricter values count of its readable lines and its last \
                 readable copy."
            ),
            (false, Owner::User) => format!(
                "Tidegate cannot read {place} and has no earlier copy. Until you {fix}, built-in values count, and readable \
                 lines that are stricter."
            ),
            (false, Owner::Project) => format!(
                "Tidegate cannot read {place} and has no earlier copy. Until you {fix}, only readable lines that are stricter \
                 count."
            ),
        }
    },
    stepped_down: |policy| {
        format!(
            "{policy} was overridden in five of its last ten interruptions in this project, so it only advises here from now on. \
             `tidegate on {policy}` lets it block again; `tidegate report` shows the interruptions."
        )
    },
    unpromoted: |entries, doubtful| {
        let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
        let doubtful = doubtful.map_or_else(String::new, |(unverified, all)| {
            format!(" Of the {all} learnings there are, {unverified} were never confirmed.")
        });
        format!(
            "A good moment for /compound: {entries} of progress.md not promoted to learnings yet.{doubtful}"
        )
    },
    compaction_held: |entries| {
        let (entries, them) = match entries {
            1 => ("1 entry of progress.md is".to_owned(), "it"),
            _ => (format!("{entries} entries of progress.md are"), "them"),
        };
        format!(
            "Not compacted yet: {entries} not promoted to learnings. Run /compound to go through {them}, or /compact once more to \
             compact as it is."
        )
    },
    handoff_waits: |minutes| {
        let age = match minutes {
            0 => "just now".to_owned(),
            1..60 => format!("{minutes} min ago"),
            _ => format!("{} h ago", minutes / 60),
        };
        format!(
            "A handoff was written {age}: .claude/context/{} says where the work stands and what comes next.",
            handoff::FILE
        )
    },
    worktree_kept: |worktree, copy| {
        format!(
            "The worktree {worktree} is gone. What only its progress and learnings said is kept in {copy}."
        )
    },
    stage_begins: |done, next| {
        let ActiveStage { cycle, stage, number, of, .. } = done;
        format!("{cycle}: stage {number} of {of} ({stage}) is done, {next} begins.")
    },
    cycle_stopped: |stage, skipped, left, needed| {
        format!(
            "{} stopped after {}: {} tokens are left, and what comes next needs about {}. Not begun: {}. To go on in a new session: \
             `tidegate cycle resume` there, or /dev-cycle.",
            stage.cycle,
            stage.stage,
            short_tokens(left),
            short_tokens(needed),
            skipped.join(", ")
        )
    },
    stage_waits: |stage| {
        format!(
            "{} waits at {}: a prompt came before the turn before it had ended. It goes on when the next turn ends.",
            stage.cycle, stage.stage
        )
    },
    cycle_unreadable: |why| {
        format!("The cycle's file .claude/{FILE} cannot be read ({why}). No stage is begun until it can.")
    },
    cycle_complete: |cycle, stages, metrics| {
        let took = |took: &Took| match took.tokens {
            Some(tokens) => format!("{} {}", took.name, short_tokens(tokens)),
            None => format!("{} (not known)", took.name),
        };
        let stages: Vec<String> = stages.iter().map(took).collect();
        let metrics = if metrics.is_empty() { String::new() } else { format!(" {metrics}.") };
        format!("{cycle} is complete. Tokens by stage: {}.{metrics}", stages.join(", "))
    },
    cycle_waits: |cycle, done, skipped| {
        let done = if done.is_empty() { "nothing".to_owned() } else { done.join(", ") };
        format!(
            "A {cycle} of this project has stopped. Done: {done}. Not begun: {}. To go on here: `tidegate cycle resume`, or /dev-cycle; \
             to leave it: `tidegate cycle abandon`.",
            skipped.join(", ")
        )
    },
    cycle_left: |cycle, stage, number, of| {
        format!(
            "A {cycle} of this project was in stage {stage} ({number} of {of}) in a session that has ended or was silent for an hour. To \
             go on with that stage here: `tidegate cycle resume`, or /dev-cycle; to leave it: `tidegate cycle abandon`."
        )
    },
    cycle_damaged: |damage| {
        let kept = match damage {
            Damage::UnknownCycle(_) => "; trust or the config may say why",
            _ => "; the file is kept beside it with .bad in its name",
        };
        format!(
            "The cycle's file .claude/{FILE} cannot be used: {damage}. No stage is begun{kept}. `tidegate cycle start` begins anew."
        )
    },
    spawn_blocked: |level, numbers, policy| {
        format!(
            "No agents are spawned from {level}% of the way to a full context on ({}). Run /compact to go on; `tidegate off {policy}` \
             switches this off.",
            use_of(numbers)
        )
    },
    handoff_written: |level| {
        format!(
            "From {level}% on a handoff is written: .claude/context/{} says where the work stands, also for a new session.",
            handoff::FILE
        )
    },
    compact_now: |numbers| {
        format!("A good moment for /compact: {}. From 85% on no agents are spawned.", use_of(numbers))
    },
    gate_pending: |gate, phase, missing, policy| {
        let missing = match missing {
            0 => "everything is there, but nobody recorded it".to_owned(),
            1 => "1 item is missing".to_owned(),
            _ => format!("{missing} items are missing"),
        };
        format!(
            "Gate {gate} after phase {phase} holds agents back: {missing}. `tidegate gate check {gate}` shows it; `tidegate gate skip {gate} \
             --reason …` goes on without it, `tidegate off {policy}` switches all gates off."
        )
    },
    tag_missing: |policy| {
        format!(
            "Tidegate had the agent go on: its answer did not say which topic it belongs to. To work without meta tags: \
             `tidegate off {policy} --for 1h` in another terminal."
        )
    },
    topic_undecided: |topic, policy| {
        format!(
            "Tidegate had the agent go on: the topic {topic} was left, and neither a decision nor a log was recorded for it. To \
             work without this: `tidegate off {policy} --for 1h` in another terminal."
        )
    },
    workflow_phase: |name, number, of| format!("phase {number}/{of} {name}"),
    plan_compaction: "compact at the phase's end",
    stage: |stage, number, of| format!("{stage} {number}/{of}"),
    unpromoted_entries: |entries| {
        if entries == 1 { "1 entry unpromoted".to_owned() } else { format!("{entries} entries unpromoted") }
    },
    used: |percent| format!("{percent}% used"),
    left: |tokens, compacts| {
        if compacts { format!("{tokens} to compaction") } else { format!("{tokens} left") }
    },
    turns: |turns| if turns == 1 { "~1 turn".to_owned() } else { format!("~{turns} turns") },
    no_reading: "no reading yet",
    hooks_silent: "! hooks silent (tidegate doctor)",
    hooks_stopped: "! hooks stopped (tidegate doctor)",
    config_sign: |place| format!("! config error {place}"),
};

fn own_file(file: OwnFile) -> &'static str {
    match file {
        OwnFile::Config => "Tidegate's config",
        OwnFile::ProjectConfig => "Tidegate's config for this project",
        OwnFile::Host => "the settings in which the client's hooks and status line stand",
        OwnFile::State => "Tidegate's private state",
        OwnFile::Program => "the program that runs Tidegate's checks",
        OwnFile::Plugin => "a file that registers Tidegate's plugin",
        OwnFile::Memory => "Tidegate's memory",
    }
}

/// `78% in use, 7k tokens left`.
fn use_of(ContextUse { percent, left }: ContextUse) -> String {
    let percent = percent.map(|percent| format!("{percent}% in use"));
    let left = left.map(|left| format!("{} tokens left", short_tokens(left)));
    let parts: Vec<String> = percent.into_iter().chain(left).collect();
    if parts.is_empty() { "by tokens in use".to_owned() } else { parts.join(", ") }
}
