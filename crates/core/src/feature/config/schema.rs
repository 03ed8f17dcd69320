//! The config as a JSON schema for editors and as a page for people, both from the sections' declarations.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use crate::feature::config::Config;
use crate::feature::config::former_names;
use crate::feature::config::layer::{key_path, variable_name};
use crate::settings::section::{Key, Project, Section};
use crate::settings::setting::Shape;
use crate::settings::value::Value;

pub fn json_schema() -> Json {
    let config = Config::default();
    let mut properties = Map::new();
    for section in config.sections() {
        let keys: Map<String, Json> =
            section.keys().iter().map(|key| (key.name.to_owned(), key_schema(section, key))).collect();
        if section.name().is_empty() {
            properties.extend(keys);
            continue;
        }
        let mut section_schema = json!({
            "type": "object", "additionalProperties": false, "properties": keys,
        });
        if let Some(patterns) = section.patterns() {
            let mut each = shape_schema(patterns.shape);
            each["description"] = patterns.doc.trim().into();
            section_schema["patternProperties"] = json!({ PATTERN_KEY: each });
        }
        if let Some(named) = section.named() {
            let mut each = (named.schema)();
            each["description"] = named.doc.into();
            section_schema["additionalProperties"] = each;
        }
        match section.name().split_once('.') {
            None => properties.insert(section.name().to_owned(), section_schema),
            Some((outer, name)) => properties[outer]["properties"]
                .as_object_mut()
                .and_then(|within| within.insert(name.to_owned(), section_schema)),
        };
    }
    for (former, now) in former_names::SECTIONS {
        properties.insert(former.to_owned(), renamed_schema(&format!("[{now}]"), &[now]));
    }
    for (section, former, now) in former_names::KEYS {
        let renamed = renamed_schema(&key_path(section, now), &[section, now]);
        properties[section]["properties"][former] = renamed;
    }
    let of_project = properties.clone();
    properties.insert(
        "project".to_owned(),
        json!({
            "type": "object",
            "description": "Only in your own config: settings for one project, by the path of its root.",
            "additionalProperties": {
                "type": "object", "additionalProperties": false, "properties": of_project,
            },
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tidegate config",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Refers to the name of today, so that an editor accepts a former one and marks it.
fn renamed_schema(now: &str, path: &[&str]) -> Json {
    json!({
        "$ref": format!("#/properties/{}", path.join("/properties/")),
        "deprecated": true,
        "description": format!("Called `{now}` now."),
    })
}

/// Tells a path pattern from a mistyped word; same rule as `glob::looks_like_one`.
const PATTERN_KEY: &str = r"[/*?\[{.]";

fn shape_schema(shape: Shape) -> Json {
    match shape {
        Shape::Choice(names) => json!({ "enum": names }),
        Shape::Whole(least, u64::MAX) => json!({ "type": "integer", "minimum": least }),
        Shape::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Shape::Text { pattern, .. } | Shape::Secret { pattern, .. } => {
            json!({ "type": "string", "pattern": pattern })
        }
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::List(names) => json!({ "type": "array", "items": { "enum": names } }),
        Shape::Texts { .. } => {
            json!({ "type": "array", "uniqueItems": true, "items": { "type": "string", "minLength": 1 } })
        }
    }
}

fn key_schema(section: &dyn Section, key: &Key) -> Json {
    let mut schema = shape_schema(key.shape);
    schema["description"] = key.doc.trim().into();
    let default = section.get(key.name);
    if default != Value::Nothing {
        schema["default"] = default.json();
    }
    schema
}

pub fn reference_page() -> String {
    let mut page = String::from(
        "# Settings\n\n\
         This page lists every key with its default and its variable. The column *project* says what a project's own file\n\
         can do: *tightens* (only to a stricter value), *with trust* (after `tidegate trust`), *never*.\n\n\
         A longer list of requirements is stricter: a project's file can add to it. A shorter list of exemptions is\n\
         stricter: a project's file can only remove from it. In a variable, separate the items of a list with commas.\n\n\
         A path pattern starts at the project's root. `*` is any part of a name, `**` any folders, `?` one character,\n\
         `[abc]` one of them, `{a,b}` one or the other. `src/` is everything below that folder. A pattern without a `/`\n\
         matches the file's name in any folder. Put a pattern that is a key into quotes. Write a name without a dot as\n\
         `\"**/Makefile\"`:\n\n\
         ```toml\n\
         [skill_gate.require]\n\
         \"migrations/**/*.sql\" = [\"database-rules\"]\n\
         ```\n",
    );
    page.push_str(
        "\nTidegate still understands these names of version 0.1. `tidegate config show` and `tidegate doctor` name the new ones.\n\n\
         | 0.1 | now |\n| --- | --- |\n",
    );
    for (former, now) in former_names::SECTIONS {
        let _ = writeln!(page, "| `[{former}]` | `[{now}]` |");
    }
    for (section, former, now) in former_names::KEYS {
        let _ = writeln!(page, "| `{former}` in `[{section}]` | `{now}` |");
    }
    let config = Config::default();
    for section in config.sections() {
        let title = if section.name().is_empty() {
            "Above all sections".to_owned()
        } else {
            format!("`[{}]`", section.name())
        };
        let _ = write!(
            page,
            "\n## {title}\n\n| key | default | takes | project | variable |\n| --- | --- | --- | --- | --- |\n"
        );
        for key in section.keys() {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {} | {} |",
                key.name,
                default_cell(&section.get(key.name)),
                accepted_values(key.shape),
                project_rule(key.project),
                variable_cell(section, key)
            );
        }
        if let Some(patterns) = section.patterns() {
            let (takes, project) = (accepted_values(patterns.shape), project_rule(patterns.project));
            let _ = writeln!(page, "| a path pattern | not set | {takes} | {project} | none |");
        }
        if let Some(named) = section.named() {
            let (what, takes, project) = (named.what, named.takes, project_rule(named.project));
            let _ = writeln!(page, "| {what} | see below | {takes} | {project} | none |");
        }
        page.push('\n');
        for key in section.keys() {
            let _ = writeln!(page, "- `{}`: {}", key_path(section.name(), key.name), key.doc.trim());
        }
        if let Some(patterns) = section.patterns() {
            let _ = writeln!(page, "- `{}.\"…\"`: {}", section.name(), patterns.doc.trim());
        }
        if let Some(named) = section.named() {
            let _ = writeln!(page, "- `[{}.…]`: {}", section.name(), named.doc);
        }
    }
    page
}

fn project_rule(project: Project) -> &'static str {
    match project {
        Project::Tightens => "tightens",
        Project::WithTrust => "with trust",
        Project::Never => "never",
    }
}

/// Keys that only the user's file may set have no variable.
fn variable_cell(section: &dyn Section, key: &Key) -> String {
    match key.project {
        Project::Never => "none".to_owned(),
        Project::Tightens | Project::WithTrust => format!("`{}`", variable_name(section.name(), key.name)),
    }
}

fn default_cell(value: &Value) -> String {
    match value {
        Value::Nothing => "not set".to_owned(),
        value => format!("`{value}`"),
    }
}

fn accepted_values(shape: Shape) -> String {
    let names = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match shape {
        Shape::Choice(choices) => names(choices),
        Shape::Whole(least, u64::MAX) => format!("a whole number from {least}"),
        Shape::Whole(least, most) => format!("a whole number from {least} to {most}"),
        Shape::Text { example, .. } | Shape::Secret { example, .. } => example.to_owned(),
        Shape::Flag => "`true`, `false`".to_owned(),
        Shape::List(items) => format!("a list of {}", names(items)),
        Shape::Texts { of, .. } => format!("a list of {of}"),
    }
}
