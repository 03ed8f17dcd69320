//! The conditions of a gate, step by step. A model cannot replace text in its own context, but all of these are
//! visible from outside.

use crate::feature::workflow::definition::Gate;
use crate::feature::workflow::manifest;
use crate::feature::workflow::manifest::{Damage, Manifest, Section};
use crate::text::hidden::plain_word;
use crate::text::tokens::estimate_tokens;
use crate::time::Millis;

/// Estimated tokens of a summary that is kept in the conversation.
pub const LONGEST_SUMMARY: u64 = 200;

/// From this level on a gate requires a compaction.
pub const COMPACTS_FROM: u8 = 80;

/// Teaches how to persist progress.
pub const SKILL: &str = "persisting-progress-across-sessions";

/// Missing files listed by name.
const MOST_NAMED: usize = 8;

/// Manifests have times in whole seconds.
const SECOND_MS: u64 = 1000;

/// A file named in a section or its summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub found: Found,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    File {
        lines: usize,
        /// Estimated.
        tokens: u64,
        modified: Option<Millis>,
    },
    /// Too long or not readable; size in bytes.
    Unread(u64),
    Folder,
    Missing,
    /// Outside of the project.
    Outside,
}

/// State of the session at a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Apply every condition.
    pub strict: bool,
    /// The highest level of context use observed at the gate.
    pub level: Option<u8>,
    /// When the phase was observed to begin.
    pub began: Option<Millis>,
    /// When the phase was observed to end.
    pub ended: Option<Millis>,
    /// The last compaction.
    pub boundary: Option<Millis>,
    /// When the session began.
    pub session: Option<Millis>,
    /// The skill was invoked since the phase began.
    pub skill: bool,
    /// When the manifest was last written.
    pub written: Option<Millis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The whole output is in a file.
    Output,
    /// The manifest reads back.
    Written,
    /// A short summary exists.
    Summary,
    /// All named files exist.
    References,
    /// The summary tells what was decided.
    Decisions,
    /// The conversation was compacted.
    Compaction,
    /// The skill was invoked.
    Skill,
}

impl Step {
    pub fn name(self) -> &'static str {
        match self {
            Step::Output => "full output written",
            Step::Written => "write verified",
            Step::Summary => "summary",
            Step::References => "references valid",
            Step::Decisions => "key decisions preserved",
            Step::Compaction => "compaction happened",
            Step::Skill => "skill invoked",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    Met,
    /// With the missing items.
    Missing(String),
    /// Cannot be determined, which does not fail the gate.
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub gate: Gate,
    /// Name of the phase before the gate.
    pub phase: String,
    /// Key in the manifest, if the phase has a section.
    pub section: Option<String>,
    /// Lines of the section.
    pub lines: usize,
    /// When the manifest was last written.
    pub written: Option<Millis>,
    /// Tokens of the whole output.
    pub before: u64,
    /// Tokens of the summary.
    pub after: u64,
    pub files: Vec<Named>,
    pub steps: Vec<(Step, Finding)>,
}

impl Report {
    pub fn missing(&self) -> Vec<&str> {
        let mut missing = Vec::new();
        for (_, finding) in &self.steps {
            if let Finding::Missing(what) = finding {
                missing.push(what.as_str());
            }
        }
        missing
    }

    pub fn is_met(&self) -> bool {
        self.missing().is_empty()
    }

