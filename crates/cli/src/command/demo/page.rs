//! How the demo looks: four scenes on one screen, shorter on a narrow one, or every hook call.

use tidegate_core::pipeline::record::{MeterRecord, Record, VerdictRecord};

use super::script::{Scene, Step, Who};
use super::stage::HookCall;
use crate::bilingual::{Bilingual, both};
use crate::command::explain::list_deeds;
use crate::language;
use crate::print::page::Page;
use crate::print::terminal::Terminal;
use crate::print::text::{Text, data, marked_words};
use crate::reason_words::because;

/// `Claude Code`, the widest of those who act.
const KEYS: usize = 11;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Screen,
    /// In this many columns, each text in two or three lines.
    Narrow(usize),
    /// Every hook call.
    Timeline,
}

pub(super) fn add_introduction(page: &mut Page, form: Form) {
    if matches!(form, Form::Narrow(_)) {
        page.paragraph(both!(
            "Claude follows a script. The lines \"To you\" come from the real hooks.",
            "Claude の動きは台本です。「あなたへ」は本物のフックの応答です。"
        ));
        return;
    }
    page.paragraph(both!(
        "Four scenes in a throw-away project. Claude follows a script; the lines \"To Claude\" and \"To you\" come from the real \
         hooks.",
        "使い捨てのプロジェクトで、4つの場面を見せます。Claude の動きは台本ですが、「Claude へ」「あなたへ」は本物のフックの応答です。"
    ));
    if form == Form::Timeline {
        page.paragraph(both!(
            "Below each hook call: how much of the context was used, and the reason of every policy that took part.",
            "フックの呼び出しごとに、コンテキストの使用率と、関わったポリシーの理由を示します。"
        ));
    }
}

pub(super) fn add_scene(page: &mut Page, number: usize, scene: &Scene, form: Form) {
    let Bilingual { en, ja } = &scene.title;
    let title = both!("{number}. {en}", "{number}. {ja}");
    let meaning = (Text::from(both!("For you", "つまり")).good(), Text::from(scene.meaning.clone()).good());
    let steps = || scene.steps.iter().filter(|step| !step.is_aside);
    let mut rows = Vec::new();
    match form {
        Form::Timeline => {
            page.heading(title);
            scene.steps.iter().for_each(|step| add_step(page, step));
            page.gap();
        }
        Form::Screen => {
            page.heading(title);
            for step in steps() {
                rows.push((actor(step.who), what(step)));
                rows.extend(step.call.iter().flat_map(short_texts));
            }
        }
        Form::Narrow(columns) => {
            page.paragraph(Text::from(title).strong());
            for step in steps() {
                if !step.is_for_wide_screens {
                    add_short_row(page, actor(step.who), &what(step), 2, columns);
                }
                let said = step.call.as_ref().and_then(|call| call.to_you.as_ref());
                if let Some(text) = said {
                    add_short_row(page, to_you(), &data(text), 3, columns);
                }
            }
            add_short_row(page, meaning.0, &meaning.1, 3, columns);
            return;
        }
    }
    rows.push(meaning);
    page.indented(|page| page.aligned_pairs(KEYS, rows));
}

/// As much of the text as fits in so many lines.
fn add_short_row(page: &mut Page, label: Text, text: &Text, lines: usize, columns: usize) {
    let row = |room: usize| label.clone() + data(": ") + text.clone().shortened(room);
    let fits = |row: &Text| {
        let mut alone = Page::new();
        alone.item(row.clone());
        let terminal = Terminal { width: columns, has_colors: false, breaks_words: true };
        alone.render(language::current(), terminal).lines().count() <= lines
    };
    let rows = (1..=lines * columns).rev().map(row);
    page.item(rows.into_iter().find(fits).unwrap_or(label));
}

