//! Output of `workflow check`: the verification of a checkpoint, and the template that satisfies one.

use std::fmt::Write as _;

use crate::feature::workflow::check::{
    FoundFile, GateReport, GateStep, MAX_SUMMARY_TOKENS, NamedFile, StepFinding,
};
use crate::feature::workflow::definition::{Gate, Workflow};
use crate::feature::workflow::manifest::MANIFEST_FILE;
use crate::feature::workflow::standing::ClearedGate;
use crate::text::lang::Lang;

/// `14,832`.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn plural_lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

fn describe_file(lang: Lang, named: &NamedFile) -> String {
    let NamedFile { name, found } = named;
    match (found, lang) {
        (FoundFile::File { lines: count, .. }, Lang::En) => {
            format!("{name} exists ({})", plural_lines(*count))
        }
        (FoundFile::File { lines: count, .. }, Lang::Ja) => format!("{name} あり（{count}行）"),
        (FoundFile::Unread(bytes), Lang::En) => {
            format!("{name} exists ({} bytes, not read)", group_digits(*bytes))
        }
        (FoundFile::Unread(bytes), Lang::Ja) => {
            format!("{name} あり（{}バイト、読んでいません）", group_digits(*bytes))
        }
        (FoundFile::Folder, Lang::En) => format!("{name} exists (folder)"),
        (FoundFile::Folder, Lang::Ja) => format!("{name} あり（フォルダ）"),
        (FoundFile::Missing, Lang::En) => format!("{name} does not exist"),
        (FoundFile::Missing, Lang::Ja) => format!("{name} はありません"),
        (FoundFile::Outside, Lang::En) => format!("{name} is outside of the project"),
        (FoundFile::Outside, Lang::Ja) => format!("{name} はプロジェクトの外にあります"),
    }
}

/// One sign for several steps.
fn status_sign(report: &GateReport, steps: &[GateStep]) -> &'static str {
    let of = |step: &GateStep| report.finding(*step);
    if steps.iter().filter_map(of).any(|finding| matches!(finding, StepFinding::Missing(_))) {
        "❌"
    } else {
        "✅"
    }
}

impl GateReport {
    /// In tenths of a per cent.
    pub fn reduction(&self) -> Option<u64> {
        let saved = self.before.checked_sub(self.after)?;
        (self.before > 0).then(|| (saved * 1000 + self.before / 2) / self.before)
    }