    pub fn finding(&self, step: Step) -> Option<&Finding> {
        self.steps.iter().find(|(known, _)| *known == step).map(|(_, finding)| finding)
    }
}

/// The files to examine for the gate after a phase.
pub fn named(section: &Section) -> Vec<String> {
    let in_summary = section.summary.as_deref().map(manifest::paths).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for name in section.artifacts.iter().chain(&in_summary).chain(&section.paths) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

pub fn unreadable(gate: Gate, damage: &Damage, written: Option<Millis>) -> Report {
    let finding = Finding::Missing(format!("the manifest cannot be used: {damage}"));
    Report {
        gate,
        phase: format!("phase {}", gate.after),
        section: None,
        lines: 0,
        written,
        before: 0,
        after: 0,
        files: Vec::new(),
        steps: vec![(Step::Written, finding)],
    }
}

/// `files` holds the findings for [`files_to_examine`].
pub fn check(manifest: &Manifest, gate: Gate, files: Vec<Named>, moment: &Moment) -> Report {
    let phase = manifest.workflow.phase(gate.after).map(|phase| phase.name.clone()).unwrap_or_default();
    let none = Section { number: gate.after, key: format!("{}_{phase}", gate.after), ..Section::default() };
    let found = manifest.section(gate.after);
    let section = found.unwrap_or(&none);
    let case = Case { section, is_there: found.is_some(), files: &files, moment, gate };
    let (before, after) = (case.before(), case.after());
    let mut steps = vec![
        (Step::Output, case.output(before, after)),
        (Step::Written, case.written()),
        (Step::Summary, case.summary(after)),
        (Step::References, case.references()),
        (Step::Decisions, case.decisions()),
        (Step::Compaction, case.compaction()),
    ];
    if moment.strict {
        steps.push((Step::Skill, case.skill()));
    }
    Report {
        gate,
        phase: phase.replace(['_', '-'], " "),
        section: found.map(|section| plain_word(&section.key)),
        lines: section.lines,
        written: moment.written,
        before,
        after,
        steps,
        files,
    }
}

fn some_of<'a>(files: impl Iterator<Item = &'a Named>) -> Option<String> {
    let mut names: Vec<String> = files.map(|file| plain_word(&file.name)).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    (!names.is_empty()).then(|| names.join(", "))
}

struct Case<'a> {
    section: &'a Section,
    is_there: bool,
    files: &'a [Named],
    moment: &'a Moment,
    gate: Gate,
}

