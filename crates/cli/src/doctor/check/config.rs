//! Config files and variables: mistakes, values that wait for trust, values without effect.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::feature::config::layer::FormerName;
use tidegate_core::host::claude_code::settings_file::{Guard, GuardedVariable};
#[cfg(unix)]
use tidegate_memory::postgres::Address;
use tidegate_state::account;
use tidegate_state::file::bounded;
use tidegate_state::host::claude_code::settings::{is_in_repository, read_file_variables};
use toml_edit::{DocumentMut, Item};

use crate::bilingual::{Bilingual, both};
use crate::config_words::describe_problem;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::settings_file::Scope;
#[cfg(unix)]
use crate::shell::quote_path;

/// A larger file is not a config.
const LARGEST: u64 = 4 * 1024 * 1024;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let path = seen.env.place.config();
    let file = path.as_ref().map_or_else(
        || both!("your config file", "自分の設定ファイル"),
        |path| Bilingual::data(path.display()),
    );
    for problem in &seen.config.problems {
        let Bilingual { en, ja } = describe_problem(problem);
        found.warning(
            both!("Tidegate ignores a part of its config. {en}.", "Tidegate の設定の一部が無効です: {ja}"),
            both!(
                "Correct it there. `tidegate config show --origin` shows the values in use.",
                "その箇所を直してください。いま有効な値は `tidegate config show --origin` で見られます。"
            ),
        );
    }
    for FormerName { origin, written, now } in &seen.config.former_names {
        found.note_with(
            both!(
                "{origin}: `{written}` is called `{now}` now. Tidegate understands both.",
                "{origin}: `{written}` は `{now}` に名前が変わりました。どちらでも使えます。"
            ),
            both!(
                "Write `{now}` there when you next edit it.",
                "次に編集するときに `{now}` と書いてください。"
            ),
        );
    }
    report_waiting(seen, &file, found);
    report_project_variables(seen, found);
    of_user(seen, found);
    let own = account::config_file();
    if !seen.config.policies.approval.unattended.0.is_empty() && own != path {
        let own = own.map_or_else(
            || both!("the config in the account's own home", "アカウント自身のホームにある設定ファイル"),
            |own| Bilingual::data(own.display()),
        );
        found.note_with(
            both!(
                "`[approval]` in {en} allows nothing, because HOME or XDG_CONFIG_HOME points there.",
                "HOME か XDG_CONFIG_HOME で指定された場所にあるため、{ja} の `[approval]` は効きません。",
                en = file.en,
                ja = file.ja
            ),
            both!("It counts only in {en}.", "{ja} でだけ有効です。", en = own.en, ja = own.ja),
        );
    }
    #[cfg(unix)]
    if let Some(path) = path.as_deref().filter(|path| holds_password(seen) && is_open(path)) {
        found.warning(
            both!(
                "{path} holds the password of the team's server, and other users can read it.",
                "{path} にチームのサーバーのパスワードがあり、ほかのユーザーも読めます。",
                path = path.display()
            ),
            both!(
                "Run `chmod go-rwx {path}`. With `[memory.team] password_variable` the password is not in the file at all.",
                "`chmod go-rwx {path}` を実行してください。`[memory.team] password_variable` を使えば、ファイルに書かずに済みます。",
                path = quote_path(path)
            ),
        );
    }
    for root in path.as_deref().map(lost_projects).unwrap_or_default() {
        let Bilingual { en, ja } = &file;
        found.note_with(
            both!(
                "`[project.\"{root}\"]` in {en} is for a folder that does not exist.",
                "{ja} の `[project.\"{root}\"]` のフォルダがありません。"
            ),
            both!(
                "If you moved the folder, write its new path there. Otherwise remove the section.",
                "フォルダを移動した場合は新しいパスに直し、そうでなければ項目を削除してください。"
            ),
        );
    }
    if found.is_empty() {
        found.ok(if path.is_some_and(|path| path.exists()) {
            both!("Tidegate reads {en}.", "{ja} を読み込みました。", en = file.en, ja = file.ja)
        } else {
            both!("Tidegate uses its defaults.", "既定の設定を使います。")
        });
    }
}

