//! Texts for people about edits to files that decide what Tidegate does.

use super::ID;
use crate::feature::own_settings::{OwnFile, Unasked};
use crate::text::lang::Lang;

/// The question to the person.
pub(super) fn edit_asked(lang: Lang, file: OwnFile, path: &str) -> String {
    let name = describe_file(lang, file);
    match (lang, file) {
        (Lang::En, OwnFile::Memory) => {
            format!("Claude wants to edit {path} ({name}). Later sessions read what it says.")
        }
        (Lang::En, _) => format!("Claude wants to edit {path} ({name}). It can switch checks off."),
        (Lang::Ja, OwnFile::Memory) => {
            format!("Claude が {path}（{name}）を編集しようとしています。今後のセッションが読む内容です。")
        }
        (Lang::Ja, _) => {
            format!(
                "Claude が {path}（{name}）を編集しようとしています。チェックを無効にできるファイルです。"
            )
        }
    }
}

/// For a permission mode in which the client does not ask.
pub(super) fn edit_denied(lang: Lang, file: OwnFile, path: &str, why: Unasked<'_>) -> String {
    let name = describe_file(lang, file);
    let mode = match (why, lang) {
        (Unasked::Mode(mode), _) => mode,
        (Unasked::Host(host), Lang::En) => {
            return format!(
                "Tidegate blocked an edit to {path} ({name}): {host} cannot ask you about it. Edit it yourself, or run \
                 `tidegate off {ID} --for 10m`."
            );
        }
        (Unasked::Host(host), Lang::Ja) => {
            return format!(
                "Tidegate: {path}（{name}）の編集をブロックしました。{host} ではフックから確認を求められないためです。ご自身で編集するか、\
                 `tidegate off {ID} --for 10m` を実行してください。"
            );
        }
    };
    match lang {
        Lang::En => format!(
            "Tidegate blocked an edit to {path} ({name}): in the mode `{mode}` Claude Code would not have asked you. Edit it \
             yourself, change the mode, or run `tidegate off {ID} --for 10m`."
        ),
        Lang::Ja => format!(
            "Tidegate: {path}（{name}）の編集をブロックしました。{mode} モードの Claude Code は確認を求めないためです。ご自身で編集するか、\
             モードを変えるか、`tidegate off {ID} --for 10m` を実行してください。"
        ),
    }
}

/// A command line of the agent changed the file.
pub(super) fn changed(lang: Lang, file: OwnFile) -> String {
    let name = describe_file(lang, file);
    match lang {
        Lang::En => format!(
            "Tidegate: a command that Claude ran changed {name} without asking you. It can switch checks off. See what it says \
             now: `tidegate doctor`, `tidegate config show --origin`."
        ),
        Lang::Ja => format!(
            "Tidegate: Claude が実行したコマンドが、確認なしに{name}を変更しました。チェックを無効にできるファイルです。今の内容: \
             `tidegate doctor`、`tidegate config show --origin`"
        ),
    }
}

fn describe_file(lang: Lang, file: OwnFile) -> &'static str {
    match (lang, file) {
        (Lang::En, OwnFile::Config) => "Tidegate's config",
        (Lang::Ja, OwnFile::Config) => "Tidegate の設定",
        (Lang::En, OwnFile::ProjectConfig) => "Tidegate's config for this project",
        (Lang::Ja, OwnFile::ProjectConfig) => "このプロジェクトの Tidegate の設定",
        (Lang::En, OwnFile::Host) => "the agent's settings, with its hooks and status line",
        (Lang::Ja, OwnFile::Host) => "フックとステータスラインを含むエージェントの設定",
        (Lang::En, OwnFile::State) => "Tidegate's private state",
        (Lang::Ja, OwnFile::State) => "Tidegate の内部状態",
        (Lang::En, OwnFile::Program) => "the program that runs Tidegate's checks",
        (Lang::Ja, OwnFile::Program) => "Tidegate のチェックを実行するプログラム",
        (Lang::En, OwnFile::Plugin) => "the registration of Tidegate's plugin",
        (Lang::Ja, OwnFile::Plugin) => "Tidegate のプラグインの登録",
        (Lang::En, OwnFile::Memory) => "Tidegate's memory",
        (Lang::Ja, OwnFile::Memory) => "Tidegate の記憶",
    }
}