impl Case<'_> {
    fn key(&self) -> String {
        plain_word(&self.section.key)
    }

    fn artifacts(&self) -> impl Iterator<Item = &Named> {
        self.files.iter().filter(|file| self.section.artifacts.contains(&file.name))
    }

    /// Tokens of the whole output, in the section and in files.
    fn before(&self) -> u64 {
        let of_file = |file: &Named| match file.found {
            Found::File { tokens, .. } => tokens,
            // Roughly four bytes per token.
            Found::Unread(bytes) => bytes / 4,
            Found::Folder | Found::Missing | Found::Outside => 0,
        };
        self.section.body + self.artifacts().map(of_file).sum::<u64>()
    }

    fn after(&self) -> u64 {
        self.section.summary.as_deref().map(estimate_tokens).unwrap_or_default()
    }

    /// From the manifest, otherwise as observed. A time after the manifest's last write is a mistake and is ignored.
    fn began(&self) -> Option<Millis> {
        let is_past =
            |began: &Millis| self.moment.written.is_none_or(|written| began.0 <= written.0 + SECOND_MS);
        self.section.began.filter(is_past).or(self.moment.began)
    }

    fn output(&self, before: u64, after: u64) -> Finding {
        if !self.is_there {
            return Finding::Missing(format!("phases.{} is not in the manifest", self.key()));
        }
        if before == 0 {
            return Finding::Missing(format!(
                "phases.{} holds no output beside its status, and names no artifacts that do",
                self.key()
            ));
        }
        if before <= after {
            return Finding::Missing(format!(
                "the output of phases.{} (about {before} tokens) is no longer than its summary (about {after})",
                self.key()
            ));
        }
        let of_file = |file: &Named| match file.found {
            Found::File { modified, .. } => modified,
            _ => None,
        };
        let in_section = (self.section.body > 0).then_some(self.moment.written).flatten();
        let newest = self.artifacts().filter_map(of_file).chain(in_section).max();
        match (self.began(), newest) {
            (Some(began), Some(newest)) if newest.0 + SECOND_MS < began.0 => Finding::Missing(format!(
                "the output of phases.{} was last written at {}, before the phase began at {}",
                self.key(),
                newest.iso_seconds(),
                began.iso_seconds()
            )),
            (None, _) => Finding::Unknown("when the phase began is not known".to_owned()),
            (_, None) => Finding::Unknown("when it was written is not known".to_owned()),
            _ => Finding::Met,
        }
    }

    fn written(&self) -> Finding {
        if self.is_there {
            Finding::Met
        } else {
            Finding::Missing(format!("phases.{} does not read back", self.key()))
        }
    }

    fn summary(&self, after: u64) -> Finding {
        if self.section.summary.is_none() {
            return Finding::Missing(format!("phases.{} has no `summary`", self.key()));
        }
        if after > LONGEST_SUMMARY {
            return Finding::Missing(format!(
                "the summary of phases.{} is about {after} tokens, and at most {LONGEST_SUMMARY} are carried on",
                self.key()
            ));
        }
        Finding::Met
    }

    fn references(&self) -> Finding {
        let listed = |found: &[Found], text: &str| {
            let names = self.files.iter().filter(|file| found.contains(&file.found));
            some_of(names).map(|names| format!("{names} {text}"))
        };
        let empty =
            |file: &&Named| matches!(file.found, Found::File { lines: 0, tokens: 0, .. } | Found::Unread(0));
        let is_empty = some_of(self.artifacts().filter(empty)).map(|names| format!("{names} is empty"));
        let parts = [
            listed(&[Found::Missing], "is named and does not exist"),
            listed(&[Found::Outside], "is named and is outside of the project"),
            is_empty,
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { Finding::Met } else { Finding::Missing(parts.join("; ")) }
    }

    fn decisions(&self) -> Finding {
        let Some(summary) = &self.section.summary else {
            return Finding::Missing("no summary tells what was decided".to_owned());
        };
        if self.section.decisions || manifest::tells_decisions(summary) {
            Finding::Met
        } else {
            Finding::Missing(
                "the summary tells no decision, and not that there was none (`Key decisions: …`)".to_owned(),
            )
        }
    }

    fn compaction(&self) -> Finding {
        let Moment { strict, level, .. } = *self.moment;
        let wanted = strict || level.is_some_and(|level| level >= COMPACTS_FROM);
        // Observation takes precedence over the manifest.
        let ended = self.moment.ended.or(self.section.ended);
        let since = [self.moment.boundary, self.moment.session].into_iter().flatten().max();
        match (ended, since) {
            (Some(ended), Some(since)) if since >= ended => return Finding::Met,
            _ if !wanted && level.is_none() => {
                return Finding::Unknown("how full the context is is not known".to_owned());
            }
            _ if !wanted => return Finding::Met,
            (None, _) => return Finding::Unknown("when the phase ended is not known".to_owned()),
            _ => {}
        }
        let from = if strict { String::new() } else { format!(" (wanted from {COMPACTS_FROM}% on)") };
        Finding::Missing(format!(
            "the conversation was not compacted since phase {} ended{from}; the person can type /compact",
            self.gate.after
        ))
    }

    fn skill(&self) -> Finding {
        if self.moment.skill {
            return Finding::Met;
        }
        Finding::Missing(format!("the skill `{SKILL}` was not invoked since the phase began"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::workflow::Workflow;

    const BEGAN: Millis = Millis(1_768_903_800_000);
    const ENDED: Millis = Millis(1_768_906_800_000);

    fn manifest(section: &str) -> Manifest {
        let text = format!("current_phase: 4\nphases:\n  3_discovery:\n    status: complete\n{section}");
        Manifest::parse(text.as_bytes(), |_| Some(Workflow::default())).unwrap()
    }

    const WHOLE: &str = "    log: |\n      a long text that says what was found in every file that was read, one by one\n    summary: |\n      Key decisions: none\n";

    fn moment() -> Moment {
        Moment {
            level: Some(60),
            began: Some(BEGAN),
            ended: Some(ENDED),
            written: Some(Millis(ENDED.0 + 5000)),
            ..Moment::default()
        }
    }

    fn file(name: &str, tokens: u64, modified: Millis) -> Named {
        let found = Found::File { lines: 1, tokens, modified: Some(modified) };
        Named { name: name.into(), found }
    }

    fn missing(section: &str, files: Vec<Named>, moment: &Moment) -> String {
        let gate = Gate { number: 1, after: 3 };
        check(&manifest(section), gate, files, moment).missing().join(" | ")
    }

    #[test]
    fn each_step_fails_by_itself() {
        let artifact = "    artifacts: [d.md]\n    summary: Decided.\n";
        let late = Millis(BEGAN.0 + 1);
        let early = Millis(BEGAN.0 - 60_000);
        let long = format!("    log: {}\n    summary: decided {}\n", "x ".repeat(3000), "word ".repeat(600));
        for (section, files, said) in [
            (WHOLE, vec![], ""),
            (
                "",
                vec![],
                "holds no output beside its status, and names no artifacts that do | phases.3_discovery has no `summary` | no summary tells what was decided",
            ),
            (
                "    log: a\n    summary: Decided to keep everything as it is, in all its parts.\n",
                vec![],
                "is no longer than its summary",
            ),
            (artifact, vec![file("d.md", 500, late)], ""),
            (artifact, vec![file("d.md", 500, early)], "before the phase began"),
            (
                artifact,
                vec![Named { name: "d.md".into(), found: Found::Missing }],
                "holds no output beside its status, and names no artifacts that do | d.md is named and does not exist",
            ),
            (
                artifact,
                vec![Named { name: "d.md".into(), found: Found::Outside }],
                "d.md is named and is outside of the project",
            ),
            (artifact, vec![file("d.md", 500, late), file("e.md", 0, late)], ""),
            (&long, vec![], "and at most 200 are carried on"),
            (
                "    log: a long text about what was found in each of the files\n    summary: React\n",
                vec![],
                "the summary tells no decision",
            ),
        ] {
            let is = missing(section, files, &moment());
            assert!(if said.is_empty() { is.is_empty() } else { is.contains(said) }, "{section}: {is}");
        }
    }

    #[test]
    fn words_of_a_manifest_steer_nothing() {
        let named = |name: String| Named { name, found: Found::Missing };
        let mut files = vec![named(format!("\u{1b}[2J\n{}", "x".repeat(5000)))];
        files.extend((0..90).map(|number| named(format!("{number}.md"))));
        let said = missing(WHOLE, files, &moment());
        assert!(said.contains("x…, 0.md, ") && said.contains("6.md, 83 more is named"), "{said}");
        assert!(said.len() < 400 && !said.contains(char::is_control), "{said}");
        let text = format!("current_phase: 4\nphases:\n  \"3_\\e[2J{}\": {{}}\n", "x".repeat(900));
        let manifest = Manifest::parse(text.as_bytes(), |_| Some(Workflow::default())).unwrap();
        let report = check(&manifest, Gate { number: 1, after: 3 }, Vec::new(), &moment());
        assert!(report.missing().iter().all(|said| said.len() < 400 && !said.contains(char::is_control)));
        let damage = Manifest::parse(format!("workflow: \"\\e{}\"", "x".repeat(900)).as_bytes(), |_| None);
        let damage = damage.unwrap_err().to_string();
        assert!(damage.len() < 200 && !damage.contains(char::is_control), "{damage}");
    }

    #[test]
    fn a_phase_that_begins_in_the_future_begins_at_an_unknown_time() {
        let section = format!("    started_at: \"2099-01-01T00:00:00Z\"\n{WHOLE}");
        assert_eq!(missing(&section, vec![], &moment()), "");
    }

    #[test]
    fn a_compaction_is_wanted_from_a_level_on() {
        let not = "the conversation was not compacted since phase 3 ended";
        let after = Some(Millis(ENDED.0 + 1));
        let before = Some(Millis(ENDED.0 - 5000));
        for (moment, said) in [
            (Moment { level: Some(75), ..moment() }, ""),
            (Moment { level: Some(80), ..moment() }, not),
            (Moment { level: Some(80), boundary: before, ..moment() }, not),
            (Moment { level: Some(80), boundary: after, ..moment() }, ""),
            (Moment { level: Some(80), session: after, ..moment() }, ""),
            (Moment { level: Some(80), ended: None, ..moment() }, ""),
            (Moment { level: None, ..moment() }, ""),
            (Moment { strict: true, skill: true, level: None, ..moment() }, not),
            (Moment { strict: true, skill: true, boundary: after, ..moment() }, ""),
            (
                Moment { strict: true, boundary: after, ..moment() },
                "the skill `persisting-progress-across-sessions` was not invoked",
            ),
        ] {
            let is = missing(WHOLE, vec![], &moment);
            assert!(if said.is_empty() { is.is_empty() } else { is.starts_with(said) }, "{moment:?}: {is}");
        }
    }

    #[test]
    fn what_is_not_known_fails_nothing() {
        let gate = Gate { number: 1, after: 3 };
        let report = check(&manifest(WHOLE), gate, Vec::new(), &Moment::default());
        assert!(report.is_met());
        let unknown = |step| matches!(report.finding(step), Some(Finding::Unknown(_)));
        assert!(unknown(Step::Output) && unknown(Step::Compaction));
        let none = Manifest::parse(b"current_phase: 4\n", |_| Some(Workflow::default())).unwrap();
        let report = check(&none, gate, Vec::new(), &Moment::default());
        assert!(matches!(report.finding(Step::Written), Some(Finding::Missing(_))));
    }
}
