//! Texts for people about edits to files that decide what Tidegate does.

use super::ID;
use crate::feature::own_settings::OwnFile;
use crate::text::lang::Lang;

/// The question to the person.
pub(super) fn edit_asked(lang: Lang, file: OwnFile, path: &str) -> String {
    let name = describe_file(lang, file);
    match lang {
        Lang::En => {
            let risk = match file {
                OwnFile::Memory => "Later sessions are given its contents.",
                _ => "It can switch gates off.",
            };
            format!("The agent wants to edit {path}: {name}. {risk}")
        }
        Lang::Ja => {
            let risk = match file {
                OwnFile::Memory => "今後のセッションに渡される内容です。",
                _ => "ゲートを無効にできるファイルです。",
            };
            format!("エージェントが {path}（{name}）を編集しようとしています。{risk}")
        }
    }
}

/// For a permission mode in which the client does not ask.
pub(super) fn edit_denied(lang: Lang, file: OwnFile, path: &str, mode: &str) -> String {
    let name = describe_file(lang, file);
    match lang {
        Lang::En => format!(
            "The agent wanted to edit {path}: {name}. In the client's mode `{mode}` nobody would have been asked, so it was not \
             let through. Edit it yourself, switch the mode, or run `tidegate off {ID} --for 10m`."
        ),
        Lang::Ja => format!(
            "エージェントが {path}（{name}）を編集しようとしました。クライアントの {mode} モードでは誰にも確認されないため、通しませんでした。\
             自分で編集するか、モードを切り替えるか、`tidegate off {ID} --for 10m` を実行してください。"
        ),
    }
}

/// A command line of the agent changed the file.
pub(super) fn changed(lang: Lang, file: OwnFile) -> String {
    let name = describe_file(lang, file);
    match lang {
        Lang::En => format!(
            "A command of the agent has just changed {name}, without anybody being asked. It can switch gates off; \
             `tidegate doctor` and `tidegate config show --origin` tell what stands there now."
        ),
        Lang::Ja => format!(
            "エージェントのコマンドが{name}を、誰にも確認せずに変更しました。ゲートを無効にできるファイルです。現在の内容は \
             `tidegate doctor` と `tidegate config show --origin` で確認できます。"
        ),
    }
}

fn describe_file(lang: Lang, file: OwnFile) -> &'static str {
    match (lang, file) {
        (Lang::En, OwnFile::Config) => "Tidegate's config",
        (Lang::Ja, OwnFile::Config) => "Tidegateの設定",
        (Lang::En, OwnFile::ProjectConfig) => "Tidegate's config for this project",
        (Lang::Ja, OwnFile::ProjectConfig) => "このプロジェクトのTidegateの設定",
        (Lang::En, OwnFile::Host) => "the settings in which the client's hooks and status line stand",
        (Lang::Ja, OwnFile::Host) => "クライアントのフックとステータスラインの設定",
        (Lang::En, OwnFile::State) => "Tidegate's private state",
        (Lang::Ja, OwnFile::State) => "Tidegateの内部状態",
        (Lang::En, OwnFile::Program) => "the program that runs Tidegate's checks",
        (Lang::Ja, OwnFile::Program) => "Tidegateのチェックを実行するプログラム",
        (Lang::En, OwnFile::Plugin) => "a file that registers Tidegate's plugin",
        (Lang::Ja, OwnFile::Plugin) => "Tidegateのプラグインの登録ファイル",
        (Lang::En, OwnFile::Memory) => "Tidegate's memory",
        (Lang::Ja, OwnFile::Memory) => "Tidegateの記憶",
    }
}
