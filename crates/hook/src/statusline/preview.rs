//! `--preview`: every part with samples, and how to choose among them.

use std::fmt::Write as _;
use std::path::Path;

use tidegate_core::feature::config::status_line::StatusPart;
use tidegate_core::feature::pressure::marks::PressureLevel;
use tidegate_core::feature::{approval, cycle, knowledge, verification, workflow};
use tidegate_core::host::window::Window;
use tidegate_core::meter::{Reading, Source};
use tidegate_core::pipeline;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use super::line::{self, Canvas, Piece, Style, draw};

const INDENT: &str = "  ";

pub(super) fn text(lang: Lang, config: Option<&Path>, canvas: Canvas) -> String {
    let canvas =
        Canvas { columns: canvas.columns.map(|columns| columns.saturating_sub(INDENT.len())), ..canvas };
    let mut text = String::new();
    for part in StatusPart::ALL {
        let _ = writeln!(text, "{}: {}", part.name(), describe(lang, part));
        for pieces in samples(lang, part) {
            let _ = writeln!(text, "{INDENT}{}", draw(&pieces, canvas));
        }
    }
    let config = config.map_or_else(|| "config.toml".to_owned(), |config| config.display().to_string());
    let (problems, choose) = match lang {
        Lang::En => ("Always shown, in front:", format!("Choose and order the parts in {config}:")),
        Lang::Ja => ("常に先頭に表示:", format!("表示する項目と順序は {config} で選べます:")),
    };
    let _ = writeln!(text, "{problems}");
    for sign in
        [pipeline::words::hooks_silent(lang).to_owned(), pipeline::words::config_sign(lang, "config.toml:3")]
    {
        let _ = writeln!(text, "{INDENT}{}", draw(&[Piece::new(sign, Style::Alarm)], canvas));
    }
    let names: Vec<String> = StatusPart::ALL.iter().map(|part| format!("\"{}\"", part.name())).collect();
    let _ = writeln!(text, "\n{choose}\n{INDENT}[statusline]\n{INDENT}show = [{}]", names.join(", "));
    text
}

fn describe(lang: Lang, part: StatusPart) -> &'static str {
    match (lang, part) {
        (Lang::En, StatusPart::Context) => "tokens and turns to compaction; yellow early, red late",
        (Lang::En, StatusPart::Checks) => "code that changed, and whether a check has passed since",
        (Lang::En, StatusPart::Stage) => "the stage of a cycle or the phase of a workflow",
        (Lang::En, StatusPart::Waiting) => "what waits for you",
        (Lang::Ja, StatusPart::Context) => "圧縮までのトークン数とターン数（近づくと黄、直前は赤）",
        (Lang::Ja, StatusPart::Checks) => "変更されたコードと、その後の検証結果",
        (Lang::Ja, StatusPart::Stage) => "サイクルのステージ、またはワークフローのフェーズ",
        (Lang::Ja, StatusPart::Waiting) => "あなたの対応を待っていること",
    }
}

fn samples(lang: Lang, part: StatusPart) -> Vec<Vec<Piece>> {
    let context = |used, turns, level| {
        let window = Some(Window { tokens: 200_000, compact_at: Some(167_000) });
        let reading = Reading { used, window, source: Source::Payload, at: Millis(0), outgrown: None };
        line::context(&reading, turns, level, lang)
    };
    let plain = |text: String| Piece::new(text, Style::Plain);
    let notice = |text: String| Piece::new(text, Style::Notice);
    match part {
        StatusPart::Context => vec![
            context(62_000, Some(17), PressureLevel::None),
            context(124_000, Some(6), PressureLevel::Info),
            context(155_000, Some(1), PressureLevel::Urgent),
        ],
        StatusPart::Checks => vec![
            vec![notice(verification::words::unverified_files(lang, 2))],
            vec![Piece::new(
                verification::words::failed_check(lang, verification::checks::CheckKind::Test),
                Style::Alarm,
            )],
            vec![Piece::new(
                verification::words::verified(lang, verification::checks::Kinds::TEST),
                Style::Good,
            )],
        ],
        StatusPart::Stage => vec![
            vec![plain(cycle::words::stage(lang, "audit", 2, 4))],
            vec![plain(workflow::words::phase(lang, "discovery", 3, 16))],
        ],
        StatusPart::Waiting => vec![
            vec![notice(approval::words::waits(lang, "K7QF2M", "`tidegate off verify-stop --for 1h`", 1))],
            vec![notice(pipeline::words::policy_off(lang, "verify-stop", Some(42)))],
            vec![notice(knowledge::words::unpromoted_entries(lang, 3))],
        ],
    }
}
