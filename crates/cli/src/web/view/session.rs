//! One session: its context curve, what waits, what happened, and its exchanges.

use std::collections::BTreeMap;

use maud::{Markup, html};
use tidegate_core::event::SessionId;
use tidegate_core::host::Host;
use tidegate_core::meter::short_tokens;
use tidegate_core::pipeline::record::{MeterRecord, Record};
use tidegate_core::text::short_id::short_id;
use tidegate_memory::view::{Filter, Page as RowPage};
use tidegate_state::journal;

use super::{Shown, ViewError, Viewing, busy_words, folder_name, memory, trouble};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::meter::describe_reading;
use crate::command::record_words::{headline, said_text};
use crate::command::status::{Cycle, InWorkflow, Unverified};
use crate::error::CliError;
use crate::print::page::Page;
use crate::print::text::{Text, data, name};
use crate::recent::curve::{Curve, Sign, SignKind};
use crate::sessions::Session;
use crate::web::document::Part;
use crate::web::drawing::CurveWords;
use crate::web::site::escape;

/// Events and exchanges on the page, newest first.
const EVENTS: usize = 100;
const EXCHANGES: usize = 20;

pub(super) fn show(mut viewing: Viewing<'_>, id: &str) -> Result<Shown, ViewError> {
    let session = SessionId::parse(id).map_err(|_| ViewError::Missing)?;
    let session = viewing.here.open(session).map_err(|_| ViewError::Missing)?;
    if let Some(root) = &session.marks.session.root {
        // Its settings decide what would satisfy a check. The folder may be gone.
        let _ = viewing.here.look_at(std::path::Path::new(root));
    }
    let mut curve = Curve::default();
    let mut events: Vec<Record> = Vec::new();
    journal::for_each_of_session(&viewing.here.state.journal(), id, |record| {
        curve.take(&record);
        if headline(&record).is_some() {
            events.push(record);
        }
    })
    .map_err(CliError::from)?;
    curve.continue_to(viewing.here.meter(Some(&session), None).0.reading());
    let title = session
        .marks
        .session
        .root
        .as_deref()
        .map_or_else(|| short_id(id).to_owned(), |root| folder_name(root).into_owned());
    let exchanges = match exchanges(&viewing, id) {
        // The rest of the page needs no memory.
        Err(ViewError::Busy) => Some(html! { p.dim { (viewing.say(&busy_words())) } }),
        Err(ViewError::Failed(error)) => Some(html! { (trouble(viewing.site, &error)) }),
        found => found?,
    };
    let body = html! {
        h1 { (title) " " small { code { (short_id(id)) } } }
        (standing(&viewing, &session).html(viewing.site.lang))
        h2 { (viewing.say(&both!("Context", "コンテキスト"))) }
        (draw(&viewing, session.id.host(), &curve, &events))
        h2 { (viewing.say(&both!("What happened", "出来事"))) }
        @if events.is_empty() { p.dim { (viewing.say(&both!("Nothing yet.", "まだありません。"))) } }
        ol.events reversed {
            @for record in events.iter().rev().take(EVENTS) {
                li {
                    @if let Some(line) = viewing.event_line(record) { (line) }
                    @if let Some(said) = said_text(record) { p.dim { (data(said).html(viewing.site.lang)) } }
                }
            }
        }
        @if events.len() > EVENTS {
            p.dim { (viewing.show(&both!(
                "{more} earlier: `tidegate log --session {id} --last {all}`",
                "これより前に{more}件: `tidegate log --session {id} --last {all}`",
                more = events.len() - EVENTS, id = id, all = events.len()
            ))) }
        }
        @if let Some(exchanges) = exchanges {
            h2 { (viewing.say(&both!("Exchanges", "やりとり"))) }
            (exchanges)
        }
    };
    Ok(Shown { part: Part::Sessions, address: format!("session/{}", escape(id)), title, body })
}

/// What is known now, as in `tidegate status`.
fn standing(viewing: &Viewing<'_>, session: &Session) -> Page {
    let here = &viewing.here;
    let mut rows: Vec<(Text, Text)> = Vec::new();
    let mut row = |key: Bilingual, value: Text| rows.push((Text::from(key).strong(), value));
    if let Some(root) = &session.marks.session.root {
        row(both!("project", "プロジェクト"), name(root));
    }
    if let Some(began) = session.marks.session.began {
        row(both!("started", "開始"), data(viewing.clock.minute_with_zone(began)));
    }
    let (meter, forecast) = here.meter(Some(session), None);
    row(
        both!("context", "コンテキスト"),
        describe_reading(&MeterRecord::from_meter(&meter, forecast, here.now), session.id.host().name()),
    );
    if let Some(open) = Unverified::of(here, session) {
        let [open, enough] = open.lines();
        row(both!("not checked", "未検証"), Text::from(open).warning() + data("\n") + enough);
    }
    if let Some(cycle) = Cycle::of(here, session) {
        row(both!("stages", "ステージ"), cycle.line().into());
    }
    if let Some(workflow) = InWorkflow::of(here, session) {
        row(both!("workflow", "ワークフロー"), workflow.line().into());
    }
    let mut page = Page::new();
    page.pairs(rows);
    page
}

