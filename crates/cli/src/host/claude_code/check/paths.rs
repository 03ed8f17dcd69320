//! Programs that the settings call. If one is missing, Claude Code skips the hook, or blocks what the hook gates.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tidegate_core::event::EventKind;

use super::super::registrations::Calls;
use super::super::settings_command::{CommandTarget, OnFailure, SettingsCommand};
use super::super::settings_file::Scope;
use super::disabled::ask_administrator;
use crate::bilingual::{Bilingual, both, count_en};
use crate::doctor::check::binary::put_on_path;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::program::{is_program, real_place};
use crate::shell::quote_path;

/// A bare name does not count: it is looked for on the person's own `PATH`.
fn is_elsewhere(program: &Path, link: &Path) -> bool {
    program.is_absolute() && real_place(program) != real_place(link)
}

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let mut entries = 0;
    for ((file, program, calls), commands) in group_by_program(seen.ours()) {
        entries += commands.len();
        let target = commands[0].target(seen.around());
        check_program(seen, &Called { file, program, calls, commands, target }, found);
    }
    let own = seen.hooks().filter(|hook| hook.calls == Calls::UsSomehow).chain(seen.scripts());
    for ((file, wrapper, _), commands) in group_by_program(own) {
        if commands[0].target(seen.around()) == CommandTarget::Unclear || commands[0].is_script_around {
            check_wrapper(seen, file, wrapper, &commands, found);
        }
    }
    check_plugin(seen, found);
    for command in &seen.client.commands {
        for path in command.gone_from_cache(seen.around()) {
            let (file, path) = (command.file.display(), path.display());
            let event = command
                .event
                .as_deref()
                .map_or_else(|| both!("the status line", "ステータスライン"), Bilingual::data);
            let Bilingual { en, ja } = event;
            found.warning(
                both!(
                    "In {file}, {en} calls {path}, which is gone: an update of that plugin moved it.",
                    "{file} の {ja} が呼び出す {path} がありません。プラグインの更新で移動しました。"
                ),
                both!(
                    "Remove that entry from {file}: a plugin registers its hooks itself.",
                    "{file} からその項目を削除してください。プラグインは自分でフックを登録します。"
                ),
            );
        }
    }
    if found.is_empty() {
        let commands = count_en(entries, "command");
        found.ok(match entries {
            0 => both!("No settings file calls Tidegate.", "Tidegate を呼び出す設定ファイルはありません。"),
            _ => both!(
                "Claude Code can start {commands} of Tidegate in its settings.",
                "設定にある Tidegate のコマンド{entries}個を起動できます。"
            ),
        });
    }
}

type Key<'a> = (&'a Path, &'a str, Calls);

fn group_by_program<'a>(
    commands: impl Iterator<Item = &'a SettingsCommand>,
) -> BTreeMap<Key<'a>, Vec<&'a SettingsCommand>> {
    let mut groups: BTreeMap<Key<'a>, Vec<&SettingsCommand>> = BTreeMap::new();
    for command in commands {
        groups.entry((&command.file, command.name(), command.calls)).or_default().push(command);
    }
    groups
}

/// Commands of one file that start the same program.
struct Called<'a> {
    file: &'a Path,
    program: &'a str,
    calls: Calls,
    commands: Vec<&'a SettingsCommand>,
    target: CommandTarget,
}

fn check_program(seen: &Gathered, called: &Called<'_>, found: &mut Findings) {
    let Called { file, program, calls, commands, target } = called;
    let scope = commands[0].scope;
    let file = file.display();
    let init = seen.callable(&seen.repair_command(scope));
    let by_hand = || {
        both!(
            "Correct or remove that entry in {file}: `tidegate init` does not change entries that you wrote.",
            "{file} のその項目を直すか削除してください。自分で書いた項目は `tidegate init` では変わりません。"
        )
    };
    let again = || match (scope, calls) {
        (Scope::Managed, _) => ask_administrator(),
        (_, Calls::UsSomehow) => by_hand(),
        _ => both!(
            "Run `{init}`: it registers this program.",
            "`{init}` を実行すると、このプログラムを登録します。"
        ),
    };
    let link = seen.link.as_ref().and_then(|link| fs::canonicalize(link).ok());
    let right = link.as_ref().or(seen.exe.as_ref());
    match target {
        CommandTarget::Missing(name, why) => {
            let effect = effect_of(commands);
            let text = both!(
                "{effect}: {file} starts {name}, which {en}.",
                "{effect_ja}。設定 {file} から起動する {name} {ja}。",
                effect = effect.en,
                effect_ja = effect.ja,
                en = why.en,
                ja = why.ja
            );
            let uninstall = seen.callable(&seen.uninstall_command(scope));
            let fix = match (scope, calls) {
                (Scope::Managed, _) => ask_administrator(),
                (_, Calls::UsSomehow) => by_hand(),
                _ => both!(
                    "Run `{init}`: it registers this program. To work without Tidegate, run `{uninstall}`.",
                    "`{init}` を実行すると、このプログラムを登録します。Tidegate を使わない場合は `{uninstall}` を実行してください。"
                ),
            };
            found.problem(text, fix);
        }
        CommandTarget::File(path) if right.is_some_and(|right| path != right) => {
            let right = right.map(|right| right.display().to_string()).unwrap_or_default();
            found.warning(
                both!(
                    "{file} starts another Tidegate: {program}, not {right}.",
                    "{file} は別の Tidegate を起動します: {right} ではなく {program} です。"
                ),
                again(),
            );
        }
        // The right program, but by a path that can be pointed elsewhere.
        CommandTarget::File(_)
            if *calls == Calls::Us
                && !commands[0].selected
                && seen
                    .link
                    .as_deref()
                    .is_some_and(|link| link.exists() && is_elsewhere(Path::new(program), link)) =>
        {
            found.warning(
                both!(
                    "{file} starts {program} instead of Tidegate's own link. After an update that path may be gone.",
                    "{file} は Tidegate のリンクではなく {program} を起動します。更新後に使えなくなることがあります。"
                ),
                again(),
            );
        }
        CommandTarget::File(_) | CommandTarget::Unclear => {}
    }
}

