//! `tidegate memory search`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::act::{self, Authored};
use tidegate_memory::view::{HitKind, Query};

use super::arguments::Search;
use super::{Opened, is_none, line, say_waiting, team, waiting};
use crate::command::Outcome;
use crate::print;
use crate::sessions::Here;

#[derive(Serialize)]
struct Results {
    results: Vec<Authored>,
    /// Jobs that wait for a worker, if any.
    #[serde(skip_serializing_if = "is_none")]
    waiting: usize,
}

pub(super) fn run(args: &Search) -> Outcome {
    let (hits, note, waiting) = match Opened::look()? {
        None => (Vec::new(), None, waiting(&Here::find()?)),
        Some(mut opened) => {
            let filter = opened.filter(&args.of)?;
            // The project's own files may have changed since the worker looked.
            if let (Some(root), Some(own)) = (opened.here.root.clone(), opened.own.clone()) {
                opened.memory.refresh_notes(&root, &own.key)?;
            }
            let kinds: Vec<HitKind> = args.kind.iter().map(|kind| kind.kind()).collect();
            let query = Query { text: args.query.join(" "), kinds, filter, limit: args.limit.into() };
            let found = team::search(&opened.here, &mut opened.memory, &query)?;
            let note = found.note();
            let hits = act::with_authors(&mut opened.memory, found.hits)?;
            (hits, note, waiting(&opened.here))
        }
    };
    if let Some(note) = &note {
        print::to_stderr(&format!("note: {note}"));
    }
    say_waiting(waiting);
    if args.json {
        print::json(&Results { results: hits, waiting });
        return Ok(ExitCode::SUCCESS);
    }
    if hits.is_empty() {
        print::to_stderr("nothing was found");
    }
    for Authored { hit, by } in &hits {
        let place = match (&hit.project, &hit.topic) {
            (Some(project), Some(topic)) if hit.kind != HitKind::Topic => format!("{project}: {topic}"),
            (project, _) => project.clone().unwrap_or_default(),
        };
        let kind = match hit.kind {
            HitKind::Log => "log",
            HitKind::Decision => "decision",
            HitKind::Topic => "topic",
            HitKind::Stock => "stock",
            HitKind::Progress => "progress",
        };
        let at = hit.at[..16].replace('T', " ");
        let shown = print::line(&format!(
            "{at}  {kind} {}  {}  ({}{})",
            line(&hit.id, 60),
            line(&hit.title, 100),
            line(&place, 80),
            by.as_ref().map(|by| format!("; {by}")).unwrap_or_default()
        )) && (hit.snippet.is_empty() || print::line(&format!("    {}", hit.snippet)));
        if !shown {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}
