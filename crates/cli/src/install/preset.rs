//! The preset that `init --preset` chooses, in the user's config: text in, text out, comments and format kept.

use toml_edit::{Document, DocumentMut, Item, Table, TableLike, value};

use crate::json_text::{Fault, fault_at};

#[derive(Clone, Copy, Debug)]
pub(crate) enum PresetOwner<'a> {
    /// By its path.
    Project(&'a str),
    /// For all other projects.
    User,
}

/// `None` stands for no file.
pub(crate) fn set_preset(text: Option<&str>, of: PresetOwner<'_>, preset: &str) -> Result<String, Fault> {
    let text = text.unwrap_or_default();
    let mut document = parse_config(text)?;
    let section: &mut dyn TableLike = match of {
        PresetOwner::User => document.as_table_mut(),
        PresetOwner::Project(root) => {
            let projects = document.entry("project").or_insert_with(|| {
                let mut projects = Table::new();
                projects.set_implicit(true);
                Item::Table(projects)
            });
            let projects = projects.as_table_like_mut().ok_or_else(|| no_table(text, &["project"]))?;
            let project = projects.entry(root).or_insert_with(|| Item::Table(Table::new()));
            project.as_table_like_mut().ok_or_else(|| no_table(text, &["project", root]))?
        }
    };
    if section.get("preset").and_then(Item::as_str) == Some(preset) {
        return Ok(text.to_owned());
    }
    match section.get_mut("preset").and_then(Item::as_value_mut) {
        Some(there) => {
            let decor = there.decor().clone();
            *there = preset.into();
            *there.decor_mut() = decor;
        }
        None => {
            section.insert("preset", value(preset));
        }
    }
    Ok(render_document(text, &document))
}

pub(crate) fn read_preset(text: &str, of: PresetOwner<'_>) -> Option<String> {
    let document = parse_config(text).ok()?;
    let section = match of {
        PresetOwner::User => Some(document.as_item()),
        PresetOwner::Project(root) => document.get("project").and_then(|projects| projects.get(root)),
    };
    Some(section?.get("preset")?.as_str()?.to_owned())
}

/// Puts back the one that was there `before`.
pub(crate) fn restore_preset(
    text: &str,
    of: PresetOwner<'_>,
    before: Option<&str>,
) -> Result<Option<String>, Fault> {
    match before {
        Some(before) => set_preset(Some(text), of, before).map(Some),
        None => remove_preset(text, of),
    }
}

/// Also removes sections that are empty then; `None` when nothing is left.
fn remove_preset(text: &str, of: PresetOwner<'_>) -> Result<Option<String>, Fault> {
    let mut document = parse_config(text)?;
    let removed = match of {
        PresetOwner::User => document.remove("preset").is_some(),
        PresetOwner::Project(root) => {
            let projects = document.get_mut("project").and_then(Item::as_table_like_mut);
            let removed = projects.is_some_and(|projects| {
                let project = projects.get_mut(root).and_then(Item::as_table_like_mut);
                let removed =
                    project.and_then(|project| Some((project.remove("preset")?, project.is_empty())));
                if let Some((_, true)) = removed {
                    projects.remove(root);
                }
                removed.is_some()
            });
            let projects = document.get("project").and_then(Item::as_table_like);
            if removed && projects.is_some_and(TableLike::is_empty) {
                document.remove("project");
            }
            removed
        }
    };
    let left = if removed { render_document(text, &document) } else { text.to_owned() };
    Ok((!removed || !left.trim().is_empty()).then_some(left))
}

fn parse_config(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        fault_at(text, error.span().map_or(0, |span| span.start), error.message().trim())
    })
}

/// Only an unchanged document knows positions.
fn no_table(text: &str, path: &[&str]) -> Fault {
    let document = Document::parse(text).ok();
    let item = document
        .as_ref()
        .and_then(|document| path.iter().try_fold(document.as_item(), |item, key| item.get(key)));
    let at = item.and_then(Item::span).map_or(0, |span| span.start);
    fault_at(text, at, format!("`{}` is not a table", path.join(".")))
}

/// With the newlines of the file.
fn render_document(text: &str, document: &DocumentMut) -> String {
    let new = document.to_string();
    if text.contains("\r\n") { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "/home/me/my \"app\"";
    const THIS: PresetOwner<'_> = PresetOwner::Project(ROOT);

    #[test]
    fn it_goes_in_and_out_and_nothing_else_changes() {
        for text in [
            "# mine\nlang = \"ja\"   # yes\n\n[context_warning]\nearly   =  \"47k\"\n",
            "[meter]\r\nwindow = 1\r\n",
            "[project.\"/other\"]\npreset = \"guide\"\n",
            "# only a comment\n",
        ] {
            for of in [THIS, PresetOwner::User] {
                let with = set_preset(Some(text), of, "strict").unwrap();
                assert!(with.contains("preset = \"strict\""), "{with}");
                assert_eq!(set_preset(Some(&with), of, "strict").unwrap(), with);
                let other = set_preset(Some(&with), of, "observe").unwrap();
                assert_eq!(with.replace("strict", "observe"), other);
                assert_eq!(
                    (read_preset(text, of), read_preset(&other, of)),
                    (None, Some("observe".to_owned()))
                );
                assert_eq!(restore_preset(&other, of, Some("strict")).unwrap(), Some(with));
                assert_eq!(remove_preset(&other, of).unwrap().as_deref(), Some(text), "{other}");
                assert_eq!(remove_preset(text, of).unwrap().as_deref(), Some(text));
            }
        }
    }

    #[test]
    fn a_new_file_is_its_section_alone() {
        let new = set_preset(None, THIS, "guide").unwrap();
        assert_eq!(new, "[project.'/home/me/my \"app\"']\npreset = \"guide\"\n");
        assert_eq!(remove_preset(&new, THIS).unwrap(), None);
        let new = set_preset(None, PresetOwner::User, "guide").unwrap();
        assert_eq!(
            (new.as_str(), remove_preset(&new, PresetOwner::User).unwrap()),
            ("preset = \"guide\"\n", None)
        );
    }

    #[test]
    fn other_keys_of_the_section_stay() {
        let text = format!("[project.{}]\nother = 1 # mine\n", toml_edit::Key::new(ROOT));
        let with = set_preset(Some(&text), THIS, "strict").unwrap();
        assert_eq!(remove_preset(&with, THIS).unwrap().as_deref(), Some(text.as_str()));
    }

    #[test]
    fn a_broken_config_is_refused_where_it_breaks() {
        for (text, line) in [
            ("a = 1\n[x\n", 2),
            ("a = 1\nproject = 1\n", 2),
            ("a = 1\na = 2\n", 2),
            ("[project]\n\"/x\" = 1\n", 2),
        ] {
            let fault = set_preset(Some(text), PresetOwner::Project("/x"), "strict").expect_err(text);
            assert_eq!(fault.line, line, "{text}: {fault:?}");
        }
    }
}
