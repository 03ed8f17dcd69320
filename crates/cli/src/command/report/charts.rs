//! The report for a browser: bars above the words and tables of the terminal.

use std::path::Path;

use maud::{Markup, html};
use tidegate_core::pipeline::friction::Tally;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use super::boundaries::Boundary;
use super::page::{body_page, finding, finding_line};
use super::{FrictionReport, Outcome};
use crate::bilingual::{Bilingual, both};
use crate::language;
use crate::local_time::LocalClock;
use crate::web::bars::{self, Bar, BarPart, Fill};
use crate::web::page_file;

/// Compactions in the chart, newest last.
const COMPACTIONS: usize = 20;

pub(super) fn write(path: &Path, report: &FrictionReport, days: u64, clock: &LocalClock) -> Outcome {
    let lang = language::current();
    let title = both!("Tidegate report", "Tidegate のレポート");
    let body = html! {
        // The finding is what a reader came for.
        h1 { (finding_line(report, days).get(lang)) }
        p.dim { (title.get(lang)) " · " (clock.day(clock.now())) }
        (report.html(clock, lang))
    };
    page_file::write(path, &title, &body)
}

impl FrictionReport {
    /// In one line, for a page with a title of its own.
    pub(crate) fn finding(&self) -> Bilingual {
        finding(self)
    }

    /// Everything below the finding.
    pub(crate) fn html(&self, clock: &LocalClock, lang: Lang) -> Markup {
        let spoke: Vec<Bar> = self
            .policies
            .iter()
            .filter(|tally| has_outcome(tally))
            .map(|tally| outcomes(tally, lang))
            .collect();
        let skipped = self.boundaries.len().saturating_sub(COMPACTIONS);
        let kept: Vec<Bar> =
            self.boundaries[skipped..].iter().map(|one| survival(one, clock, lang)).collect();
        html! {
            @if !spoke.is_empty() {
                h2 { (both!("What happened after Tidegate asked", "Tidegate が求めたあと").get(lang)) }
                (bars::draw(&spoke))
            }
            @if !kept.is_empty() {
                h2 { (both!("Facts that each compaction kept", "圧縮ごとに残った事実").get(lang)) }
                (bars::draw(&kept))
            }
            (body_page(self, clock).html(lang))
        }
    }
}

fn part(fill: Fill, amount: usize, words: &Bilingual, lang: Lang) -> BarPart {
    let words = match lang {
        Lang::En => format!("{amount} {}", words.en),
        Lang::Ja => format!("{}{amount}件", words.ja),
    };
    BarPart { fill, amount, words }
}

/// Texts that only inform ask for nothing.
fn has_outcome(tally: &Tally) -> bool {
    known(tally) > 0
}

fn known(tally: &Tally) -> usize {
    tally.satisfied + tally.satisfied_later + tally.ignored + tally.bypassed + tally.overridden
}

fn outcomes(tally: &Tally, lang: Lang) -> Bar {
    let known = known(tally);
    let rest = tally.spoke.total().saturating_sub(known);
    let parts = vec![
        part(Fill::Good, tally.satisfied, &both!("done at once", "すぐに対応"), lang),
        part(Fill::Later, tally.satisfied_later, &both!("done later", "あとで対応"), lang),
        part(Fill::Warning, tally.ignored, &both!("ignored", "無視"), lang),
        part(
            Fill::Bad,
            tally.bypassed + tally.overridden,
            &both!("bypassed or overridden", "回避・取消"),
            lang,
        ),
        part(Fill::Dim, rest, &both!("only information, or open", "通知のみ・未定"), lang),
    ];
    Bar { label: tally.policy.clone(), parts }
}

fn survival(boundary: &Boundary, clock: &LocalClock, lang: Lang) -> Bar {
    let at = Millis::from_iso(&boundary.at).map_or_else(|| boundary.at.clone(), |at| clock.dated_minute(at));
    let parts = vec![
        part(Fill::Good, boundary.kept, &both!("in the summary", "要約に残った"), lang),
        part(
            Fill::Warning,
            boundary.of.saturating_sub(boundary.kept),
            &both!("not in the summary", "要約になかった"),
            lang,
        ),
    ];
    Bar { label: at, parts }
}
