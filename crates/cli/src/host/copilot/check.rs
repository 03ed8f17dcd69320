//! `doctor`: the hooks in Copilot's own files, and whether it runs hooks at all.

use serde_json::Value;

use super::registrations::HOOKS;
use crate::bilingual::both;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::settings_file::read_text;
use crate::host::installed::Installed;
use crate::json_text::Document;

/// Settings below a project, which switch off the person's hooks there, too.
const IN_PROJECT: [&str; 2] = [".github/copilot/settings.json", ".github/copilot/settings.local.json"];

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let installed = Installed::find(&HOOKS, seen, found);
    for file in &installed.files {
        let is_off = file.value()["disableAllHooks"] == true;
        if is_off {
            report_switch(&file.path.display().to_string(), found);
        }
        if installed.check_entries(file, found) && !is_off {
            installed.is_complete(file, found);
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
            }
        }
    }
    let hint = both!(
        " It runs a project's hooks only in a folder that you trust.",
        "プロジェクトのフックは、信頼したフォルダでだけ動きます。"
    );
    installed.finish(hint, found);
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
