//! Skill gate: a file may be edited only after the skills that the config requires for its class were invoked.
//!
//! The rules, case by case, are in `skill_gate.md` next to this file. Failed checks are handled in
//! [`crate::pipeline::gate`].

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs, Touched};
use crate::feature::marks::{Marks, SessionMark};
use crate::feature::verdict::{Asks, Audience, Call, Effect, NoEffect, Say, Verdict};
use crate::feature::{CONTEXT_FOLDER, Feature, Mode, Policy};
use crate::host::Host;
use crate::text::list::name_a_few;
use crate::text::quoted::quoted_line;
use settings::{SkillGateMode, Subagents};

pub mod settings;
mod words;

pub use settings::Settings;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFacts {
    /// Required skills that no folder of skills has. Those of plugins are not looked for by their full name.
    pub not_installed: Vec<String>,
}

pub struct Room;

impl Feature for Room {
    /// Which of the required skills are installed.
    type Needs = bool;
    type Facts = SkillFacts;
    type Effect = NoEffect;
}

/// The policy's name. Its registration denies the call when the check fails; `TIDEGATE_OFF` with this name disables
/// it.
pub const ID: &str = "skill-gate";

/// Skills that `strict` requires, and that `tidegate init --with rules` installs.
pub const RULES: [&str; 2] = ["code-quality-rules", "document-quality-rules"];

pub struct SkillGate;

impl Policy for SkillGate {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.skill_gate.mode {
            SkillGateMode::Deny | SkillGateMode::Remind => Mode::Live,
            SkillGateMode::Shadow => Mode::Shadow,
            SkillGateMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, _: Option<&Marks>) -> Option<Needs> {
        let edits = event.kind == EventKind::PreToolUse && event.edit_paths().is_some();
        edits.then(|| {
            let mut needs = Needs::default();
            needs.verification.files = true;
            needs
        })
    }

    fn needs_more(&self, facts: &Facts<'_>, config: &Config) -> Needs {
        let verdict = self.decide(facts, config);
        let speaks = verdict.call == Call::Deny || !verdict.says.is_empty();
        Needs { skill_gate: speaks, ..Needs::default() }
    }

    fn skills<'c>(&self, config: &'c Config) -> Vec<&'c str> {
        config.policies.skill_gate.require.all_skills().collect()
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let judged = |file| self.decide_file(facts, config, file);
        // One call may edit several files: the first denial counts for all of them.
        let speaks = |verdict: &Verdict| verdict.call != Call::Pass || !verdict.says.is_empty();
        let held = facts.verification.files.iter().map(judged).find(speaks);
        held.or_else(|| facts.verification.files.first().map(judged))
            .unwrap_or_else(|| Verdict::silent("no file"))
    }
}

impl SkillGate {
    fn decide_file(&self, facts: &Facts<'_>, config: &Config, file: &Touched) -> Verdict {
        let settings = &config.policies.skill_gate;
        let Some(inside) = file.inside.as_deref() else { return Verdict::silent("outside the project") };
        if is_knowledge(&file.below) {
            return Verdict::silent("progress notes and learnings are exempt");
        }
        if settings.exempt.0.iter().any(|glob| glob.matches(&file.below)) {
            return Verdict::silent("exempt by the config");
        }
        let required = settings.require.skills(&file.below);
        if required.is_empty() {
            return Verdict::silent("nothing is required for this class");
        }
        let agent = facts.event.agent();
        if let Some(agent) = &agent {
            if settings.subagents == Subagents::Exempt {
                return Verdict::silent("subagents are exempt");
            }
            if agent.kind.is_some_and(|kind| settings.preloaded.0.iter().any(|known| known.0 == kind)) {
                return Verdict::silent("this kind of agent brings its skills along");
            }
        }
        let own = match settings.subagents {
            Subagents::Own => Some(agent.as_ref().map_or("", |agent| agent.id)),
            Subagents::Inherit | Subagents::Exempt => None,
        };
        let session = facts.marks.value().map(|marks| &marks.session);
        let invoked = |skill: &str| session.is_some_and(|session| session.invoked(skill, own));
        let mut missing: Vec<&str> = required.into_iter().filter(|skill| !invoked(skill)).collect();
        if missing.is_empty() {
            return Verdict::silent("the required skill was invoked");
        }
        let is_gone = |skill: &str| facts.skill_gate.not_installed.iter().any(|gone| gone == skill);
        missing.retain(|skill| !(config.is_of_preset(skill) && is_gone(skill)));
        if missing.is_empty() {
            return Verdict::silent("the skill of the preset is not installed");
        }
        // In shadow mode, the first denial would already have led to the skill.
        let would = format!("{ID}/would/{}", name_a_few(&missing));
        if settings.mode == SkillGateMode::Shadow
            && facts.marks.value().is_some_and(|marks| marks.session.noticed(&would))
        {
            return Verdict::silent("it would have been denied once");
        }
        let elsewhere = agent.is_some() && settings.subagents != Subagents::Own;
        if settings.mode == SkillGateMode::Remind || config.stepped_down(self.id()) {
            return remind_of_skills(facts, file, &missing);
        }
        let mut verdict = deny_edit(facts, inside, &missing, elsewhere);
        if settings.mode == SkillGateMode::Shadow {
            verdict.effects.push(Effect::mark(SessionMark::Notice(would)));
        }
        verdict
    }
}

