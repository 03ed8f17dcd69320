//! The config as a JSON schema, for editors, and as a page, for people. Both come from the sections' declarations.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use super::Config;
use super::layer::{path, variable};
use super::section::{Key, Project, Section};
use super::setting::Shape;
use super::value::Value;

/// The JSON schema of a config file.
pub fn schema() -> Json {
    let config = Config::default();
    let mut properties = Map::new();
    let mut of_project = Map::new();
    for section in config.sections() {
        let keys: Map<String, Json> =
            section.keys().iter().map(|key| (key.name.to_owned(), key_schema(section, key))).collect();
        if section.name().is_empty() {
            properties.extend(keys.clone());
            of_project.extend(keys);
        } else {
            let section_schema = json!({
                "type": "object", "additionalProperties": false, "properties": keys,
            });
            properties.insert(section.name().to_owned(), section_schema.clone());
            of_project.insert(section.name().to_owned(), section_schema);
        }
    }
    properties.insert(
        "project".to_owned(),
        json!({
            "type": "object",
            "description": "In the user's config only: settings for one project, by the path of its root.",
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

fn key_schema(section: &dyn Section, key: &Key) -> Json {
    let mut schema = match key.shape {
        Shape::Choice(names) => json!({ "enum": names }),
        Shape::Whole(least, u64::MAX) => json!({ "type": "integer", "minimum": least }),
        Shape::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Shape::Text { pattern, .. } => json!({ "type": "string", "pattern": pattern }),
        Shape::List(names) => json!({ "type": "array", "items": { "enum": names } }),
    };
    schema["description"] = key.doc.trim().into();
    let default = section.get(key.name);
    if default != Value::Nothing {
        schema["default"] = default.json();
    }
    schema
}

/// The reference page.
pub fn page() -> String {
    let mut page = String::from(
        "# Settings\n\n\
         Every key with its default, its variable, and what a project's own file may do with it:\n\
         *tightens* (only to a stricter value), *with trust* (after `tidegate trust`), *never*.\n",
    );
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
            let project = match key.project {
                Project::Tightens => "tightens",
                Project::WithTrust => "with trust",
                Project::Never => "never",
            };
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {project} | {} |",
                key.name,
                shown(&section.get(key.name)),
                takes(key.shape),
                of_variable(section, key)
            );
        }
        page.push('\n');
        for key in section.keys() {
            let _ = writeln!(page, "- `{}`: {}", path(section.name(), key.name), key.doc.trim());
        }
    }
    page
}

/// What only the user's file may say has none.
fn of_variable(section: &dyn Section, key: &Key) -> String {
    match key.project {
        Project::Never => "none".to_owned(),
        Project::Tightens | Project::WithTrust => format!("`{}`", variable(section.name(), key.name)),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Nothing => "not set".to_owned(),
        value => format!("`{value}`"),
    }
}

fn takes(shape: Shape) -> String {
    let names = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match shape {
        Shape::Choice(choices) => names(choices),
        Shape::Whole(least, u64::MAX) => format!("a whole number from {least}"),
        Shape::Whole(least, most) => format!("a whole number from {least} to {most}"),
        Shape::Text { example, .. } => example.to_owned(),
        Shape::List(items) => format!("a list of {}", names(items)),
    }
}
