//! The registration of hooks: all of them, in the right form, and seen running at least once.

use super::super::difference::{self, NEEDED};
use super::super::registrations::Calls;
use super::super::settings_file::{Content, Scope};
use super::disabled::ask_administrator;
use super::life;
use std::path::Path;

use tidegate_core::host::Host;
use tidegate_core::pipeline::record::Record;

use crate::bilingual::{Bilingual, both};
use crate::doctor::check::without_state;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::registered::HOSTS;

/// Differences named per file.
const NAMED: usize = 3;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let script = seen.scripts().next().filter(|_| !seen.has_hooks());
    if !seen.has_hooks() && script.is_none() {
        report_no_hook(seen, found);
        return;
    }
    check_differences(seen, found);
    let missing: Vec<&str> = NEEDED.into_iter().filter(|event| !seen.is_registered(event)).collect();
    if !missing.is_empty() && found.is_empty() {
        report_missing(seen, &missing.join(", "), found);
    }
    check_status_line(seen, found);
    let heard = seen.sessions_here().next().is_some()
        || seen.history.records.iter().any(|record| seen.is_here(record));
    if seen.state.is_err() && found.is_empty() {
        found.unchecked(without_state());
    } else if seen.state.is_ok() && !heard {
        let text = both!(
            "The hooks are registered, but none of them has run in this project yet.",
            "フックは登録されていますが、このプロジェクトではまだ一度も実行されていません。"
        );
        // Only a session with a turn could have run a hook.
        if seen.client.sessions.iter().any(|session| session.shown.has_turn()) {
            found.warning(text, life::fix()).unless_caused_by(&["settings", "disabled", "paths", "life"]);
        } else {
            let next = both!(
                "Start `claude` in this project, trust the folder, and send a prompt.",
                "このプロジェクトで `claude` を起動し、フォルダを信頼して、プロンプトを送ってください。"
            );
            found.note_with(text, next).unless_caused_by(&["settings", "disabled", "paths", "state"]);
        }
    }
    if found.is_empty() {
        found.ok(match script {
            Some(script) => both!(
                "Claude Code calls Tidegate through your own script {name}.",
                "Claude Code は自作のスクリプト {name} 経由で Tidegate を呼び出しています。",
                name = script.name()
            ),
            None => both!(
                "All hooks are registered, and they have run in this project.",
                "フックはすべて登録済みで、このプロジェクトで実行されています。"
            ),
        });
    }
}

fn report_no_hook(seen: &Gathered, found: &mut Findings) {
    let init = seen.init_command(seen.scope());
    let place = seen
        .project
        .as_ref()
        .map_or_else(|| both!("here", "ここ"), |root| both!("in {r}", "{r} ", r = root.display()));
    let Bilingual { en, ja } = place;
    let others: Vec<&str> = HOSTS
        .iter()
        .filter(|hooks| hooks.is_installed(seen.project.as_deref(), &seen.env.place, &seen.call))
        .map(|hooks| Host::title(hooks.host.name()))
        .collect();
    if !others.is_empty() {
        let text = both!(
            "Tidegate is installed for {others} {en}, not for Claude Code.",
            "{ja}では {others} 用にインストールされています。Claude Code 用にはインストールされていません。",
            others = others.join(", "),
            en = en,
            ja = ja
        );
        // A person who does not use Claude Code needs no command for it.
        if seen.client.folder.as_deref().is_some_and(Path::is_dir) {
            found.note_with(
                text,
                both!("For Claude Code, too: `{init}`.", "Claude Code でも使うには: `{init}`"),
            );
        } else {
            found.ok(text);
        }
        return;
    }
    // Tidegate checked another agent here, and Claude Code has no settings.
    let is_of_other = |record: &&Record| {
        seen.is_here(record) && !record.host.is_empty() && record.host != Host::ClaudeCode.name()
    };
    let other = seen.history.records.iter().rev().find(is_of_other).map(|record| Host::title(&record.host));
    if let Some(other) = other.filter(|_| seen.client.settings.is_empty()) {
        found.note_with(
            both!(
                "Tidegate is not installed {en}. It checked {other} before.",
                "{ja}には Tidegate がインストールされていません。以前は {other} を確認していました。"
            ),
            both!(
                "To install it again: `tidegate init --help` names the agents.",
                "もう一度インストールするには: エージェントは `tidegate init --help` にあります。"
            ),
        );
        return;
    }
    found.problem(
        both!(
            "Claude Code does not call Tidegate {en}: neither its settings nor a plugin registers a hook.",
            "{ja}では、Claude Code が Tidegate を呼び出しません。設定にもプラグインにもフックがありません。"
        ),
        both!("Run `{init}`.", "`{init}` を実行してください。"),
    );
}

