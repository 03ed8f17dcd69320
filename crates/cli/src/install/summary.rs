//! What an install says: the changes in about ten lines, all of them as a diff, or the few things to know afterwards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::place::Place;
use super::record::Kind;
use super::step::{Act, Step};
use super::target::Target;
use crate::bilingual::{Bilingual, both};
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data};

/// For machines, before and after.
pub(crate) fn print_json(
    steps: &[Step],
    shows: bool,
    backup: Option<&Path>,
    warnings: &[Bilingual],
    more: serde_json::Value,
) {
    let mut report = json!({
        "changes": steps.iter().map(|step| step.json(shows)).collect::<Vec<_>>(),
        "backup": backup.map(Path::to_string_lossy),
        "warnings": warnings.iter().map(|warning| warning.en.as_str()).collect::<Vec<_>>(),
        "dry_run": shows,
    });
    if let (Some(report), serde_json::Value::Object(more)) = (report.as_object_mut(), more) {
        report.extend(more);
    }
    print::json(&report);
}

pub(crate) fn print_warnings(warnings: &[Bilingual]) {
    let mut page = Page::new();
    for warning in warnings {
        page.labelled(Text::from(both!("warning", "警告")).warning(), warning.clone());
    }
    page.print_to_stderr();
}

/// Every changed text, settings first: executed in this order they would call a missing program.
pub(crate) fn diff_page(steps: &[Step], target: &Target) -> Page {
    let mut steps: Vec<&Step> = steps.iter().filter(|step| step.changes()).collect();
    steps.sort_by_key(|step| step.kind != Some(Kind::Settings));
    let mut page = Page::new();
    for step in steps {
        match step.diff() {
            Some(diff) => {
                page.verbatim(diff);
                if step.shows_part() {
                    let path = shown_path(&step.place, target);
                    page.paragraph(both!(
                        "Only Tidegate's part of {path} is shown; the rest stays as it is.",
                        "{path} は Tidegate の部分だけを表示しています。ほかは変わりません。"
                    ));
                }
            }
            None => page.paragraph(data(shown_path(&step.place, target)) + data(": ") + step.detail.clone()),
        }
    }
    page
}

/// One line per file, or per folder of shipped files, settings first.
pub(crate) fn list_changes(steps: &[Step], target: &Target) -> Vec<Text> {
    let mut steps: Vec<&Step> = steps.iter().filter(|step| step.changes()).collect();
    steps.sort_by_key(|step| match step.kind {
        Some(Kind::Settings) => 0,
        Some(Kind::Server) => 1,
        Some(_) => 2,
        None => 3,
    });
    let mut lines: Vec<(String, Bilingual)> = Vec::new();
    let mut folders: BTreeMap<(String, bool), Vec<String>> = BTreeMap::new();
    for step in steps {
        let path = shown_path(&step.place, target);
        match (&step.act, step.kind) {
            (Act::Text { new, .. }, Some(Kind::Shipped)) => {
                let (folder, name) = shipped_name(&path);
                folders.entry((folder, new.is_none())).or_default().push(name);
            }
            _ => lines.push((path, step.detail.clone())),
        }
    }
    for ((folder, are_removed), names) in folders {
        let names = names.join(", ");
        let what =
            if are_removed { both!("removes {names}", "{names} を削除") } else { Bilingual::data(names) };
        lines.push((folder, what));
    }
    lines.into_iter().map(|(path, what)| data(path).strong() + data(": ") + what).collect()
}

/// `.claude/skills/` and `compound`, of `.claude/skills/compound/SKILL.md`.
fn shipped_name(path: &str) -> (String, String) {
    let path = path.strip_suffix("/SKILL.md").or(path.strip_suffix(".md")).unwrap_or(path);
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    (format!("{folder}/"), name.to_owned())
}

/// Files that were left as they are although they matter, and changes that a person has to act on.
pub(crate) fn list_notable(page: &mut Page, steps: &[Step], target: &Target) {
    for step in steps.iter().filter(|step| step.is_notable) {
        page.labelled(data(shown_path(&step.place, target)), step.detail.clone());
    }
}

/// Below the project, or with `~` for the home.
pub(crate) fn shown_path(place: &Place, target: &Target) -> String {
    if let (false, Ok(below)) = (target.is_user, place.file.strip_prefix(&target.root)) {
        return below.display().to_string();
    }
    tilde(&place.shown, target.env.place.home.as_deref())
}

/// `~/code/app` for a folder in the home.
pub(crate) fn tilde(path: &Path, home: Option<&Path>) -> String {
    let below = home.filter(|home| home.parent().is_some()).and_then(|home| path.strip_prefix(home).ok());
    match below {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => PathBuf::from("~").join(below).display().to_string(),
        None => path.display().to_string(),
    }
}

/// `1.2 MB`, in powers of ten as file managers show it.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_paths_are_short() {
        assert_eq!([0, 999, 1_000, 1_001, 1_250_000].map(size), ["0 B", "999 B", "1 KB", "2 KB", "1.2 MB"]);
        let home = Some(Path::new("/home/me"));
        assert_eq!(tilde(Path::new("/home/me/code"), home), "~/code");
        assert_eq!(tilde(Path::new("/home/me"), home), "~");
        assert_eq!(tilde(Path::new("/opt"), home), "/opt");
        assert_eq!(tilde(Path::new("/opt"), Some(Path::new("/"))), "/opt");
        assert_eq!(shipped_name(".claude/skills/ship/SKILL.md"), (".claude/skills/".into(), "ship".into()));
    }
}
