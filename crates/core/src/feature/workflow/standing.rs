//! Where a session's workflow stands, as its manifest says and as we know it.

use serde::{Deserialize, Serialize};

use crate::feature::facts::Steps;
use crate::feature::workflow::check;
use crate::feature::workflow::check::{Moment, Named, Report};
use crate::feature::workflow::{Attached, Damage, Gate, Manifest, Phase, PhaseBegan};
use crate::time::Millis;

/// A workflow that was not touched for so long is only reported.
pub const UNTOUCHED_MS: u64 = 24 * 3_600_000;

/// What there is to know about a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The project's root.
    pub root: String,
    /// Its path, as the marks name it.
    pub path: String,
    /// What it says, or why it says nothing.
    pub manifest: Result<Manifest, Damage>,
    /// When it was last written.
    pub written: Option<Millis>,
    /// The files that sections name, by the numbers of the phases that were looked at.
    pub files: Vec<(usize, Vec<Named>)>,
    /// The gates that were let through, as our own state remembers it.
    pub let_through: Vec<LetThrough>,
    /// The session that it belongs to, where that is remembered.
    pub owner: Option<String>,
    /// Where another manifest was written than that of the session's workflow: the gate of the latter that holds agents back.
    pub held_elsewhere: Option<usize>,
}

/// Whose a manifest is since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owned {
    /// The manifest.
    pub manifest: String,
    /// The session.
    pub owner: String,
    /// Since when.
    pub at: Millis,
}

/// A gate that was passed, or that a person let be skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LetThrough {
    /// The manifest.
    pub manifest: String,
    /// Which gate.
    pub gate: usize,
    /// A person let it be skipped.
    pub skipped: bool,
    /// When.
    pub at: Millis,
    /// When the manifest says that it was begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Millis>,
}

impl Standing {
    /// Whether a gate was let through since the manifest was begun.
    pub fn is_let_through(&self, gate: usize) -> Option<&LetThrough> {
        let created = self.manifest.as_ref().ok().and_then(|manifest| manifest.created).unwrap_or_default();
        // Who writes the time by hand may write one that is to come.
        let is_this = |known: &LetThrough| known.created == Some(created) || known.at.0 + 1000 > created.0;
        self.let_through.iter().rev().find(|known| known.gate == gate && is_this(known))
    }

    /// Whether it belongs to another session than this one.
    pub fn is_anothers(&self, session: &str) -> bool {
        self.owner.as_deref().is_some_and(|owner| owner != session)
    }

    /// The gates between a finished phase and the one under way that nobody let through.
    pub fn pending(&self) -> Vec<Gate> {
        let Ok(manifest) = &self.manifest else { return Vec::new() };
        let Some(current) = manifest.current else { return Vec::new() };
        // A phase that never began left nothing behind; one that did is not undone by its status.
        let left_out = |gate: &Gate| {
            manifest.section(gate.after).is_some_and(|section| {
                let skipped = section.status.as_deref().is_some_and(|it| it.eq_ignore_ascii_case("skipped"));
                skipped && section.began.is_none() && section.body == 0 && section.artifacts.is_empty()
            })
        };
        let gates = manifest.workflow.gates().into_iter();
        gates
            .filter(|gate| {
                gate.after < current && !left_out(gate) && self.is_let_through(gate.number).is_none()
            })
            .collect()
    }

    /// What a session remembers from now on that is in this workflow. `began` is when its phase did, where that was seen.
    pub fn attach(&self, manifest: &Manifest, began: Option<Millis>) -> Attached {
        let mut new = Attached {
            project: self.root.clone(),
            manifest: self.path.clone(),
            workflow: manifest.name.clone(),
            of: manifest.workflow.phases.len(),
            ..Attached::default()
        };
        if let Some(number) = manifest.current {
            let name = manifest.workflow.phase(number).map(|phase| phase.name.clone()).unwrap_or_default();
            new.begin(&PhaseBegan { number, name, at: began, level: None, asked: false });
        }
        new
    }

    /// The gate that holds this session's agents back.
    pub fn holds_back(&self, session: &str, now: Millis) -> Option<usize> {
        let complete = self.manifest.as_ref().is_ok_and(|manifest| manifest.complete);
        let holds = !complete && !self.is_untouched(now) && !self.is_anothers(session);
        self.pending().first().map(|gate| gate.number).filter(|_| holds)
    }

    /// The phases whose files have to be looked at: before pending gates and, with `left`, the one before the present.
    pub fn to_check(&self, left: bool) -> Vec<usize> {
        let mut phases: Vec<usize> = self.pending().iter().map(|gate| gate.after).collect();
        let current = self.manifest.as_ref().ok().and_then(|manifest| manifest.current);
        phases.extend(current.and_then(|current| current.checked_sub(1)).filter(|phase| left && *phase > 0));
        phases.sort_unstable();
        phases.dedup();
        phases
    }

    /// Checks a gate, or the end of a phase as if one lay there.
    pub fn check(&self, gate: Gate, moment: &Moment) -> Report {
        match &self.manifest {
            Ok(manifest) => {
                let files = self.files.iter().find(|(phase, _)| *phase == gate.after);
                check::check(
                    manifest,
                    gate,
                    files.map(|(_, files)| files.clone()).unwrap_or_default(),
                    moment,
                )
            }
            Err(damage) => check::unreadable(gate, damage, self.written),
        }
    }

    /// Its phases for a handoff, with what their gates wait for.
    pub fn steps(&self) -> Option<Steps> {
        let manifest = self.manifest.as_ref().ok().filter(|manifest| !manifest.complete)?;
        let pending = self.pending();
        let step = |(at, phase): (usize, &Phase)| {
            let number = at + 1;
            let section = manifest.section(number);
            let status = section.and_then(|section| section.status.clone());
            let by_place = || match manifest.current {
                Some(current) if number < current => "done",
                Some(current) if number == current => "under way",
                _ => "not begun",
            };
            let mut told = status.unwrap_or_else(|| by_place().to_owned());
            if pending.iter().any(|gate| gate.after == number) {
                told.push_str(", its gate was not let through");
            }
            (format!("{number} {}", phase.title()), told)
        };
        let steps = manifest.workflow.phases.iter().enumerate().map(step).collect();
        Some(Steps { of: format!("workflow {} ({})", manifest.name, self.path), steps })
    }

    /// Whether nobody wrote to it for a day.
    pub fn is_untouched(&self, now: Millis) -> bool {
        self.written.is_some_and(|written| now.since(written) > UNTOUCHED_MS)
    }
}

/// What is known of the session at the gate behind a phase.
pub struct AtGate<'a> {
    /// Everything the seeds ask for.
    pub strict: bool,
    /// The level of context use now.
    pub level: Option<u8>,
    /// The last boundary.
    pub boundary: Option<Millis>,
    /// When the session began.
    pub session: Option<Millis>,
    /// What the session's marks know of the workflow.
    pub attached: Option<&'a Attached>,
    /// When the manifest was last written.
    pub written: Option<Millis>,
}

impl AtGate<'_> {
    /// The same for the check of one phase.
    pub fn after(&self, phase: usize) -> Moment {
        let seen = self.attached.and_then(|attached| attached.seen(phase));
        let then = seen.and_then(|seen| seen.level);
        Moment {
            strict: self.strict,
            level: self.level.max(then),
            began: seen.and_then(|seen| seen.began),
            ended: seen.and_then(|seen| seen.ended),
            boundary: self.boundary,
            session: self.session,
            skill: seen.is_some_and(|seen| seen.skill),
            written: self.written,
        }
    }
}