fn draw(viewing: &Viewing<'_>, host: Host, curve: &Curve, events: &[Record]) -> Markup {
    let Some(last) = curve.points.last() else {
        return html! { p.dim { (viewing.say(&both!("No reading yet.", "まだ測定値がありません。"))) } };
    };
    let most = curve.points.iter().map(|point| point.used).max().unwrap_or_default();
    let count = |kind: SignKind| curve.signs.iter().filter(|sign| sign.kind == kind).count();
    let (compactions, warnings, blocks) =
        (count(SignKind::Compaction), count(SignKind::Warning), count(SignKind::Block));
    let summary = both!(
        "{most} tokens at most, {now} now; {c}, {w}, {b}",
        "最大{most}トークン、現在{now}。圧縮{compactions}回、警告{warnings}回、ブロックと確認{blocks}回",
        most = short_tokens(most),
        now = short_tokens(last.used),
        compactions = compactions,
        warnings = warnings,
        blocks = blocks,
        c = count_en(compactions, "compaction"),
        w = count_en(warnings, "warning"),
        b = count_en(blocks, "block")
    );
    let by_id: BTreeMap<&str, &Record> = events.iter().map(|record| (record.id.as_str(), record)).collect();
    let title = |sign: &Sign| {
        let at = viewing.clock.minute(sign.at);
        let record = by_id.get(sign.id.as_str());
        // A label has no code. The shape is not heard, so the kind comes first.
        let plain = |text: Text| text.plain(viewing.site.lang).replace('`', "").replace('\n', ", ");
        let said = record.and_then(|record| headline(record)).map(plain);
        let kind = sign.kind.title();
        let kind = viewing.say(&kind);
        let link = viewing.site.link(&format!("event/{}", escape(&sign.id)));
        let label = match said {
            Some(said) => both!("{kind}, {at}: {said}", "{kind}（{at}）: {said}"),
            None => both!("{kind}, {at}", "{kind}（{at}）"),
        };
        (Some(link), viewing.say(&label).to_owned())
    };
    let compacts = both!("where {host} compacts", "{host} が圧縮する位置", host = Host::title(host.name()));
    // A short session begins and ends in the same minute.
    let is_short = curve
        .points
        .first()
        .is_some_and(|first| viewing.clock.minute(first.at) == viewing.clock.minute(last.at));
    let time = |at| if is_short { viewing.clock.second(at) } else { viewing.clock.minute(at) };
    let words = CurveWords { summary: viewing.say(&summary), time: &time, sign: &title };
    let (first, second) = (both!("time", "時刻"), both!("tokens", "トークン"));
    html! {
        figure {
            div.wide tabindex="0" { (curve.draw(&words)) }
            figcaption {
                (viewing.say(&summary)) (viewing.say(&both!(". ", "。")))
                (viewing.say(&both!("Each step is one reading; pauses are left out.", "1目盛りが1回の測定です。待ち時間は含みません。")))
                ul.legend aria-hidden="true" {
                    @for kind in [SignKind::Warning, SignKind::Block, SignKind::Compaction] {
                        li class=(format!("{kind:?}").to_lowercase()) { (viewing.say(&kind.title())) }
                    }
                    @if curve.end().is_some() { li.end { (viewing.say(&compacts)) } }
                }
            }
            details {
                summary { (viewing.say(&both!("Readings as a table", "測定値の表"))) }
                div.wide tabindex="0" {
                    table {
                        thead { tr { th scope="col" { (viewing.say(&first)) } th.number scope="col" { (viewing.say(&second)) } } }
                        tbody {
                            @for point in curve.points.iter().rev().take(200) {
                                tr { td { (viewing.clock.exact(point.at)) } td.number { (point.used) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// From the memory, if there is one.
fn exchanges(viewing: &Viewing<'_>, id: &str) -> Result<Option<Markup>, ViewError> {
    let filter = Filter { session: Some(id.to_owned()), ..Filter::default() };
    let logs = memory::look(viewing, |memory| {
        Ok(memory.logs(&filter, &RowPage { limit: EXCHANGES, after: None })?.rows)
    })?;
    Ok(logs.filter(|logs| !logs.is_empty()).map(|logs| memory::log_list(viewing, &logs)))
}
