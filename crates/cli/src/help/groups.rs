//! The overview: commands in groups, as people look for them.

use clap::Command;

use super::translate;
use crate::bilingual::{Bilingual, both};
use crate::print::page::Page;
use crate::print::text::{Text, data};

pub(super) struct Group {
    title: fn() -> Bilingual,
    pub(super) commands: &'static [&'static str],
    /// Called by programs rather than by people: shown on demand.
    pub(super) is_for_programs: bool,
}

const fn for_people(title: fn() -> Bilingual, commands: &'static [&'static str]) -> Group {
    Group { title, commands, is_for_programs: false }
}

pub(super) const GROUPS: [Group; 6] = [
    for_people(|| both!("Start", "はじめる"), &["demo", "replay", "init", "doctor", "uninstall"]),
    for_people(|| both!("See", "見る"), &["status", "log", "explain", "report", "top", "serve"]),
    for_people(|| both!("Control", "調整する"), &["off", "on", "trust", "constraints", "tune", "config"]),
    for_people(|| both!("Memory", "記憶"), &["memory", "progress", "compound", "learnings", "handoff"]),
    for_people(|| both!("Automate", "自動化する"), &["cycle", "workflow"]),
    Group {
        title: || both!("For programs", "プログラム向け"),
        commands: &["hook", "statusline", "mcp", "worker", "meter", "activity", "completions", "man", "help"],
        is_for_programs: true,
    },
];

pub(crate) fn overview(root: &Command, all: bool) -> Page {
    let mut page = Page::new();
    let about = root.get_about().map(ToString::to_string).unwrap_or_default();
    page.paragraph(translate(&about));
    page.gap();
    page.labelled(
        Text::from(both!("Usage", "使い方")).strong(),
        both!("tidegate COMMAND [OPTIONS]", "tidegate コマンド [オプション]"),
    );
    let shown = GROUPS.iter().filter(|group| all || !group.is_for_programs);
    let widest = shown.clone().flat_map(|group| group.commands).map(|name| name.len()).max();
    for group in shown {
        page.heading((group.title)());
        let commands = group.commands.iter().filter_map(|name| {
            let about = root.find_subcommand(name)?.get_about()?.to_string();
            Some((data(name).command(), translate(&about).into()))
        });
        page.indented(|page| page.aligned_pairs(widest.unwrap_or(0), commands));
    }
    page.gap();
    page.paragraph(both!(
        "New here? `tidegate replay` shows your own last month. Then run `tidegate init` in a project.",
        "はじめての方は `tidegate replay` でご自身の直近1か月を見てから、プロジェクトで `tidegate init` を実行してください。"
    ));
    page.paragraph(if all {
        both!(
            "`tidegate help COMMAND` shows the options and examples of a command.",
            "`tidegate help コマンド名` で、そのコマンドのオプションと例を表示します。"
        )
    } else {
        both!(
            "`tidegate help COMMAND` shows options and examples, `tidegate help --all` the commands for programs, too.",
            "`tidegate help コマンド名` でオプションと例を、`tidegate help --all` でプログラム向けのコマンドも表示します。"
        )
    });
    page
}