    /// `path` is shown as the manifest's. The English form is that of workflows of this kind everywhere. It says *passed* only
    /// of a checkpoint that was recorded as such.
    pub fn text(&self, lang: Lang, path: &str, cleared: Option<&ClearedGate>) -> String {
        let (phase, next) = (self.gate.after, self.gate.after + 1);
        let ja = lang == Lang::Ja;
        let mut out = if ja {
            format!("圧縮の確認（フェーズ{phase} → フェーズ{next}）:\n\n")
        } else {
            format!("Compaction Verification (Phase {phase} → Phase {next}):\n\n")
        };
        let steps: &[GateStep] = &[GateStep::Output, GateStep::Written];
        let updated = if ja { "進捗ファイルの更新" } else { "Progress file updated" };
        let _ = writeln!(out, "{} {updated}: {path}", status_sign(self, steps));
        if self.section.is_some() {
            let _ = if ja {
                writeln!(out, "   - フェーズ{phase}の節: {}行", self.lines)
            } else {
                writeln!(out, "   - Phase {phase} section: {}", plural_lines(self.lines))
            };
        }
        let unknown = if ja { "不明" } else { "unknown" };
        let written = self.written.map_or_else(|| unknown.to_owned(), crate::time::Millis::iso_seconds);
        let _ = writeln!(out, "   - {}: {written}", if ja { "最終更新" } else { "Last write" });
        self.put_findings(lang, steps, &mut out);

        let steps: &[GateStep] =
            &[GateStep::Summary, GateStep::Decisions, GateStep::Compaction, GateStep::Skill];
        let _ = writeln!(out, "\n{} {}:", status_sign(self, steps), self.describe_compaction(lang));
        let (before, after) = (group_digits(self.before), group_digits(self.after));
        let was_compacted = self.finding(GateStep::Compaction) == Some(&StepFinding::Met);
        let (first, second) = match (ja, was_compacted) {
            (false, true) => ("Before", "After"),
            (false, false) => ("Output", "Summary"),
            (true, true) => ("前", "後"),
            (true, false) => ("成果", "要約"),
        };
        let _ = if ja {
            writeln!(
                out,
                "   - {first}: {before}トークン（{}の全出力）\n   - {second}: {after}トークン（要約とファイル名）",
                self.phase
            )
        } else {
            writeln!(
                out,
                "   - {first}: {before} tokens (full {} output)\n   - {second}: {after} tokens (summary + file references)",
                self.phase
            )
        };
        if let Some(tenths) = self.reduction().filter(|_| self.after > 0) {
            let (whole, tenth) = (tenths / 10, tenths % 10);
            let _ = match (ja, was_compacted) {
                (false, true) => writeln!(out, "   - Reduction: {whole}.{tenth}%"),
                (false, false) => writeln!(out, "   - The summary is {whole}.{tenth}% shorter"),
                (true, true) => writeln!(out, "   - 削減: {whole}.{tenth}%"),
                (true, false) => writeln!(out, "   - 要約による短縮: {whole}.{tenth}%"),
            };
        }
        self.put_findings(lang, steps, &mut out);

        let steps: &[GateStep] = &[GateStep::References];
        let sign = if self.section.is_some() { status_sign(self, steps) } else { "❌" };
        let _ = writeln!(out, "\n{sign} {}:", if ja { "ファイルの参照" } else { "File references valid" });
        for named in &self.files {
            let _ = writeln!(out, "   - {}", describe_file(lang, named));
        }
        let _ = match (&self.section, lang) {
            (Some(key), Lang::En) => writeln!(out, "   - {MANIFEST_FILE} phases.{key} section confirmed"),
            (Some(key), Lang::Ja) => writeln!(out, "   - {MANIFEST_FILE} の phases.{key} を確認"),
            (None, Lang::En) => writeln!(out, "   - {MANIFEST_FILE} has no section of phase {phase}"),
            (None, Lang::Ja) => writeln!(out, "   - {MANIFEST_FILE} にフェーズ{phase}の節がありません"),
        };

        let missing = self.missing().len();
        let is_passed = cleared.map(|known| !known.skipped);
        let _ = match (missing, is_passed, lang) {
            (0, Some(true), Lang::En) => writeln!(out, "\nGate status: PASSED. Proceeding to Phase {next}."),
            (0, Some(false), Lang::En) => writeln!(out, "\nGate status: SKIPPED. Nothing is missing."),
            (0, None, Lang::En) => writeln!(out, "\nGate status: NOT RECORDED. Nothing is missing."),
            (1, _, Lang::En) => writeln!(out, "\nGate status: NOT PASSED. 1 item is missing."),
            (_, _, Lang::En) => writeln!(out, "\nGate status: NOT PASSED. {missing} items are missing."),
            (0, Some(true), Lang::Ja) => writeln!(out, "\n判定: 合格。フェーズ{next}に進めます。"),
            (0, Some(false), Lang::Ja) => writeln!(out, "\n判定: 省略済み。不足はありません。"),
            (0, None, Lang::Ja) => writeln!(out, "\n判定: 未記録。不足はありません。"),
            (_, _, Lang::Ja) => writeln!(out, "\n判定: 不合格。{missing}件が不足しています。"),
        };
        out
    }