fn report_missing(seen: &Gathered, events: &str, found: &mut Findings) {
    let init = seen.init_command(seen.scope());
    let Some(own) = seen.hooks().filter(|hook| hook.calls == Calls::UsSomehow).chain(seen.scripts()).next()
    else {
        found.problem(
            both!(
                "Claude Code does not call Tidegate at these events: {events}.",
                "次のイベントでは、Claude Code が Tidegate を呼び出しません: {events}"
            ),
            both!(
                "Run `{init}`: it registers all hooks.",
                "`{init}` を実行すると、すべてのフックを登録します。"
            ),
        );
        return;
    };
    let (name, file) = (own.name(), own.file.display());
    found.problem(
        both!(
            "Claude Code calls Tidegate through your own command {name}, but not at these events: {events}.",
            "Claude Code は自作の {name} 経由で Tidegate を呼び出していますが、次のイベントでは呼び出しません: {events}"
        ),
        both!(
            "Run `{init}`: it registers all hooks. Then remove your own entries from {file}.",
            "`{init}` を実行すると、すべてのフックを登録します。そのあと {file} から自作の項目を削除してください。"
        ),
    );
}

/// An entry can be there and do nothing.
fn check_differences(seen: &Gathered, found: &mut Findings) {
    for file in &seen.client.settings {
        let Content::Object(object) = &file.content else { continue };
        let differences = difference::find_differences(object, &seen.call);
        if differences.is_empty() {
            continue;
        }
        let more = differences.len().saturating_sub(NAMED);
        let whats = differences.iter().take(NAMED).map(|difference| difference.what.clone());
        let whats = whats.chain((more > 0).then(|| both!("{more} more", "ほか{more}件")));
        let (en, ja): (Vec<String>, Vec<String>) = whats.map(|what| (what.en, what.ja)).unzip();
        let (path, en, ja) = (file.path.display(), en.join("; "), ja.join("／"));
        let text = both!(
            "Tidegate's hooks in {path} differ from those of this version: {en}.",
            "{path} にある Tidegate のフックが、このバージョンのものと違います: {ja}"
        );
        let is_theirs = seen.hooks().any(|hook| hook.file == file.path && hook.calls == Calls::UsSomehow);
        let init = seen.init_command(file.scope);
        let fix = match file.scope {
            Scope::Managed => ask_administrator(),
            _ if is_theirs => both!(
                "Remove your own entries that call `tidegate hook` from {path}. Then run `{init}`.",
                "{path} から、`tidegate hook` を呼び出す自作の項目を削除し、`{init}` を実行してください。"
            ),
            _ => both!("Run `{init}`: it registers them again.", "`{init}` を実行すると、登録し直します。"),
        };
        if differences.iter().any(|difference| difference.is_grave) {
            found.problem(text, fix);
        } else {
            found.warning(text, fix);
        }
    }
}

/// The plugin brings none; `init` does.
fn check_status_line(seen: &Gathered, found: &mut Findings) {
    // The nearest file that has one counts.
    let shown = seen.client.settings.iter().find(|file| file.get("statusLine").is_some());
    let is_ours = |path: &std::path::PathBuf| {
        seen.ours().any(|command| command.event.is_none() && command.file == *path)
    };
    if seen.hooks().next().is_none() || shown.is_some_and(|file| is_ours(&file.path)) {
        return;
    }
    let text = match shown {
        Some(file) => both!(
            "Claude Code shows another status line than Tidegate's, from {path}. You do not see how full the context is.",
            "Claude Code は {path} の別のステータスラインを表示します。Tidegate のコンテキスト残量は表示されません。",
            path = file.path.display()
        ),
        None => both!(
            "Claude Code does not show Tidegate's status line. You do not see how full the context is.",
            "Claude Code は Tidegate のステータスラインを表示していません。コンテキスト残量は表示されません。"
        ),
    };
    // A line in a file nearer than the hooks' hides one in theirs.
    let scope = shown.map_or(seen.scope(), |file| file.scope.min(seen.scope()));
    let init = match scope {
        Scope::Managed => {
            found.note_with(text, ask_administrator());
            return;
        }
        // With a team's hooks, `--shared` writes only the line; a person's own hooks would be registered twice.
        Scope::Shared if seen.scope() != Scope::Shared => seen.init_command(Scope::Local),
        scope => seen.repair_command(scope),
    };
    let next = match shown {
        Some(_) => both!(
            "To see both, run `{init}`: it adds Tidegate's to yours.",
            "両方を表示するには `{init}` を実行してください。"
        ),
        None => both!("To see it, run `{init}`.", "表示するには `{init}` を実行してください。"),
    };
    found.note_with(text, next);
}