/// What follows if these commands cannot start.
fn effect_of(commands: &[&SettingsCommand]) -> Bilingual {
    let blocks = |event: EventKind| {
        commands.iter().any(|command| {
            command.on_failure == OnFailure::Block && command.event.as_deref() == Some(event.name())
        })
    };
    if blocks(EventKind::UserPromptSubmit) {
        both!("Claude Code blocks every prompt", "Claude Code がすべてのプロンプトをブロックします")
    } else if blocks(EventKind::PreToolUse) {
        both!("Claude Code blocks every edit", "Claude Code がすべての編集をブロックします")
    } else if commands.iter().any(|command| command.event.is_some()) {
        both!("Tidegate checks nothing", "Tidegate は何も確認しません")
    } else {
        both!("Tidegate's status line is missing", "Tidegate のステータスラインが表示されません")
    }
}

/// A person's own command around Tidegate.
fn check_wrapper(
    seen: &Gathered,
    file: &Path,
    wrapper: &str,
    commands: &[&SettingsCommand],
    found: &mut Findings,
) {
    let Some((name, why)) = commands[0].missing_inside(seen.around()) else { return };
    let (file, effect) = (file.display(), effect_of(commands));
    let text = both!(
        "{effect}: {file} calls Tidegate through your own {wrapper}, and {name} {en}.",
        "{effect_ja}。設定 {file} は自作の {wrapper} 経由で Tidegate を呼び出しますが、プログラム {name} {ja}。",
        effect = effect.en,
        effect_ja = effect.ja,
        en = why.en,
        ja = why.ja
    );
    let is_link = seen.link.as_deref().is_some_and(|link| link == Path::new(&name));
    let init = seen.callable(&seen.init_command(commands[0].scope));
    let fix = if is_link {
        both!(
            "Run `{init}`: it restores that program and registers all hooks. Then remove your own entries from {file}.",
            "`{init}` を実行すると、プログラムを元に戻し、すべてのフックを登録します。そのあと {file} から自作の項目を削除してください。"
        )
    } else if !name.contains('/') {
        let Bilingual { en, ja } = put_on_path(seen);
        both!(
            "{en} Or remove your own entries from {file}.",
            "{ja}または {file} から自作の項目を削除してください。"
        )
    } else if name == wrapper {
        both!(
            "Put {name} back, or remove its entries from {file}.",
            "{name} を元に戻すか、{file} からその項目を削除してください。"
        )
    } else {
        both!(
            "Correct the path in {wrapper}, or remove its entries from {file}.",
            "{wrapper} の中のパスを直すか、{file} からその項目を削除してください。"
        )
    };
    found.problem(text, fix);
}

fn check_plugin(seen: &Gathered, found: &mut Findings) {
    let Some(plugin) = &seen.client.plugin else { return };
    let Some(folder) = &plugin.folder else { return };
    let (id, selector) = (&plugin.id, folder.join("bin/tidegate"));
    if !folder.is_dir() {
        found.problem(
            both!(
                "The plugin {id} is enabled, but its folder {place} is gone: its hooks do nothing.",
                "プラグイン {id} は有効ですが、フォルダ {place} がないため、フックが動きません。",
                place = folder.display()
            ),
            both!("Run `claude plugin install {id}`.", "`claude plugin install {id}` を実行してください。"),
        );
    } else if let Err(Bilingual { en, ja }) = is_program(&selector) {
        let quoted = quote_path(&selector);
        found.problem(
            both!(
                "The hooks of the plugin {id} do nothing: {place} {en}.",
                "プラグイン {id} のフックが動きません。{place} {ja}。",
                place = selector.display()
            ),
            both!(
                "Run `chmod +x {quoted}`, or install the plugin again.",
                "`chmod +x {quoted}` を実行するか、プラグインをインストールし直してください。"
            ),
        );
    }
}
