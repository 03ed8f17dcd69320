//! The conditions of a gate, step by step. A model cannot replace text in its own context, but all of these are
//! visible from outside.

use crate::feature::workflow::definition::Gate;
use crate::feature::workflow::lack::{BadFiles, Lack};
use crate::feature::workflow::manifest::{Manifest, ManifestDamage, PhaseSection};
use crate::feature::workflow::summary;
use crate::text::hidden::plain_word;
use crate::text::tokens::estimate_tokens;
use crate::time::Millis;

/// Estimated tokens of a summary that is kept in the conversation.
pub const MAX_SUMMARY_TOKENS: u64 = 200;

/// From this level on a gate requires a compaction.
pub const COMPACTS_FROM: u8 = 80;

/// Teaches how to persist progress.
pub const PROGRESS_SKILL: &str = "persisting-progress-across-sessions";

/// Missing files listed by name.
const MAX_LISTED: usize = 8;

/// Manifests have times in whole seconds.
const SECOND_MS: u64 = 1000;

/// A file named in a section or its summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    pub name: String,
    pub found: FoundFile,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundFile {
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
pub struct GateMoment {
    /// Apply every condition.
    pub strict: bool,
    /// The highest level of context use observed at the gate.
    pub level: Option<u8>,
    /// Percentage of the window in use now.
    pub used_pct: Option<u64>,
    /// When the phase was observed to begin.
    pub began: Option<Millis>,
    /// When the session first saw the phase to be over.
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
pub enum GateStep {
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

impl GateStep {
    pub fn name(self) -> &'static str {
        match self {
            GateStep::Output => "full output written",
            GateStep::Written => "write verified",
            GateStep::Summary => "summary",
            GateStep::References => "references valid",
            GateStep::Decisions => "key decisions preserved",
            GateStep::Compaction => "compaction happened",
            GateStep::Skill => "skill invoked",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepFinding {
    Met,
    Missing(Lack),
    /// Cannot be determined, which does not fail the gate.
    Unknown(Lack),
    /// It did not happen, and need not.
    NotNeeded(Lack),
}

#[derive(Clone, Debug, PartialEq)]
pub struct GateReport {
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
    pub files: Vec<NamedFile>,
    pub steps: Vec<(GateStep, StepFinding)>,
}

impl GateReport {
    pub fn missing(&self) -> Vec<&Lack> {
        let mut missing = Vec::new();
        for (_, finding) in &self.steps {
            if let StepFinding::Missing(what) = finding {
                missing.push(what);
            }
        }
        missing
    }

    pub fn is_met(&self) -> bool {
        self.missing().is_empty()
    }

    pub fn finding(&self, step: GateStep) -> Option<&StepFinding> {
        self.steps.iter().find(|(known, _)| *known == step).map(|(_, finding)| finding)
    }
}

/// The files to examine for the gate after a phase.
pub fn files_to_examine(section: &PhaseSection) -> Vec<String> {
    let in_summary = section.summary.as_deref().map(summary::find_existing_paths).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for name in section.artifacts.iter().chain(&in_summary).chain(&section.paths) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

pub fn report_unreadable(gate: Gate, damage: &ManifestDamage, written: Option<Millis>) -> GateReport {
    let finding = StepFinding::Missing(Lack::Unusable(damage.to_string()));
    GateReport {
        gate,
        phase: format!("phase {}", gate.after),
        section: None,
        lines: 0,
        written,
        before: 0,
        after: 0,
        files: Vec::new(),
        steps: vec![(GateStep::Written, finding)],
    }
}

/// `files` holds the findings for [`files_to_examine`].
pub fn check_gate(manifest: &Manifest, gate: Gate, files: Vec<NamedFile>, moment: &GateMoment) -> GateReport {
    let phase = manifest.workflow.phase(gate.after).map(|phase| phase.name.clone()).unwrap_or_default();
    let none = PhaseSection {
        number: gate.after,
        key: format!("{}_{phase}", gate.after),
        ..PhaseSection::default()
    };
    let found = manifest.section(gate.after);
    let section = found.unwrap_or(&none);
    let case = GateCase { section, is_there: found.is_some(), files: &files, moment, gate };
    let (before, after) = (case.before(), case.after());
    let mut steps = vec![
        (GateStep::Output, case.output(before, after)),
        (GateStep::Written, case.written()),
        (GateStep::Summary, case.summary(after)),
        (GateStep::References, case.references()),
        (GateStep::Decisions, case.decisions()),
        (GateStep::Compaction, case.compaction()),
    ];
    if moment.strict {
        steps.push((GateStep::Skill, case.skill()));
    }
    GateReport {
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

fn join_names<'a>(files: impl Iterator<Item = &'a NamedFile>) -> Option<String> {
    let mut names: Vec<String> = files.map(|file| plain_word(&file.name)).collect();
    let more = names.len().saturating_sub(MAX_LISTED);
    names.truncate(MAX_LISTED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    (!names.is_empty()).then(|| names.join(", "))
}

struct GateCase<'a> {
    section: &'a PhaseSection,
    is_there: bool,
    files: &'a [NamedFile],
    moment: &'a GateMoment,
    gate: Gate,
}

impl GateCase<'_> {
    fn key(&self) -> String {
        plain_word(&self.section.key)
    }

    fn artifacts(&self) -> impl Iterator<Item = &NamedFile> {
        self.files.iter().filter(|file| self.section.artifacts.contains(&file.name))
    }

    /// Tokens of the whole output, in the section and in files.
    fn before(&self) -> u64 {
        let of_file = |file: &NamedFile| match file.found {
            FoundFile::File { tokens, .. } => tokens,
            // Roughly four bytes per token.
            FoundFile::Unread(bytes) => bytes / 4,
            FoundFile::Folder | FoundFile::Missing | FoundFile::Outside => 0,
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

    fn output(&self, before: u64, after: u64) -> StepFinding {
        if !self.is_there {
            return StepFinding::Missing(Lack::NoSection { key: self.key() });
        }
        if before == 0 {
            return StepFinding::Missing(Lack::OnlyStatus { key: self.key() });
        }
        if before <= after {
            return StepFinding::Missing(Lack::ShortOutput { key: self.key(), before, after });
        }
        let of_file = |file: &NamedFile| match file.found {
            FoundFile::File { modified, .. } => modified,
            _ => None,
        };
        let in_section = (self.section.body > 0).then_some(self.moment.written).flatten();
        let newest = self.artifacts().filter_map(of_file).chain(in_section).max();
        match (self.began(), newest) {
            (Some(began), Some(written)) if written.0 + SECOND_MS < began.0 => {
                StepFinding::Missing(Lack::OldOutput { key: self.key(), written, began })
            }
            (None, _) => StepFinding::Unknown(Lack::StartUnknown),
            (_, None) => StepFinding::Unknown(Lack::WriteUnknown),
            _ => StepFinding::Met,
        }
    }

    fn written(&self) -> StepFinding {
        if self.is_there {
            StepFinding::Met
        } else {
            StepFinding::Missing(Lack::NotReadBack { key: self.key() })
        }
    }

    fn summary(&self, after: u64) -> StepFinding {
        if self.section.summary.is_none() {
            return StepFinding::Missing(Lack::NoSummary { key: self.key() });
        }
        if after > MAX_SUMMARY_TOKENS {
            return StepFinding::Missing(Lack::LongSummary { key: self.key(), tokens: after });
        }
        StepFinding::Met
    }

    fn references(&self) -> StepFinding {
        let listed = |found: &FoundFile| join_names(self.files.iter().filter(|file| file.found == *found));
        let empty = |file: &&NamedFile| {
            matches!(file.found, FoundFile::File { lines: 0, tokens: 0, .. } | FoundFile::Unread(0))
        };
        let bad = BadFiles {
            missing: listed(&FoundFile::Missing),
            outside: listed(&FoundFile::Outside),
            empty: join_names(self.artifacts().filter(empty)),
        };
        if bad == BadFiles::default() { StepFinding::Met } else { StepFinding::Missing(Lack::BadFiles(bad)) }
    }

    fn decisions(&self) -> StepFinding {
        let Some(summary) = &self.section.summary else {
            return StepFinding::Missing(Lack::DecisionsLost);
        };
        if self.section.decisions || summary::tells_decisions(summary) {
            StepFinding::Met
        } else {
            StepFinding::Missing(Lack::NoDecision)
        }
    }

    fn compaction(&self) -> StepFinding {
        let GateMoment { strict, level, .. } = *self.moment;
        let wanted = strict || level.is_some_and(|level| level >= COMPACTS_FROM);
        // The manifest's own time could be set so that any session is a new one.
        let ended = self.moment.ended;
        let is_since = |at: Option<Millis>| ended.zip(at).is_some_and(|(ended, at)| at >= ended);
        if is_since(self.moment.boundary) {
            return StepFinding::Met;
        }
        if is_since(self.moment.session) {
            return StepFinding::NotNeeded(Lack::NewSession);
        }
        if !wanted {
            return match level {
                None => StepFinding::Unknown(Lack::UseUnknown),
                Some(_) => StepFinding::NotNeeded(Lack::RoomLeft { used_pct: self.moment.used_pct }),
            };
        }
        if ended.is_none() {
            return StepFinding::Unknown(Lack::EndUnknown);
        }
        StepFinding::Missing(Lack::NotCompacted { phase: self.gate.after, is_nearly_full: !strict })
    }

    fn skill(&self) -> StepFinding {
        if self.moment.skill {
            return StepFinding::Met;
        }
        StepFinding::Missing(Lack::NoSkill)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::workflow::Workflow;
    use crate::text::lang::Lang;

    const BEGAN: Millis = Millis(1_768_903_800_000);
    const ENDED: Millis = Millis(1_768_906_800_000);

    fn manifest(section: &str) -> Manifest {
        let text = format!("current_phase: 4\nphases:\n  3_discovery:\n    status: complete\n{section}");
        Manifest::parse(text.as_bytes(), |_| Some(Workflow::default())).unwrap()
    }

    const WHOLE: &str = "    log: |\n      a long text that says what was found in every file that was read, one by one\n    summary: |\n      Key decisions: none\n";

    fn moment() -> GateMoment {
        GateMoment {
            level: Some(60),
            began: Some(BEGAN),
            ended: Some(ENDED),
            written: Some(Millis(ENDED.0 + 5000)),
            ..GateMoment::default()
        }
    }

    fn file(name: &str, tokens: u64, modified: Millis) -> NamedFile {
        let found = FoundFile::File { lines: 1, tokens, modified: Some(modified) };
        NamedFile { name: name.into(), found }
    }

    fn missing(section: &str, files: Vec<NamedFile>, moment: &GateMoment) -> String {
        let gate = Gate { number: 1, after: 3 };
        texts(&check_gate(&manifest(section), gate, files, moment)).join(" | ")
    }

    fn texts(report: &GateReport) -> Vec<String> {
        report.missing().iter().map(|lack| lack.text(Lang::En)).collect()
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
                "holds only a status: no output, and no artifact that has it | phases.3_discovery has no `summary` | without a summary the decisions are lost",
            ),
            (
                "    log: a\n    summary: Decided to keep everything as it is, in all its parts.\n",
                vec![],
                "is not longer than its summary",
            ),
            (artifact, vec![file("d.md", 500, late)], ""),
            (artifact, vec![file("d.md", 500, early)], "before the phase began"),
            (
                artifact,
                vec![NamedFile { name: "d.md".into(), found: FoundFile::Missing }],
                "holds only a status: no output, and no artifact that has it | d.md is named and does not exist",
            ),
            (
                artifact,
                vec![NamedFile { name: "d.md".into(), found: FoundFile::Outside }],
                "d.md is named and is outside of the project",
            ),
            (artifact, vec![file("d.md", 500, late), file("e.md", 0, late)], ""),
            (&long, vec![], "the limit is 200"),
            (
                "    log: a long text about what was found in each of the files\n    summary: React\n",
                vec![],
                "the summary names no decision",
            ),
        ] {
            let is = missing(section, files, &moment());
            assert!(if said.is_empty() { is.is_empty() } else { is.contains(said) }, "{section}: {is}");
        }
    }

    #[test]
    fn words_of_a_manifest_steer_nothing() {
        let named = |name: String| NamedFile { name, found: FoundFile::Missing };
        let mut files = vec![named(format!("\u{1b}[2J\n{}", "x".repeat(5000)))];
        files.extend((0..90).map(|number| named(format!("{number}.md"))));
        let said = missing(WHOLE, files, &moment());
        assert!(said.contains("x…, 0.md, ") && said.contains("6.md, 83 more is named"), "{said}");
        assert!(said.len() < 400 && !said.contains(char::is_control), "{said}");
        let text = format!("current_phase: 4\nphases:\n  \"3_\\e[2J{}\": {{}}\n", "x".repeat(900));
        let manifest = Manifest::parse(text.as_bytes(), |_| Some(Workflow::default())).unwrap();
        let report = check_gate(&manifest, Gate { number: 1, after: 3 }, Vec::new(), &moment());
        assert!(texts(&report).iter().all(|said| said.len() < 400 && !said.contains(char::is_control)));
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
            (GateMoment { level: Some(75), ..moment() }, ""),
            (GateMoment { level: Some(80), ..moment() }, not),
            (GateMoment { level: Some(80), boundary: before, ..moment() }, not),
            (GateMoment { level: Some(80), boundary: after, ..moment() }, ""),
            (GateMoment { level: Some(80), session: after, ..moment() }, ""),
            (GateMoment { level: Some(80), ended: None, ..moment() }, ""),
            (GateMoment { level: None, ..moment() }, ""),
            (GateMoment { strict: true, skill: true, level: None, ..moment() }, not),
            (GateMoment { strict: true, skill: true, boundary: after, ..moment() }, ""),
            (
                GateMoment { strict: true, boundary: after, ..moment() },
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
        let report = check_gate(&manifest(WHOLE), gate, Vec::new(), &GateMoment::default());
        assert!(report.is_met());
        let unknown = |step| matches!(report.finding(step), Some(StepFinding::Unknown(_)));
        assert!(unknown(GateStep::Output) && unknown(GateStep::Compaction));
        let none = Manifest::parse(b"current_phase: 4\n", |_| Some(Workflow::default())).unwrap();
        let report = check_gate(&none, gate, Vec::new(), &GateMoment::default());
        assert!(matches!(report.finding(GateStep::Written), Some(StepFinding::Missing(_))));
    }
}
