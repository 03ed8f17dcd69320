//! All sessions of this machine, those that are open first.

use maud::{Markup, html};
use tidegate_core::feature::verification::work::ChangeSet;
use tidegate_core::meter::short_tokens;
use tidegate_core::text::short_id::short_id;
use tidegate_core::time::Millis;
use tidegate_hook::host::claude_code::client;
use tidegate_state::feature::cycle;

use super::{Asked, Shown, Viewing, folder_name};
use crate::bilingual::{both, count_en};
use crate::sessions::Session;
use crate::web::document::Part;
use crate::web::site::escape;

/// Sessions on the page.
const SHOWN: usize = 60;

pub(super) fn show(viewing: &Viewing<'_>, asked: &Asked) -> Shown {
    let title = both!("Sessions", "セッション");
    let from = asked.from.as_deref().and_then(|from| from.parse::<usize>().ok()).unwrap_or(0);
    let (sessions, all) = viewing.here.newest_after(from, SHOWN);
    let here = &viewing.here;
    let (open, ended): (Vec<&Session>, Vec<&Session>) = sessions.iter().partition(|session| {
        cycle::is_live_by(Some(&session.marks), &here.state, &session.id, here.now, client::is_running)
    });
    let body = html! {
        h1 { (viewing.say(&title)) }
        @if sessions.is_empty() {
            p { (viewing.show(&both!(
                "No session has been seen yet. Install the hooks with `tidegate init`, then start your agent in that project.",
                "セッションはまだありません。`tidegate init` でフックをインストールし、そのプロジェクトでエージェントを起動してください。"
            ))) }
        }
        @if !open.is_empty() {
            h2 { (viewing.say(&both!("Open now", "実行中"))) }
            ul.cards { @for session in open { li { (card(viewing, session)) } } }
        }
        @if !ended.is_empty() {
            h2 { (viewing.say(&both!("Ended", "終了"))) }
            ul.cards { @for session in ended { li { (card(viewing, session)) } } }
        }
        (neighbours(viewing, from, all))
    };
    let address = if from == 0 { String::new() } else { format!("?from={from}") };
    Shown { part: Part::Sessions, address, title: viewing.say(&title).to_owned(), body }
}

/// Links to the sessions before and after these.
fn neighbours(viewing: &Viewing<'_>, from: usize, all: usize) -> Markup {
    if all <= SHOWN && from == 0 {
        return html! {};
    }
    let (first, last) = (from.saturating_add(1).min(all), from.saturating_add(SHOWN).min(all));
    let link =
        |from: usize| viewing.site.link(&if from == 0 { String::new() } else { format!("?from={from}") });
    html! {
        nav.pages aria-label=(viewing.say(&both!("Pages", "ページ"))) {
            @if from > 0 {
                a rel="prev" href=(link(from.saturating_sub(SHOWN))) { (viewing.say(&both!("Newer", "新しいもの"))) } " "
            }
            span { (viewing.say(&both!("{first} to {last} of {all} sessions", "セッション{all}件中{first}～{last}件目"))) }
            @if last < all {
                " " a rel="next" href=(link(last)) { (viewing.say(&both!("Older", "以前のもの"))) }
            }
        }
    }
}

fn card(viewing: &Viewing<'_>, session: &Session) -> Markup {
    let id = session.id.as_str();
    let known = viewing.seen.recent.get(id);
    let marks = &session.marks;
    let root = marks.session.root.as_deref().or_else(|| known.and_then(|known| known.project.as_deref()));
    let name = root.map_or_else(
        || viewing.say(&both!("unknown project", "不明なプロジェクト")).to_owned(),
        |root| folder_name(root).into_owned(),
    );
    let last = known.map(|known| known.last).filter(|at| *at > Millis(0)).or(marks.session.attached);
    let recent = known.map(|known| &known.curve);
    let small = || viewing.seen.small_curves.and_then(|curves| curves.get(id));
    let drawn = recent.filter(|curve| curve.points.len() > 1).or_else(small).or(recent);
    let mut curve = drawn.cloned().unwrap_or_default();
    curve.continue_to(viewing.seen.readings.of(&viewing.here, session).as_ref());
    let point = curve.points.last();
    let unverified = marks.verification.changes.as_ref().map_or(0, ChangeSet::count);
    let use_text = point.map(|point| {
        let used = short_tokens(point.used);
        match point.end {
            Some(end) => {
                let left = short_tokens(end.saturating_sub(point.used));
                both!("{used} tokens used, {left} left", "{used}トークン使用、残り{left}")
            }
            None => both!("{used} tokens used", "{used}トークン使用"),
        }
    });
    html! {
        article.card {
            h3 { a href=(viewing.site.link(&format!("session/{}", escape(id)))) { (name) } }
            p.dim {
                code { (short_id(id)) }
                @if let Some(last) = last { " · " (viewing.say(&viewing.clock.ago(last))) }
            }
            @if curve.points.len() > 1 {
                (curve.draw_small(use_text.as_ref().map_or("", |text| viewing.say(text))))
            }
            @if let Some(text) = &use_text { p { (viewing.say(text)) } }
            @if unverified > 0 {
                p.warning {
                    (viewing.say(&both!(
                        "{files} not checked yet",
                        "{unverified}個のファイルが未検証",
                        files = count_en(unverified, "changed file")
                    )))
                }
            }
            @if let Some(line) = known.and_then(|known| known.newest_event()).and_then(|last| viewing.event_line(last)) {
                p.last { (line) }
            }
        }
    }
}