/// Flow and stock: the agent's notes must be writable in any situation.
fn is_knowledge(below: &str) -> bool {
    let below = below.strip_prefix(CONTEXT_FOLDER).and_then(|below| below.strip_prefix('/'));
    let Some(name) = below else { return false };
    let stock = name.strip_suffix(".md").is_some_and(|name| name.starts_with("learnings"));
    stock || matches!(name, "progress.md" | "progress.archive.md" | "task_plan.md" | "handoff.md")
}

fn deny_edit(facts: &Facts<'_>, file: &str, missing: &[&str], elsewhere: bool) -> Verdict {
    let shown = quoted_line(file);
    let gone: Vec<&str> = missing
        .iter()
        .copied()
        .filter(|skill| facts.skill_gate.not_installed.iter().any(|gone| gone == skill))
        .collect();
    if !gone.is_empty() {
        return deny_for_missing(facts, file, &shown, &gone);
    }
    let skills = name_a_few(missing);
    let (noun, them) = if missing.len() == 1 { ("skill", "it") } else { ("skills", "them") };
    let reason = if elsewhere {
        format!(
            "Report to your caller that the {noun} {skills} must be invoked in the main thread before {shown} is edited. Do not \
             repeat the edit from this agent."
        )
    } else {
        format!(
            "Invoke the {noun} {skills}, then repeat this edit: {shown} may be edited only after {them}, and this session has \
             not invoked {them} yet.{}",
            facts.event.host.skill_hint()
        )
    };
    // The way past the gate is for the person, and telling it once is enough.
    let told = facts.marks.value().is_some_and(|marks| marks.session.noticed(ID));
    let say = (!told).then(|| Say {
        to: Audience::User,
        text: words::skill_required(facts.lang, &shown, missing),
        weight: 50,
        explains: true,
        when_said: vec![Effect::mark(SessionMark::Notice(ID.to_owned()))],
    });
    Verdict {
        call: Call::Deny,
        reason: Some(reason),
        because: "the required skill was not invoked",
        says: say.into_iter().collect(),
        asks: skills_before(missing, file),
        ..Verdict::pass()
    }
}

/// Claude Code may know skills in places that Tidegate does not look at, so the model tries it all the same.
fn deny_for_missing(facts: &Facts<'_>, file: &str, shown: &str, gone: &[&str]) -> Verdict {
    let skills = name_a_few(gone);
    let host = Host::title(facts.event.host.name());
    let (noun, them) = if gone.len() == 1 { ("skill", "it") } else { ("skills", "them") };
    let reason = format!(
        "Invoke the {noun} {skills}, then repeat this edit: {shown} may be edited only after {them}. If {host} does not know \
         {them}, tell the user, and do not write the file another way.{}",
        facts.event.host.skill_hint()
    );
    let notice = format!("{ID}/not installed");
    let told = facts.marks.value().is_some_and(|marks| marks.session.noticed(&notice));
    let say = (!told).then(|| Say {
        to: Audience::User,
        text: words::skill_not_installed(facts.lang, shown, gone, &way_to_get(facts, gone)),
        weight: 50,
        explains: true,
        when_said: vec![Effect::mark(SessionMark::Notice(notice))],
    });
    Verdict {
        call: Call::Deny,
        reason: Some(reason),
        because: "the required skill was not found",
        says: say.into_iter().collect(),
        asks: skills_before(gone, file),
        ..Verdict::pass()
    }
}

fn way_to_get(facts: &Facts<'_>, gone: &[&str]) -> String {
    if gone.iter().all(|skill| RULES.contains(skill)) {
        match facts.event.host {
            Host::ClaudeCode => "`tidegate init --with rules`".to_owned(),
            host => format!("`tidegate init --host {} --with rules`", host.name()),
        }
    } else {
        let theirs = gone.iter().find(|skill| !RULES.contains(skill)).unwrap_or(&gone[0]);
        words::put_skill_there(facts.lang, facts.event.host.skill_home(), theirs)
    }
}

/// Advises instead of denying, once per set of skills.
fn remind_of_skills(facts: &Facts<'_>, file: &Touched, missing: &[&str]) -> Verdict {
    let skills = name_a_few(missing);
    let notice = format!("{ID}/{skills}");
    if facts.marks.value().is_some_and(|marks| marks.session.noticed(&notice)) {
        return Verdict::silent("it was said already");
    }
    let noun = if missing.len() == 1 { "skill" } else { "skills" };
    let name = quoted_line(file.inside.as_deref().unwrap_or_default());
    let text =
        format!("Invoke the {noun} {skills} before you edit files like {name}: the settings ask for it.");
    let when_said = vec![Effect::mark(SessionMark::Notice(notice))];
    Verdict {
        because: "the required skill was not invoked; a reminder is enough here",
        says: vec![Say { to: Audience::Model, text, weight: 50, explains: false, when_said }],
        asks: skills_before(missing, file.inside.as_deref().unwrap_or_default()),
        ..Verdict::pass()
    }
}

fn skills_before(missing: &[&str], file: &str) -> Asks {
    Asks::skills(missing.iter().map(ToString::to_string).collect(), file)
}
