//! `doctor`: the hooks in Copilot's own files, and whether it runs hooks at all.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::registrations::HOOKS;
use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::settings_file::{Scope, read_text};
use crate::host::installed::Installed;
use crate::json_text::Document;
use crate::path::real_path;

/// Settings below a project, which switch off the person's hooks there, too.
const IN_PROJECT: [&str; 2] = [".github/copilot/settings.json", ".github/copilot/settings.local.json"];

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let installed = Installed::find(&HOOKS, seen, found);
    let mut run = Vec::new();
    for file in &installed.files {
        let is_off = file.value()["disableAllHooks"] == true;
        if is_off {
            report_switch(&file.path.display().to_string(), found);
        }
        let is_complete = installed.check_entries(file, found);
        if file.scope == Scope::Local && !is_trusted(seen) {
            report_project(seen, found);
        } else if !is_off {
            run.push(file);
            if is_complete {
                installed.is_complete(file, found);
            }
        }
    }
    if !installed.files.is_empty() {
        let of_project = seen.project.iter().flat_map(|project| IN_PROJECT.map(|file| project.join(file)));
        let of_person = HOOKS.person_folder(&seen.env.place).map(|folder| folder.join("settings.json"));
        for path in of_project.chain(of_person) {
            let text = read_text(&path).unwrap_or_default();
            let settings: Value =
                Document::parse(&text).map(|document| document.value(&document.root)).unwrap_or_default();
            if settings["disableAllHooks"] == true {
                report_switch(&path.display().to_string(), found);
                run.clear();
            }
        }
    }
    installed.finish(&run, Bilingual::default(), found);
}

/// Copilot writes it, with comments at its beginning. Settings of this name in other files do not count (1.0.102).
fn trust_file(seen: &Gathered) -> Option<PathBuf> {
    HOOKS.person_folder(&seen.env.place).map(|folder| folder.join("config.json"))
}

/// A folder is trusted with everything below it.
fn is_trusted(seen: &Gathered) -> bool {
    let (Some(file), Some(project)) = (trust_file(seen), seen.project.as_deref()) else { return true };
    let text = read_text(&file).unwrap_or_default();
    let config: Value =
        Document::parse(&text).map(|document| document.value(&document.root)).unwrap_or_default();
    // Copilot gives the older name the new form.
    let folders = ["trustedFolders", "trusted_folders"].iter().filter_map(|name| config[name].as_array());
    let folders = folders.flatten().filter_map(Value::as_str).map(Path::new);
    let mut folders = folders.filter(|folder| folder.is_absolute());
    folders.any(|folder| project.starts_with(folder) || real_path(project).starts_with(real_path(folder)))
}

fn report_project(seen: &Gathered, found: &mut Findings) {
    let project = seen.project.as_deref().unwrap_or(Path::new(".")).display();
    let file = trust_file(seen).unwrap_or_default();
    let file = file.display();
    found.problem(
        both!(
            "Copilot CLI does not trust {project} (`trustedFolders` in {file}), so it runs the hooks there only with `--trust-folder`.",
            "Copilot CLI は {project} を信頼していないため、`--trust-folder` を付けたときだけ、そこのフックを実行します（{file} の `trustedFolders`）。"
        ),
        both!(
            "Start `copilot` there and trust the folder for all sessions; only you can.",
            "そこで `copilot` を起動し、フォルダを今後も信頼するよう選んでください（ご自身でしかできません）。"
        ),
    );
}

fn report_switch(path: &str, found: &mut Findings) {
    found.problem(
        both!(
            "{path} switches hooks of Copilot CLI off (`disableAllHooks`).",
            "{path} で Copilot CLI のフックがオフになっています（`disableAllHooks`）。"
        ),
        both!(
            "Remove `disableAllHooks` from the file.",
            "ファイルから `disableAllHooks` を削除してください。"
        ),
    );
}
