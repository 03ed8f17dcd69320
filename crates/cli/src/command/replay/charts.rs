//! What a replay found, as one file for a browser: the words of the terminal under curves and bars.

use std::path::Path;

use maud::{Markup, html};
use tidegate_core::meter::short_tokens;
use tidegate_core::text::lang::Lang;
use tidegate_replay::report::{ReplayReport, SessionReport};

use super::page::{self, View};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::Outcome;
use crate::language;
use crate::print::text::Text;
use crate::recent::curve::{Curve, CurvePoint};
use crate::web::bars::{self, Bar, BarPart, Fill};
use crate::web::page_file;

/// Sessions with a curve.
const CURVES: usize = 60;

pub(super) fn write(path: &Path, report: &ReplayReport, view: &View<'_>) -> Outcome {
    let lang = language::current();
    let title = both!("Tidegate replay", "Tidegate の再生");
    let body = html! {
        // The finding is what a reader came for.
        h1 { (page::finding_line(report, view).get(lang)) }
        p.dim { (title.get(lang)) " · " (view.clock.day(view.clock.now())) }
        (draw(report, view, lang))
    };
    page_file::write(path, &title, &body)
}

fn draw(report: &ReplayReport, view: &View<'_>, lang: Lang) -> Markup {
    let stops = &report.stops;
    let part = |fill, amount: usize, words: Bilingual| BarPart {
        fill,
        amount,
        words: both!("{amount} {en}", "{ja}{amount}件", en = words.en, ja = words.ja).get(lang).to_owned(),
    };
    let edited = Bar {
        label: both!("turns that changed code", "コードを変えたターン").get(lang).to_owned(),
        parts: vec![
            part(Fill::Good, stops.verified, both!("with a check that passed", "確認が通ったもの")),
            part(Fill::Bad, stops.untested, both!("without", "確認なし")),
            part(Fill::Dim, stops.asking + stops.waiting, both!("not at their end", "途中のもの")),
        ],
    };
    let sessions = &report.session_list;
    let [above, below] = page::pages_around_sessions(report, view);
    html! {
        @if stops.verified + stops.untested > 0 { (bars::draw(&[edited])) }
        (above.html(lang))
        h2 { (both!("Sessions", "セッション").get(lang)) }
        ul.cards { @for session in sessions.iter().take(CURVES) { li { (card(session, view, lang)) } } }
        @if sessions.len() > CURVES {
            @let more = both!("and {n} more in `--json`", "ほか{n}件は `--json` にあります", n = sessions.len() - CURVES);
            p.dim { (Text::from(more).html(lang)) }
        }
        (below.html(lang))
    }
}

fn card(session: &SessionReport, view: &View<'_>, lang: Lang) -> Markup {
    let point = |used: &u32| CurvePoint { at: session.to, used: u64::from(*used), end: session.window };
    let curve = Curve { points: session.curve.iter().map(point).collect(), signs: Vec::new() };
    let (peak, turns) = (short_tokens(u64::from(session.peak_tokens)), session.turns);
    let words = match session.window.map(short_tokens) {
        Some(window) => both!("at most {peak} of {window} tokens", "最大{peak}（{window}トークン中）"),
        None => both!("at most {peak} tokens", "最大{peak}トークン"),
    };
    let untested = session.untested.len();
    let counts = both!(
        "{n}, {m}",
        "ターン{turns}件、圧縮{compactions}件",
        n = count_en(turns, "turn"),
        m = count_en(session.compactions.len(), "compaction"),
        turns = turns,
        compactions = session.compactions.len()
    );
    html! {
        article.card {
            h3 { (page::project_name(session)) }
            p.dim { (view.clock.minute(session.to)) }
            @if curve.points.len() > 1 { (curve.draw_small(words.get(lang))) }
            p { (words.get(lang)) }
            p.dim { (counts.get(lang)) }
            @if untested > 0 {
                p.warning { (both!("{untested} untested", "確認なし{untested}件").get(lang)) }
            }
        }
    }
}
