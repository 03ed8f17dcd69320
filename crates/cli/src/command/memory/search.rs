//! `tidegate memory search`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::act::{self, Authored};
use tidegate_memory::view::{HitKind, Query};

use super::row_filter::RowFilter;
use super::{Opened, count_waiting_jobs, is_none, line, say_waiting, team};
use crate::command::Outcome;
use crate::print;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory search busy timeout
  tidegate memory search '\"busy timeout\"' --project . --since 30d
  tidegate memory search 設計 --kind decision --kind log
  tidegate memory search parser --json | jq -r '.results[] | .at + \" \" + .title'

Finds texts with all words, in English and Japanese; put a phrase in double quotes.
If no text has all words, it finds those with the most. The last word may be the
beginning of one. Searches logs, decisions and topics of all projects, and the
learnings and progress notes of projects that were worked in.")]
pub(crate) struct Args {
    /// Words to look for
    #[arg(value_name = "QUERY", required = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: RowFilter,
    /// Only this kind; can be repeated
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<KindName>,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200))]
    pub(crate) limit: u16,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum KindName {
    Log,
    Decision,
    Topic,
    Stock,
    Progress,
}

impl KindName {
    pub(crate) fn kind(self) -> HitKind {
        match self {
            KindName::Log => HitKind::Log,
            KindName::Decision => HitKind::Decision,
            KindName::Topic => HitKind::Topic,
            KindName::Stock => HitKind::Stock,
            KindName::Progress => HitKind::Progress,
        }
    }
}

#[derive(Serialize)]
struct Results {
    results: Vec<Authored>,
    /// Jobs that wait for a worker, if any.
    #[serde(skip_serializing_if = "is_none")]
    waiting: usize,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (hits, note, waiting) = match Opened::look()? {
        None => (Vec::new(), None, count_waiting_jobs(&Here::find()?)),
        Some(mut opened) => {
            let filter = opened.filter(&args.filter)?;
            // The project's own files may have changed since the worker read them.
            if let (Some(root), Some(own)) = (opened.here.root.clone(), opened.own.clone()) {
                opened.memory.refresh_notes(&root, &own.key)?;
            }
            let kinds: Vec<HitKind> = args.kind.iter().map(|kind| kind.kind()).collect();
            let query = Query { text: args.query.join(" "), kinds, filter, limit: args.limit.into() };
            let found = team::search_with_team(&opened.here, &mut opened.memory, &query)?;
            let note = found.note();
            let hits = act::with_authors(&mut opened.memory, found.hits)?;
            (hits, note, count_waiting_jobs(&opened.here))
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
