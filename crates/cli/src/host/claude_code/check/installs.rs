//! Two installs at once.

use std::collections::{BTreeMap, BTreeSet};

use super::super::settings_file::Scope;
use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let mut commands: BTreeMap<Scope, BTreeSet<&[String]>> = BTreeMap::new();
    for command in seen.hooks() {
        commands.entry(command.scope).or_default().insert(&command.words);
    }
    let mut installs: Vec<Bilingual> = commands.keys().map(|scope| describe_scope(*scope)).collect();
    installs.extend(
        seen.client.plugin.as_ref().map(|plugin| both!("the plugin {id}", "プラグイン {id}", id = plugin.id)),
    );
    let number = installs.len();
    let [others @ .., last] = installs.as_slice() else {
        found.ok(both!("No hooks are registered.", "フックは登録されていません。"));
        return;
    };
    if others.is_empty() {
        found.ok(both!(
            "One place registers the hooks: {en}.",
            "フックを登録しているのは1か所です: {ja}",
            en = last.en,
            ja = last.ja
        ));
        return;
    }
    let sets: BTreeSet<_> = commands.values().collect();
    let cost = if seen.client.plugin.is_none() && sets.len() == 1 {
        both!(
            "Claude Code runs equal commands once, but removing one leaves the other.",
            "コマンドが同じなので Claude Code は1回だけ実行しますが、片方を消しても、もう片方が残ります。"
        )
    } else {
        both!(
            "Tidegate answers each event once, but Claude Code starts it {number} times.",
            "応答は1回ですが、Claude Code はイベントのたびに Tidegate を{number}回起動します。"
        )
    };
    let others = Bilingual::list(others.iter().cloned());
    let text = both!(
        "{en} and {last_en} register Tidegate's hooks. {cost_en}",
        "{ja}と{last_ja}の両方に Tidegate のフックがあります。{cost_ja}",
        en = capitalized(&others.en),
        ja = others.ja,
        last_en = last.en,
        last_ja = last.ja,
        cost_en = cost.en,
        cost_ja = cost.ja
    );
    let removals = describe_removals(seen, &commands.into_keys().collect::<Vec<_>>());
    let (en, ja): (Vec<String>, Vec<String>) = removals.into_iter().map(|text| (text.en, text.ja)).unzip();
    let fix =
        both!("Keep one: {en}.", "1か所にまとめてください。{ja}。", en = en.join("; "), ja = ja.join("。"));
    // The plugin has skills and tools, the settings have the status line: having both is a choice.
    if seen.client.plugin.is_some() && number == 2 {
        found.note_with(text, fix);
    } else {
        found.warning(text, fix);
    }
}

fn describe_scope(scope: Scope) -> Bilingual {
    match scope {
        Scope::Managed => both!("the managed settings", "管理者の設定"),
        Scope::Local => both!("this project's local settings", "このプロジェクトのローカル設定"),
        Scope::Shared => both!("this project's shared settings", "このプロジェクトの共有設定"),
        Scope::User => both!("your user settings", "ユーザー設定"),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn describe_removals(seen: &Gathered, scopes: &[Scope]) -> Vec<Bilingual> {
    let has_local = scopes.contains(&Scope::Local);
    let mut removals: Vec<Bilingual> = scopes
        .iter()
        .filter_map(|scope| {
            let command = seen.uninstall_command(*scope);
            match scope {
                // Only an administrator can remove these.
                Scope::Managed => None,
                Scope::Local => Some(both!(
                    "`{command}` removes the local hooks and the status line",
                    "`{command}` はローカルのフックとステータスラインを削除します"
                )),
                Scope::Shared if has_local => {
                    let init = seen.init_command(Scope::Local);
                    Some(both!(
                        "`{command}` removes the shared and the local hooks, then `{init}` registers the local ones again",
                        "`{command}` は共有とローカルの両方を削除します（続けて `{init}` でローカルだけ登録し直せます）"
                    ))
                }
                Scope::Shared => Some(both!(
                    "`{command}` removes the shared hooks",
                    "`{command}` は共有のフックを削除します"
                )),
                Scope::User => Some(both!(
                    "`{command}` removes those of all your projects",
                    "`{command}` は全プロジェクト用のフックを削除します"
                )),
            }
        })
        .collect();
    removals.extend(seen.client.plugin.as_ref().map(|plugin| {
        let command = format!("claude plugin uninstall {}", plugin.id);
        both!("`{command}` removes the plugin", "`{command}` はプラグインを削除します")
    }));
    removals
}