    /// Never says that the context was compacted if no compaction was seen.
    fn describe_compaction(&self, lang: Lang) -> String {
        let is_missing = |step| matches!(self.finding(step), Some(StepFinding::Missing(_)));
        let persisted = !is_missing(GateStep::Summary) && !is_missing(GateStep::Decisions);
        match (self.finding(GateStep::Compaction), lang) {
            (Some(StepFinding::Met), Lang::En) => "Context compacted".to_owned(),
            (Some(StepFinding::Met), Lang::Ja) => "コンテキストの圧縮".to_owned(),
            (Some(StepFinding::NotNeeded(why)), Lang::En) => {
                let first = if persisted { "Persisted" } else { "Not persisted" };
                format!("{first}; {}", why.text(lang))
            }
            (Some(StepFinding::NotNeeded(why)), Lang::Ja) => {
                let first = if persisted { "保存済み" } else { "未保存" };
                format!("{first}。{}", why.text(lang))
            }
            (Some(StepFinding::Missing(_)), Lang::En) => "Context not compacted".to_owned(),
            (Some(StepFinding::Missing(_)), Lang::Ja) => "コンテキストは圧縮されていません".to_owned(),
            (_, Lang::En) if persisted => "Persisted; no compaction seen".to_owned(),
            (_, Lang::En) => "Not persisted; no compaction seen".to_owned(),
            (_, Lang::Ja) if persisted => "保存済み。圧縮は確認できません".to_owned(),
            (_, Lang::Ja) => "未保存。圧縮は確認できません".to_owned(),
        }
    }

    fn put_findings(&self, lang: Lang, steps: &[GateStep], out: &mut String) {
        for (step, finding) in self.steps.iter().filter(|(step, _)| steps.contains(step)) {
            let _ = match (finding, lang) {
                (StepFinding::Met | StepFinding::NotNeeded(_), _) => Ok(()),
                (StepFinding::Missing(what), Lang::En) => writeln!(out, "   - Missing: {}", what.text(lang)),
                (StepFinding::Missing(what), Lang::Ja) => writeln!(out, "   - 不足: {}", what.text(lang)),
                (StepFinding::Unknown(why), Lang::En) => {
                    writeln!(out, "   - Unknown ({}): {}", step.name(), why.text(lang))
                }
                (StepFinding::Unknown(why), Lang::Ja) => writeln!(out, "   - 不明: {}", why.text(lang)),
            };
        }
    }
}

/// Left: goes to the file. Right: stays in the conversation.
type KeepRow = (&'static str, &'static str);

static DISCOVERY: [KeepRow; 5] = [
    ("what the exploring agents found, whole", "2 or 3 lines on key patterns"),
    ("lists of many files", "the folders concerned"),
    ("the analysis of patterns, file by file", "the technologies that are used"),
    ("snippets of code", "how many files and lines"),
    ("what was said with agents", "the path of the discovery file"),
];

static IMPLEMENTATION: [KeepRow; 5] = [
    ("logs of the developing agents", "the files that were changed, by path"),
    ("states of the code in between", "key decisions"),
    ("output of agents that were tried again", "deviations from the plan"),
    ("long error messages", "how each task ended"),
    ("output of builds and linters", "how many tasks are complete"),
];

static TESTING: [KeepRow; 5] = [
    ("logs of test runs", "passed and failed, by kind of test"),
    ("long output of tests", "the coverage"),
    ("output of the testing agents", "what fails, if anything"),
    ("test runs in between", "how many tests, by kind"),
    ("traces", "the paths of test files"),
];

static ANY_PHASE: [KeepRow; 4] = [
    ("the whole output of the phase", "2 or 3 lines on what came out of it"),
    ("logs, snippets, output of agents", "key decisions"),
    ("lists of many files", "paths of files and folders"),
    ("reasoning behind decisions", "what is still open"),
];

/// Lines of a summary, for the gates of the built-in workflow: by the phase before them.
static SUMMARIES: [(&str, &[KeepRow], &[&str]); 3] = [
    (
        "discovery",
        &DISCOVERY,
        &[
            "Technologies: …",
            "Patterns: …",
            "Affected files: N files in FOLDER/",
            "Key decisions: … (or: none)",
        ],
    ),
    (
        "implementation",
        &IMPLEMENTATION,
        &[
            "Files modified: N files (…)",
            "Tasks completed: N/N (N retries)",
            "Key decisions: … (or: none)",
            "Deviations: …",
        ],
    ),
    (
        "testing",
        &TESTING,
        &[
            "Unit tests: N/N passed",
            "Integration tests: N/N passed",
            "E2E tests: N/N passed",
            "Coverage: N% (target: N%)",
            "Key decisions: … (or: none)",
        ],
    ),
];