/// Values of the project that do not count.
fn report_waiting(seen: &Gathered, file: &Bilingual, found: &mut Findings) {
    for waiting in &seen.config.waiting {
        let (origin, key) = (&waiting.assignment.origin, waiting.assignment.path());
        let text = if waiting.in_part {
            both!(
                "{origin}: `{key}` only adds to the list. Tidegate ignores the rest of it.",
                "{origin}: `{key}` は一覧への追加だけが有効です。"
            )
        } else {
            both!("{origin}: `{key}` has no effect.", "{origin}: `{key}` は効きません。")
        };
        let next = if waiting.never {
            both!("It counts only in {en}.", "{ja} でだけ有効です。", en = file.en, ja = file.ja)
        } else {
            both!(
                "To see it and decide, run `tidegate trust`.",
                "内容を見て許可するかを決めるには、`tidegate trust` を実行してください。"
            )
        };
        found.note_with(text, next);
    }
}

/// A repository must not change Tidegate by the client's settings. The check `settings` reports unreadable files.
fn report_project_variables(seen: &Gathered, found: &mut Findings) {
    let Some(project) = seen.project.as_deref() else { return };
    for name in ["settings.json", "settings.local.json"] {
        let file = project.join(".claude").join(name);
        let variables = read_file_variables(&file).ok().flatten().unwrap_or_default();
        let is_about_us = |variable: &GuardedVariable| match Guard::of(&variable.name) {
            Some(Guard::Ours) => true,
            Some(Guard::Place) => variable
                .value
                .as_ref()
                .is_some_and(|place| is_in_repository(project, &variable.name, place.as_ref())),
            _ => false,
        };
        let names: Vec<String> =
            variables.into_iter().filter(is_about_us).map(|variable| variable.name).collect();
        if names.is_empty() {
            continue;
        }
        let (file, names) = (file.display(), names.join(", "));
        found.warning(
            both!(
                "This repository tries to change Tidegate's settings: {file} sets {names}. Tidegate ignores that.",
                "このリポジトリは Tidegate の設定を変えようとしています（{file} の {names}）。Tidegate は無視します。"
            ),
            both!(
                "Remove {names} from {file}.",
                "{file} から {names} を削除してください。"
            ),
        );
    }
}

#[cfg(unix)]
fn holds_password(seen: &Gathered) -> bool {
    let team = &seen.config.memory.team;
    let read = |url| Address::read(url, None, team.tls, None).ok();
    team.url.as_ref().and_then(read).is_some_and(|address| address.has_password())
}

#[cfg(unix)]
fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// Variables in the user's own settings count in every client, and not in this terminal.
fn of_user(seen: &Gathered, found: &mut Findings) {
    let Some(file) = seen.client.settings.iter().find(|file| file.scope == Scope::User) else { return };
    let path = file.path.display();
    let variable = |name: &str| file.get("env")?.get(name).and_then(Value::as_str);
    if variable("TIDEGATE_GUARD").is_some_and(|value| !value.is_empty()) {
        found.warning(
            both!(
                "{path} sets TIDEGATE_GUARD: Tidegate checks nothing in any session.",
                "{path} で TIDEGATE_GUARD が設定されているため、Tidegate はどのセッションでも何も確認しません。"
            ),
            both!("Remove TIDEGATE_GUARD from {path}.", "{path} から TIDEGATE_GUARD を削除してください。"),
        );
    }
    let here = seen.env.place.state().ok();
    if let Some(there) = variable("TIDEGATE_STATE_DIR").filter(|there| here != Some(PathBuf::from(there))) {
        let here =
            here.map_or_else(|| both!("no folder", "（なし）"), |here| Bilingual::data(here.display()));
        found.warning(
            both!(
                "{path} sets TIDEGATE_STATE_DIR to {there}: hooks write there, but commands in this shell read {en}.",
                "{path} で TIDEGATE_STATE_DIR が {there} になっています。フックはそこに書き、このシェルのコマンドは {ja} を読みます。",
                en = here.en,
                ja = here.ja
            ),
            both!(
                "Remove it from {path}, or set TIDEGATE_STATE_DIR to the same folder in your shell.",
                "{path} から削除するか、シェルでも TIDEGATE_STATE_DIR に同じフォルダを指定してください。"
            ),
        );
    }
}

/// Sections of projects that were moved: these projects lost their preset.
fn lost_projects(config: &Path) -> Vec<String> {
    let text = bounded::read(config, LARGEST).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let document = text.and_then(|text| text.parse::<DocumentMut>().ok());
    let projects =
        document.as_ref().and_then(|document| document.get("project")).and_then(Item::as_table_like);
    let roots = projects.into_iter().flat_map(|projects| projects.iter().map(|(root, _)| root));
    let is_gone = |root: &&str| {
        let found = fs::metadata(root);
        Path::new(root).is_absolute() && found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    roots.filter(is_gone).map(str::to_owned).collect()
}
