//! Stages and workflows of the sessions that were last seen.

use std::collections::BTreeSet;
use std::path::Path;

use maud::html;
use tidegate_core::event::SessionId;
use tidegate_core::text::short_id::short_id;

use super::{Shown, Viewing, folder_name};
use crate::bilingual::both;
use crate::command::status::{Cycle, InWorkflow};
use crate::print::text::Text;
use crate::web::document::Part;
use crate::web::site::escape;

pub(super) fn show(mut viewing: Viewing<'_>) -> Shown {
    let title = both!("Stages and workflows", "ステージとワークフロー");
    let mut seen = BTreeSet::new();
    let sessions = std::mem::take(&mut viewing.seen.recent);
    let mut recent: Vec<_> = sessions.iter().collect();
    recent.sort_by_key(|(_, session)| std::cmp::Reverse(session.last));
    let mut rows = Vec::new();
    for (id, _) in recent {
        let Some(session) = SessionId::parse(id).ok().and_then(|id| viewing.here.open(id).ok()) else {
            continue;
        };
        let root = session.marks.session.root.clone().unwrap_or_default();
        // The project's own config declares its cycles. The folder may be gone.
        let is_there = viewing.here.look_at(Path::new(&root)).is_ok();
        if !is_there {
            continue;
        }
        // A cycle belongs to the project: each is listed once, with the session that was seen last.
        let cycle = Cycle::of(&viewing.here, &session).filter(|_| seen.insert(root.clone()));
        let workflow = InWorkflow::of(&viewing.here, &session);
        let lines: Vec<Text> = [cycle.map(|cycle| cycle.line()), workflow.map(|workflow| workflow.line())]
            .into_iter()
            .flatten()
            .map(Text::from)
            .collect();
        if !lines.is_empty() {
            rows.push((id.clone(), root, lines));
        }
    }
    let body = html! {
        h1 { (viewing.say(&title)) }
        @if rows.is_empty() {
            p.dim { (viewing.show(&both!(
                "No cycle or workflow in the last days. `tidegate cycle start` and `tidegate workflow start` begin one.",
                "この数日、サイクルやワークフローはありません。`tidegate cycle start` または `tidegate workflow start` で始められます。"
            ))) }
        }
        ul.cards {
            @for (id, root, lines) in &rows {
                li { article.card {
                    h2 { (folder_name(root)) }
                    @for line in lines { p { (line.html(viewing.site.lang)) } }
                    p.dim { a href=(viewing.site.link(&format!("session/{}", escape(id)))) { (short_id(id)) } }
                } }
            }
        }
    };
    Shown { part: Part::Work, address: "work".to_owned(), title: viewing.say(&title).to_owned(), body }
}
