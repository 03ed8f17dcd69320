//! The tool `list_projects`.

use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_memory::view::Page;

use super::{Does, Done, Tool, arguments, parse_arguments, rows, schema};
use crate::command::mcp::memory::Memory;

pub(super) const LIST: Tool = Tool { name: "list_projects", definition, does: Does::Looks(call) };

fn definition() -> Value {
    json!({
        "title": "Projects",
        "description": "List projects with recorded conversations, the last active one first.",
        "inputSchema": schema::object(json!({
            "limit": schema::limit(arguments::USUAL, arguments::MOST),
            "after": schema::after(),
        }), &[]),
        "outputSchema": rows::page_schema("projects", &rows::project_schema(), "The projects"),
        "annotations": schema::reads(),
    })
}

#[derive(Deserialize)]
struct ProjectsArguments {
    limit: Option<usize>,
    after: Option<String>,
}

fn call(given: Value, memory: Option<&mut Memory>) -> Done {
    let ProjectsArguments { limit, after } = parse_arguments(given)?;
    let nothing = "Nothing is recorded yet; conversations are recorded as you work.";
    let Some(memory) = memory else { return Ok(rows::empty_page("projects", nothing)) };
    let own = memory.own_project()?.map(|own| own.id);
    let page = Page { limit: limit.unwrap_or(arguments::USUAL), after };
    let projects = memory.store().projects(&page)?;
    let this = |id: i64| own == Some(id);
    Ok(rows::page_content(
        "projects",
        &projects,
        |row| rows::project_json(row, this(row.id)),
        |row| rows::project_line(row, this(row.id)),
        nothing,
    ))
}
