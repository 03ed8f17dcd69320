//! The tool `list_unpromoted`: progress notes that a person has not reviewed.

use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_core::text::cut::cut_after_word;

use super::{Content, Does, Done, Tool, parse_arguments, schema};
use crate::error::CliError;
use crate::knowledge::{self, Entry, KnowledgeFiles, shorten_id};
use crate::sessions::Here;

pub(super) const TOOL: Tool = Tool { name: "list_unpromoted", definition, does: Does::Plain(call) };

/// The rest of an entry is in its file, which is named.
const SHOWN_CHARS: usize = 600;

fn definition() -> Value {
    use schema::{count, text};
    let entry = schema::object(
        json!({
            "id": text("The entry's id, for `tidegate compound promote` and `tidegate progress show`"),
            "at": text("When it was written, if it says so"),
            "what": text("The step that was done"),
            "body": text("What it says, shortened"),
            "file": text("The file below .claude/context"),
            "line": count("Its line there"),
        }),
        &["id", "what", "body", "file", "line"],
    );
    json!({
        "title": "Progress notes to review",
        "description": "List this project's progress notes that the person has not reviewed yet, newest first. `/compound` goes \
            through them with the person.",
        "inputSchema": schema::object(json!({ "limit": schema::limit(20, 100), "after": schema::after() }), &[]),
        "outputSchema": schema::object(json!({
            "entries": schema::list(&entry, "The entries"),
            "total": count("How many there are in all"),
            "next": text("What `after` has to be for the next page; absent on the last one"),
        }), &["entries", "total"]),
        "annotations": schema::reads(),
    })
}

#[derive(Deserialize)]
struct UnpromotedArguments {
    #[serde(default = "default_limit")]
    limit: usize,
    after: Option<String>,
}

fn default_limit() -> usize {
    20
}

fn call(given: Value) -> Done {
    let UnpromotedArguments { limit, after } = parse_arguments(given)?;
    let here = Here::find()?;
    let root = here.root.clone().ok_or_else(|| {
        CliError::new("the project is not known")
            .hint("ask the person to start the agent in a project's folder")
    })?;
    let mut entries = knowledge::read_knowledge(&here, &root, KnowledgeFiles::Notes)?.entries();
    entries.retain(|entry| entry.unpromoted);
    let total = entries.len();
    let begin = match &after {
        None => 0,
        Some(after) => {
            1 + entries.iter().position(|entry| entry.id.to_string() == *after).ok_or_else(|| {
                CliError::new("`after` is not a note of this list")
                    .hint("call again without `after`: notes were reviewed in between")
            })?
        }
    };
    let page = &entries[begin..entries.len().min(begin + limit)];
    let next = page.last().filter(|_| begin + page.len() < total).map(|last| last.id.to_string());
    let mut lines = vec![match total {
        0 => "Every progress note is reviewed.".to_owned(),
        _ => format!("{} of {total} progress notes that are not reviewed yet:", page.len()),
    }];
    lines.extend(page.iter().map(entry_line));
    if let Some(next) = &next {
        lines.push(format!("More with after: \"{next}\"."));
    }
    let shown: Vec<Value> = page
        .iter()
        .map(|entry| {
            let mut shown = json!({
                "id": entry.id.to_string(), "what": entry.what, "body": cut_after_word(&entry.body, SHOWN_CHARS),
                "file": entry.file, "line": entry.line,
            });
            if let Some(at) = &entry.at {
                shown["at"] = json!(at);
            }
            shown
        })
        .collect();
    let mut structured = json!({ "entries": shown, "total": total });
    if let Some(next) = next {
        structured["next"] = json!(next);
    }
    Ok(Content { texts: vec![lines.join("\n")], structured })
}

/// Id, time in UTC and title.
fn entry_line(entry: &Entry) -> String {
    let at = entry.at.as_deref().map(|at| format!("{}  ", at[..16].replace('T', " ")));
    format!("{}  {}{}", shorten_id(entry.id), at.unwrap_or_default(), entry.what)
}