/// The section to write, and a table of what goes where.
pub fn gate_template(lang: Lang, workflow: &Workflow, gate: Gate, path: &str) -> String {
    let phase = workflow.phase(gate.after);
    let (name, title) = phase.map(|phase| (phase.name.clone(), phase.title())).unwrap_or_default();
    let known = SUMMARIES.iter().find(|(known, ..)| *known == name);
    let (rows, says): (&[KeepRow], &[&str]) = known.map_or(
        (&ANY_PHASE, &["Result: …", "Files: N files in FOLDER/", "Key decisions: … (or: none)"]),
        |(_, rows, says)| (*rows, *says),
    );
    let number = gate.after;
    let mut out = match lang {
        Lang::En => format!(
            "Checkpoint {}, after phase {number} ({title}). Before it, Claude writes this section into {path}, with `tidegate workflow note \
             {number}`:\n\n",
            gate.number
        ),
        Lang::Ja => format!(
            "フェーズ{number}（{title}）の後のチェックポイント{}。その前に Claude が `tidegate workflow note {number}` で {path} \
             に次の節を書きます:\n\n",
            gate.number
        ),
    };
    let (whole, most) = match lang {
        Lang::En => ("the whole output, next to the manifest", "at most"),
        Lang::Ja => ("出力の全文、マニフェストの隣", "上限"),
    };
    let _ = write!(
        out,
        "phases:\n  {number}_{name}:\n    status: complete\n    completed_at: \"2026-01-20T14:32:15Z\"\n    artifacts:\n      - \
         {name}.md   # {whole}\n    summary: |   # {most} {MAX_SUMMARY_TOKENS} tokens\n      Phase \
         {number} ({title}): COMPLETE\n"
    );
    for line in says {
        let _ = writeln!(out, "      - {line}");
    }
    let _ = writeln!(out, "      - Full details: {name}.md\n");
    let width = rows.iter().map(|(file, _)| file.chars().count()).max().unwrap_or_default();
    match lang {
        Lang::En => _ = writeln!(out, "{:width$}   stays", "goes to the file"),
        Lang::Ja => _ = writeln!(out, "左はファイルへ、右はコンテキストに残します"),
    }
    for (file, stays) in rows {
        let _ = writeln!(out, "{file:width$}   {stays}");
    }
    let number = gate.number;
    let _ = match lang {
        Lang::En => writeln!(
            out,
            "\n`tidegate workflow check {number}` shows what is missing, `tidegate workflow pass {number}` records the checkpoint as passed."
        ),
        Lang::Ja => writeln!(
            out,
            "\n足りないものは `tidegate workflow check {number}` でわかり、`tidegate workflow pass {number}` で通過を記録します。"
        ),
    };
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::workflow::lack::{BadFiles, Lack};
    use crate::time::Millis;

    fn report(steps: Vec<(GateStep, StepFinding)>) -> GateReport {
        let found = FoundFile::File { lines: 324, tokens: 9000, modified: None };
        GateReport {
            gate: Gate { number: 1, after: 3 },
            phase: "discovery".into(),
            section: Some("discovery".into()),
            lines: 487,
            written: Millis::from_iso("2026-01-20T14:32:15Z"),
            before: 14_832,
            after: 187,
            files: vec![NamedFile { name: "discovery.md".into(), found }],
            steps,
        }
    }

    const PATH: &str = ".claude/.output/features/2026-01-20-user-dashboard/MANIFEST.yaml";

    #[test]
    fn a_gate_that_is_passed() {
        let met = [GateStep::Output, GateStep::Compaction].map(|step| (step, StepFinding::Met));
        let text = |lang, cleared: Option<&ClearedGate>| report(met.to_vec()).text(lang, PATH, cleared);
        let passed = ClearedGate::default();
        assert_eq!(
            text(Lang::En, Some(&passed)),
            include_str!("passed.txt"),
            "as workflows of this kind have always written it"
        );
        let skipped = ClearedGate { skipped: true, ..passed };
        for (cleared, en, ja) in [
            (None, "NOT RECORDED. Nothing is missing.", "未記録。不足はありません。"),
            (Some(&skipped), "SKIPPED. Nothing is missing.", "省略済み。不足はありません。"),
        ] {
            assert!(text(Lang::En, cleared).ends_with(&format!("Gate status: {en}\n")));
            assert!(text(Lang::Ja, cleared).ends_with(&format!("判定: {ja}\n")));
        }
    }

    #[test]
    fn only_a_compaction_that_was_seen_is_called_one() {
        let texts = |finding: StepFinding| {
            let report = report(vec![(GateStep::Compaction, finding)]);
            let line = |lang| report.text(lang, PATH, None).lines().nth(6).unwrap_or_default().to_owned();
            [line(Lang::En), line(Lang::Ja)]
        };
        let room = |used_pct| StepFinding::NotNeeded(Lack::RoomLeft { used_pct });
        for (finding, lines) in [
            (StepFinding::Met, ["✅ Context compacted:", "✅ コンテキストの圧縮:"]),
            (
                room(Some(41)),
                [
                    "✅ Persisted; not compacted, not needed at 41%:",
                    "✅ 保存済み。圧縮なし。使用率41%のため不要です:",
                ],
            ),
            (room(None), ["✅ Persisted; not compacted, not needed:", "✅ 保存済み。圧縮なし。不要です:"]),
            (
                StepFinding::NotNeeded(Lack::NewSession),
                [
                    "✅ Persisted; not compacted; a new session began since the phase ended:",
                    "✅ 保存済み。圧縮なし。フェーズの終了後に新しいセッションが始まりました:",
                ],
            ),
            (
                StepFinding::Unknown(Lack::UseUnknown),
                ["✅ Persisted; no compaction seen:", "✅ 保存済み。圧縮は確認できません:"],
            ),
            (
                StepFinding::Missing(Lack::NotCompacted { phase: 3, is_nearly_full: true }),
                ["❌ Context not compacted:", "❌ コンテキストは圧縮されていません:"],
            ),
        ] {
            assert_eq!(texts(finding), lines);
        }
    }

    #[test]
    fn a_gate_that_is_not() {
        let mut report = report(vec![
            (GateStep::Output, StepFinding::Unknown(Lack::StartUnknown)),
            (
                GateStep::Summary,
                StepFinding::Missing(Lack::LongSummary { key: "discovery".into(), tokens: 260 }),
            ),
            (
                GateStep::References,
                StepFinding::Missing(Lack::BadFiles(BadFiles {
                    missing: Some("src/gone.rs".into()),
                    ..BadFiles::default()
                })),
            ),
        ]);
        report.files.push(NamedFile { name: "src/gone.rs".into(), found: FoundFile::Missing });
        insta::assert_snapshot!("not_passed", report.text(Lang::En, PATH, None));
        insta::assert_snapshot!("not_passed-ja", report.text(Lang::Ja, PATH, None));
    }

    #[test]
    fn a_phase_without_a_section_has_no_valid_references() {
        let mut report = report(vec![(
            GateStep::Written,
            StepFinding::Missing(Lack::NotReadBack { key: "3_discovery".into() }),
        )]);
        (report.section, report.files) = (None, Vec::new());
        let text = report.text(Lang::En, PATH, None);
        assert!(
            text.contains("❌ File references valid:\n   - MANIFEST.yaml has no section of phase 3\n"),
            "{text}"
        );
    }

    #[test]
    fn templates() {
        let workflow = Workflow::default();
        let gate = workflow.gate(2).unwrap();
        insta::assert_snapshot!("template_of_gate_2", gate_template(Lang::En, &workflow, gate, PATH));
        let value = crate::settings::value::Value::Table(vec![(
            "phases".into(),
            crate::settings::value::Value::List(vec!["plan".into(), "make".into()]),
        )]);
        let mut own = Workflow::read(&value).unwrap();
        own.phases[0].gate = true;
        insta::assert_snapshot!(
            "template_of_an_own_workflow",
            gate_template(Lang::En, &own, own.gate(1).unwrap(), PATH)
        );
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [7, 999, 1000, 14_832, 1_234_567].map(group_digits),
            ["7", "999", "1,000", "14,832", "1,234,567"]
        );
    }
}
