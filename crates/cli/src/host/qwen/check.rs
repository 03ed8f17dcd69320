//! `doctor`: the hooks in Qwen Code's settings, and whether it runs hooks at all.

use std::path::Path;

use serde_json::Value;

use super::registrations::HOOKS;
use crate::bilingual::both;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::settings_file::{Scope, read_text};
use crate::host::installed::Installed;
use crate::json_text::Document;
use crate::path::real_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let installed = Installed::find(&HOOKS, seen, found);
    let files = HOOKS.files(seen.project.as_deref(), &seen.env.place);
    let settings =
        |of: Scope| files.iter().find(|(scope, _)| *scope == of).map(|(_, path)| (path, read(path)));
    let (project, person) = (settings(Scope::Local), settings(Scope::User));
    let asks = person.as_ref().is_some_and(|(_, it)| it["security"]["folderTrust"]["enabled"] == true);
    let trust = |project: &&Path| is_trusted(seen, project) != Some(true);
    let distrusted = seen.project.as_deref().filter(|_| asks).filter(trust);
    let mut run = Vec::new();
    for file in &installed.files {
        let is_complete = installed.check_entries(file, found);
        match distrusted.filter(|_| file.scope == Scope::Local) {
            Some(project) if is_trusted(seen, project).is_none() => {
                let project = project.display();
                found.problem(
                    both!(
                        "Qwen Code does not trust {project} yet: it asks when it starts, and `qwen -p` runs no hook of the settings there.",
                        "Qwen Code はまだ {project} を信頼していません。起動時に確認されますが、`qwen -p` はそこの設定のフックを実行しません。"
                    ),
                    both!(
                        "Start `qwen` there and trust the folder.",
                        "そこで `qwen` を起動し、フォルダを信頼してください。"
                    ),
                );
            }
            Some(project) => {
                let project = project.display();
                found.problem(
                    both!(
                        "Qwen Code does not trust {project}, so it reads none of the settings there and runs no hook of them.",
                        "Qwen Code は {project} を信頼していないため、そこの設定を読み込まず、フックも実行しません。"
                    ),
                    both!(
                        "Start `qwen` there and trust the folder with `/trust`.",
                        "そこで `qwen` を起動し、`/trust` でフォルダを信頼してください。"
                    ),
                );
            }
            None => {
                run.push(file);
                if is_complete {
                    installed.is_complete(file, found);
                }
            }
        }
    }
    // The project's word counts more, if it is read.
    let said = [project.filter(|_| distrusted.is_none()), person].into_iter().flatten();
    let mut said = said.filter(|(_, it)| it["disableAllHooks"].is_boolean());
    if let Some((path, _)) =
        said.next().filter(|(_, it)| !installed.files.is_empty() && it["disableAllHooks"] == true)
    {
        run.clear();
        let shown = path.display();
        found.problem(
            both!(
                "{shown} switches all hooks of Qwen Code off (`disableAllHooks`).",
                "{shown} は Qwen Code のすべてのフックをオフにしています（`disableAllHooks`）。"
            ),
            both!(
                "Remove `disableAllHooks` from the file.",
                "ファイルから `disableAllHooks` を削除してください。"
            ),
        );
    }
    let hint = both!(
        " It reads a project's settings only in a folder that it trusts.",
        "プロジェクトの設定は、信頼したフォルダでのみ読み込まれます。"
    );
    installed.finish(&run, hint, found);
}

/// `Null` without a readable file.
fn read(path: &Path) -> Value {
    let text = read_text(path).unwrap_or_default();
    Document::parse(&text).map(|document| document.value(&document.root)).unwrap_or_default()
}

/// The rule for the nearest folder decides, and of two for the same folder the one against it. `None` without
/// a rule: it asks, and reads no settings of the project before the answer (0.24.4).
fn is_trusted(seen: &Gathered, project: &Path) -> Option<bool> {
    let file = seen.env.place.qwen_trust.clone();
    let file = file.or_else(|| Some(HOOKS.person_folder(&seen.env.place)?.join("trustedFolders.json")));
    let rules = file.map(|file| read(&file)).unwrap_or_default();
    let project = real_path(project);
    let nearest = rules.as_object().into_iter().flatten().filter_map(|(path, level)| {
        let path = real_path(Path::new(path));
        let (folder, is_trusted) = match level.as_str()? {
            "TRUST_FOLDER" => (path, true),
            "TRUST_PARENT" => (path.parent()?.to_owned(), true),
            "DO_NOT_TRUST" => (path, false),
            _ => return None,
        };
        project.starts_with(&folder).then(|| (folder.components().count(), !is_trusted))
    });
    nearest.max().map(|(_, is_refused)| !is_refused)
}