pub(super) fn add_end(page: &mut Page, calls: usize, micros: u64, form: Form) {
    if !matches!(form, Form::Narrow(_)) {
        page.gap();
    }
    if form == Form::Timeline {
        let ms = micros / 1000;
        page.paragraph(both!(
            "{calls} hook calls took {ms} ms together.",
            "フックは{calls}回、合計{ms}ミリ秒でした。"
        ));
    }
    page.paragraph(both!(
        "Tidegate installed nothing, and deleted the project again.",
        "何もインストールせず、プロジェクトも削除しました。"
    ));
    page.paragraph(if form == Form::Timeline {
        both!("Next: `tidegate init` in your project", "次は: 自分のプロジェクトで `tidegate init`")
    } else {
        both!(
            "Next: `tidegate init` in your project. Details: `tidegate demo --verbose`",
            "次は: 自分のプロジェクトで `tidegate init`。詳細: `tidegate demo --verbose`"
        )
    });
}

fn actor(who: Who) -> Text {
    Text::from(match who {
        Who::You => both!("You", "あなた"),
        Who::Claude => both!("Claude", "Claude"),
        Who::ClaudeCode => both!("Claude Code", "Claude Code"),
        Who::StatusLine => both!("Status line", "画面下部"),
        Who::Memory => both!("Found", "検索結果"),
    })
    .dim()
}

fn what(step: &Step) -> Text {
    match step.who {
        Who::StatusLine => toned_line(&step.what.en),
        Who::Memory => marked_words(&step.what.en),
        _ => step.what.clone().into(),
    }
}

fn to_claude() -> Text {
    Text::from(both!("To Claude", "Claude へ")).strong()
}

fn to_you() -> Text {
    Text::from(both!("To you", "あなたへ")).warning()
}

/// Advice to Claude is left out: what Claude does with it is shown.
fn short_texts(call: &HookCall) -> Vec<(Text, Text)> {
    let rows = [(to_claude(), &call.blocked), (to_you(), &call.to_you)];
    rows.into_iter().filter_map(|(whom, text)| Some((whom, data(text.as_ref()?)))).collect()
}

fn texts(call: &HookCall) -> Vec<(Text, Text)> {
    let summary = Text::from(both!("To summary", "要約へ")).strong();
    let rows = [
        (to_claude(), &call.blocked),
        (to_claude(), &call.advised),
        (to_you(), &call.to_you),
        (summary, &call.to_summary),
    ];
    rows.into_iter().filter_map(|(whom, text)| Some((whom, data(text.as_ref()?)))).collect()
}

/// Its colours as tones: the page takes no others.
fn toned_line(line: &str) -> Text {
    let mut parts = line.split("\x1b[");
    let mut text = data(parts.next().unwrap_or_default());
    for part in parts {
        let (code, words) = part.split_once('m').unwrap_or_default();
        let words = data(words);
        text = text
            + match code {
                "32" => words.good(),
                "33" => words.warning(),
                "31" => words.bad(),
                _ => words,
            };
    }
    text
}

/// In the timeline: the event, then what happened, why, and what was said.
fn add_step(page: &mut Page, step: &Step) {
    let Some(call) = &step.call else {
        page.indented(|page| page.aligned_pairs(KEYS, [(actor(step.who), what(step))]));
        return;
    };
    page.gap();
    page.indented(|page| {
        page.paragraph(event(&call.record));
        let mut rows = vec![(actor(step.who), what(step))];
        rows.extend(list_deeds(&call.record.did).into_iter().map(|deed| (seen(), Text::from(deed))));
        rows.extend(texts(call));
        page.aligned_pairs(KEYS, rows);
        page.indented(|page| page.pairs(call.record.verdicts.iter().map(reason)));
    });
}

fn seen() -> Text {
    Text::from(both!("Noted", "記録")).dim()
}

fn event(record: &Record) -> Text {
    let name = data(&record.event).strong();
    match record.meter.as_ref().and_then(MeterRecord::shown_pct) {
        Some(percent) => {
            name + Text::from(both!("  {percent}% of the context used", "  コンテキストの{percent}%を使用"))
                .dim()
        }
        None => name,
    }
}

fn reason(verdict: &VerdictRecord) -> (Text, Text) {
    (data(&verdict.policy).dim(), Text::from(because(&verdict.because)).dim())
}
