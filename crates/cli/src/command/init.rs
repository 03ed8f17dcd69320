//! `tidegate init`.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use serde_json::json;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::Told;
use tidegate_core::feature::memory::relay_log;
use tidegate_core::feature::memory::settings::{Team, TeamUrl};
use tidegate_core::feature::verification::checks::{self as project_checks, Kinds};
use tidegate_core::feature::verification::{required_checks, verify_stop};
use tidegate_core::host::Host;
use tidegate_core::host::capability::Capability;
use tidegate_core::settings::preset::Preset as InForce;
use tidegate_core::text::lang::Lang;
use tidegate_memory::memory::{self, Memory};
use tidegate_state::feature::session;
use tidegate_state::feature::verification::manifests::{self, ProjectManifest};
use tidegate_state::place::StateDir;
use tidegate_state::project::memory_project;

use super::Outcome;
use crate::approval;
use crate::bilingual::{Bilingual, both, count_en};
use crate::error::CliError;
use crate::host::agent_homes::AgentHomes;
use crate::host::agent_name;
use crate::host::claude_code;
use crate::host::claude_code::settings_text;
use crate::host::claude_code::shipped::Part;
use crate::host::claude_code::used_parts::find_used_parts;
use crate::host::registered::{HOSTS, HostHooks};
use crate::install::arguments::{InstallReport, InstallTarget};
use crate::install::git_view::GitView;
use crate::install::links_out::{self, LinkOut};
use crate::install::plan::Choice;
use crate::install::summary::{self, tilde};
use crate::install::target::Target;
use crate::install::{Executed, carry_out, consent, leads, open_records, plan, warnings};
use crate::print::page::Page;
use crate::print::text::{Text, data};
use crate::sessions::Here;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate init                                this project, for you alone
  tidegate init --dry-run                      list the changes first
  tidegate init --preset strict
  tidegate init --with cycle,workflow          more skills
  tidegate init --shared                       for your team, in committed files
  tidegate init --user                         all your projects
  tidegate init --user --status-line           with the plugin: what it lacks
  tidegate init --host codex                   for Codex instead of Claude Code
  tidegate init --host copilot                 for Copilot CLI

Keeps your files to the byte and can be run again. Hooks and status line go to
`.claude/settings.local.json`, with --shared to `.claude/settings.json`, with --user
to `~/.claude/settings.json`. The MCP server, with which Claude searches earlier
conversations, goes to `~/.claude.json`, with --shared to `.mcp.json`. Without
--shared, `git status` shows none of it.

By default `init` installs the skills getting-started, compound and
verification-before-completion. If you have a skill or command of that name, yours
stays and Tidegate's is called `tidegate-NAME`. `tidegate uninstall` removes all of
this.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) target: InstallTarget,
    #[command(flatten)]
    pub(crate) report: InstallReport,
    /// How strict to be here; written into your own config
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<Preset>,
    /// More skills, separated by commas
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub(crate) with: Vec<Part>,
    /// Add only the status line; the plugin brings the rest
    #[arg(long, conflicts_with_all = ["shared", "preset", "with"])]
    pub(crate) status_line: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Preset {
    /// Decides and records, says nothing
    Observe,
    /// Advises; once code changed, "done" needs a check that passed
    Guide,
    /// As guide; also requires skills before edits, and turns every check on
    Strict,
}

impl Preset {
    /// As in a config.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Preset::Observe => "observe",
            Preset::Guide => "guide",
            Preset::Strict => "strict",
        }
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let target = Target::find(&args.target)?;
    let preset = args.preset.map(Preset::name);
    let config = target.read_config();
    let in_force = preset.unwrap_or(match config.general.preset {
        InForce::Observe => "observe",
        InForce::Guide => "guide",
        InForce::Strict => "strict",
    });
    let is_strict = in_force == "strict";
    let used = find_used_parts(&target, &config);
    let choice =
        Choice { preset, with: &args.with, used: &used, is_strict, status_line_only: args.status_line };
    let is_for_client = !args.status_line && target.other_host().is_none();
    let mut warnings = if is_for_client { warnings::of_init(&target) } else { Vec::new() };
    if let Some(code) = consent::to_a_preset(&target, args)? {
        return Ok(code);
    }
    if target.other_host().is_some() && args.status_line {
        return Err(CliError::new(both!(
            "--status-line is for Claude Code",
            "--status-line は Claude Code 用です"
        )));
    }
    let planned = plan::plan_init(&target, &choice, &open_records(&target)?)?;
    let links = links_out::find_links(&planned, &target);
    let detours = leads::find_detours(&planned, &target);
    if !args.report.only_shows() {
        consent::to_follow(&links, &target)?;
        if let Some(code) = consent::to_lead_elsewhere(&detours, &target, args)? {
            return Ok(code);
        }
    }
    warnings.extend(links.iter().map(LinkOut::said));
    if target.other_host().is_none() {
        warnings.extend(claude_code::warnings::left_by(&planned, &target));
    }
    let executed = carry_out(&target, &args.report, |records| {
        let plan = plan::plan_init(&target, &choice, records)?;
        // Links and detours that appeared after the question were not agreed to.
        if let Some(link) = links_out::find_links(&plan, &target).iter().find(|link| !links.contains(link)) {
            return Err(consent::not_followed(link));
        }
        match leads::find_detours(&plan, &target).iter().find(|detour| !detours.contains(detour)) {
            Some(detour) if !args.report.only_shows() => Err(consent::not_led_elsewhere(detour)),
            _ => Ok(plan),
        }
    })?;
    if let Some(hooks) = target.other_host().filter(|_| !args.report.json) {
        page_of_host(args, &target, &executed, hooks, (in_force, &config)).print();
        summary::print_warnings(&warnings);
        return Ok(ExitCode::SUCCESS);
    }
    if args.report.json {
        let shows = args.report.only_shows();
        let dropped: Vec<&str> = dropped_parts(&executed).into_iter().map(Part::name).collect();
        let more =
            json!({ "preset": in_force, "records": relay_log::is_on(&config), "removed_parts": dropped });
        summary::print_json(&executed.plan.steps, shows, executed.backup.as_deref(), &warnings, more);
        return Ok(ExitCode::SUCCESS);
    }
    let is_read = std::io::stdout().is_terminal() && !approval::is_by_agent(&target.env);
    let past = if is_read && says_recording(args, &executed) && relay_log::is_on(&config) {
        past_conversations(&target)
    } else {
        None
    };
    page_of(args, &target, &executed, in_force, &config, past).print();
    summary::print_warnings(&warnings);
    if says_recording(args, &executed) && relay_log::is_on(&config) && is_read {
        // The person has read it, so the start of a session need not say it.
        let _ = StateDir::open(&target.env.place).map(|state| session::note_told(&state, Told::Recording));
    }
    Ok(ExitCode::SUCCESS)
}

/// For a host other than Claude Code: what changed, what this host cannot do, and what the person has to do.
fn page_of_host(
    args: &Args,
    target: &Target,
    executed: &Executed,
    hooks: &HostHooks,
    (preset, config): (&str, &Config),
) -> Page {
    let steps = &executed.plan.steps;
    if args.report.diff {
        return summary::diff_page(steps, target);
    }
    let mut page = Page::new();
    let host = Host::title(hooks.host.name());
    let place = if target.is_user {
        both!("all your projects", "すべてのプロジェクト")
    } else {
        Bilingual::data(tilde(&target.root, target.env.place.home.as_deref()))
    };
    let Bilingual { en, ja } = place;
    let changes = summary::list_changes(steps, target);
    if changes.is_empty() {
        page.paragraph(both!(
            "Nothing to change: Tidegate is installed for {host} in {en}.",
            "変更はありません。{host} 用に {ja} へインストール済みです。"
        ));
    } else if args.report.dry_run {
        page.paragraph(both!(
            "`tidegate init --host` would change this for {en}:",
            "`tidegate init --host` は {ja} に次の変更をします:"
        ));
        for change in changes {
            page.item(change);
        }
    } else {
        page.paragraph(both!(
            "Installed for {host} in {en} (preset {preset}).",
            "{host} 用に {ja} へインストールしました（プリセット: {preset}）。"
        ));
        for change in changes {
            page.item(change);
        }
    }
    summary::list_notable(&mut page, steps, target);
    let limits = Capability::ALL.iter().filter_map(|it| Some((*it, hooks.host.support(*it).limit()?)));
    let limits: Vec<Bilingual> = limits
        .map(|(it, limit)| {
            both!(
                "{en}: {limit_en}",
                "{ja}: {limit_ja}",
                en = it.title(Lang::En),
                ja = it.title(Lang::Ja),
                limit_en = limit.en,
                limit_ja = limit.ja
            )
        })
        .collect();
    if !limits.is_empty() {
        page.paragraph(both!(
            "What {host} cannot do, or not in full:",
            "{host} でできないこと、制限のあること:"
        ));
        for limit in limits {
            page.item(limit);
        }
    }
    let undo = format!(
        "`tidegate uninstall {}--host {}`",
        if target.is_user { "--user " } else { "" },
        hooks.host.name()
    );
    if says_recording(args, executed) {
        let here = if target.is_user || preset == "observe" {
            Bilingual::default()
        } else {
            check_of_project(target, config)
        };
        let agent = agent_name(hooks.host.name());
        page.labelled(label(both!("Checks", "チェック")), Text::from(checks(preset, agent)) + here);
        if hooks.host.support(Capability::Memory).limit().is_none() {
            page.labelled(label(both!("Records", "記録")), recording(target, config, agent));
        }
    }
    page.labelled(label(both!("Undo", "元に戻す")), data(undo));
    // Codex asks for its trust in the person's own hooks, too.
    let next = if target.is_user && hooks.host != Host::Codex {
        both!(
            "start `{program}` in a project. `tidegate doctor` there shows whether the hooks run.",
            "プロジェクトで `{program}` を起動してください。フックが動いているかは `tidegate doctor` で確認できます。",
            program = hooks.host.name()
        )
    } else {
        (hooks.next)()
    };
    page.labelled(label(both!("Next", "次に")), next);
    page
}

fn says_recording(args: &Args, executed: &Executed) -> bool {
    executed.is_changed && !args.status_line
}

fn page_of(
    args: &Args,
    target: &Target,
    executed: &Executed,
    preset: &str,
    config: &Config,
    past: Option<Bilingual>,
) -> Page {
    let steps = &executed.plan.steps;
    if args.report.diff {
        return summary::diff_page(steps, target);
    }
    let mut page = Page::new();
    let view = GitView::after(&executed.plan, target);
    let changes = summary::list_changes(steps, target);
    let place = tilde(&target.root, target.env.place.home.as_deref());
    match changes {
        changes if changes.is_empty() => page.paragraph(both!(
            "Nothing to change: Tidegate is installed in {place}.",
            "変更はありません。{place} にインストール済みです。"
        )),
        changes if args.report.dry_run => {
            page.paragraph(both!(
                "`tidegate init` would change this for {place}:",
                "`tidegate init` は {place} に次の変更をします:"
            ));
            for change in changes {
                page.item(change);
            }
            page.paragraph(both!(
                "The full text: `tidegate init --diff`. Undo: `tidegate uninstall`.",
                "全文: `tidegate init --diff`。元に戻す: `tidegate uninstall`。"
            ));
        }
        _ if args.status_line => page.paragraph(both!(
            "Added the status line to {file}.",
            "{file} にステータスラインを追加しました。",
            file = own_settings(target)
        )),
        _ => installed(&mut page, target, &place, preset, &view),
    }
    summary::list_notable(&mut page, steps, target);
    if let Some(line) = view.said() {
        page.labelled(label(both!("Git", "Git")), line);
    }
    if let Some(line) = dropped_skills(target, executed) {
        page.labelled(label(both!("Skills", "スキル")), line);
    }
    if !says_recording(args, executed) {
        return page;
    }
    if let Some(line) = subfolder(target, &place) {
        page.labelled(label(both!("Folder", "フォルダ")), line);
    }
    if !executed.plan.renamed.is_empty() {
        page.labelled(label(both!("Skills", "スキル")), renamed_skills(&executed.plan.renamed));
    }
    if wraps_status_line(target, executed) {
        page.labelled(
            label(both!("Status line", "ステータスライン")),
            both!(
                "yours stays; Tidegate's part follows it.",
                "今の表示はそのままで、後ろに Tidegate の表示が付きます。"
            ),
        );
    }
    let here = if target.is_user || preset == "observe" {
        Bilingual::default()
    } else {
        check_of_project(target, config)
    };
    let agent = agent_name(Host::ClaudeCode.name());
    page.labelled(label(both!("Checks", "チェック")), Text::from(checks(preset, agent)) + here);
    page.labelled(label(both!("Records", "記録")), recording(target, config, agent));
    if let Some(line) = past {
        page.labelled(label(both!("Earlier", "これまで")), line);
    }
    if target.shared {
        page.labelled(label(both!("Team", "チーム")), both!(
            "commit .claude, .mcp.json and .gitignore. Teammates who have tidegate hear at their first session that it records.",
            ".claude、.mcp.json、.gitignore をコミットしてください。tidegate を入れているメンバーには、最初のセッションで記録について知らせます。"
        ));
    }
    if let Some(backup) = &executed.backup {
        let folder = tilde(backup, target.env.place.home.as_deref());
        page.labelled(
            label(both!("Backup", "控え")),
            both!("your files as they were: {folder}", "元のファイル: {folder}"),
        );
    }
    page.labelled(label(both!("Undo", "元に戻す")), data(format!("`{}`", undo(target))));
    page.labelled(label(both!("Next", "次に")), next(target));
    if let Some(line) = other_hosts(target) {
        page.labelled(label(both!("Agents", "エージェント")), line);
    }
    page
}

/// Agents that the person uses, too.
fn other_hosts(target: &Target) -> Option<Bilingual> {
    let found: Vec<&HostHooks> =
        HOSTS.iter().copied().filter(|hooks| hooks.is_found(&target.env.place)).collect();
    let commands: Vec<String> = found
        .iter()
        .map(|hooks| {
            format!(
                "`tidegate init {}--host {}`",
                if target.is_user { "--user " } else { "" },
                hooks.host.name()
            )
        })
        .collect();
    let names: Vec<&str> = found.iter().map(|hooks| Host::title(hooks.host.name())).collect();
    (!found.is_empty() && !target.shared).then(|| {
        both!(
            "you also use {en}. To be checked there, too: {commands}",
            "{ja} も使っています。そこでも確認するには: {commands}",
            en = names.join(" and "),
            ja = names.join("、"),
            commands = commands.join(", ")
        )
    })
}

fn label(words: Bilingual) -> Text {
    Text::from(words).strong()
}

fn own_settings(target: &Target) -> String {
    summary::shown_path(&target.own_settings(), target)
}

fn installed(page: &mut Page, target: &Target, place: &str, preset: &str, view: &GitView) {
    page.paragraph(if target.is_user {
        both!("Installed for all your projects (preset {preset}).", "すべてのプロジェクトにインストールしました（プリセット: {preset}）。")
    } else if target.shared {
        both!("Installed for your team in {place} (preset {preset}).", "チーム用に {place} へインストールしました（プリセット: {preset}）。")
    } else if *view == GitView::Clean {
        both!(
            "Installed for you in {place} (preset {preset}); `git status` stays as it was.",
            "{place} に自分用としてインストールしました（プリセット: {preset}）。`git status` は変わりません。"
        )
    } else {
        both!("Installed for you in {place} (preset {preset}).", "{place} に自分用としてインストールしました（プリセット: {preset}）。")
    });
}

fn checks(preset: &str, agent: &str) -> Bilingual {
    match preset {
        "observe" => both!(
            "nothing is blocked. `tidegate report` shows what would have been said.",
            "何もブロックしません。`tidegate report` で、本来知らせる内容を確認できます。"
        ),
        "strict" => both!(
            "edits need the rules' skills first, \"done\" needs a check that passed, and every other check is on.",
            "編集の前にルールのスキルを、「完了」の前に成功した検証を求めます。ほかのチェックもすべて有効です。"
        ),
        _ => both!(
            "once code changed, {agent}'s \"done\" needs a check that passed.",
            "コードを変更したら、{agent} の「完了」には成功した検証が必要です。"
        ),
    }
}

/// A client started in the top folder does not read the settings of this one.
fn subfolder(target: &Target, place: &str) -> Option<Bilingual> {
    let top = target.checkout.as_ref().map(|checkout| &checkout.top).filter(|top| **top != target.root)?;
    let command = format!("tidegate init --project {}", quote_path(top));
    let top = tilde(top, target.env.place.home.as_deref());
    Some(both!(
        "{place} is inside the repository {top}. Tidegate works where you start `claude` in {place}. For the whole repository: `{command}`",
        "{place} はリポジトリ {top} の中です。{place} で起動した `claude` だけで働きます。リポジトリ全体で使うには: `{command}`"
    ))
}

fn renamed_skills(names: &[&str]) -> Bilingual {
    let new: Vec<String> = names.iter().map(|name| format!("tidegate-{name}")).collect();
    both!(
        "your own {names} stays, so Tidegate's is called {new}.",
        "{names} はすでにあるので残し、Tidegate の方は {new} という名前にしました。",
        names = names.join(", "),
        new = new.join(", ")
    )
}

fn wraps_status_line(target: &Target, executed: &Executed) -> bool {
    let text = executed.plan.text_after(&target.own_settings().file);
    settings_text::foreign_line(&text, &target.call).is_some()
}

/// A command that satisfies `verify-stop`, or how to name one.
fn check_of_project(target: &Target, config: &Config) -> Bilingual {
    let roots = manifests::roots(&target.root, &[]);
    let manifests = manifests::read(&roots, &[], &[]);
    let seen: Vec<_> = manifests.iter().map(ProjectManifest::seen).collect();
    let project = project_checks::read_project(&seen);
    let missing = required_checks::missing_kinds(Some(&project), config, &[], Kinds::NONE);
    let commands = verify_stop::example_commands(Some(&project), config, &[], missing);
    if !commands.is_empty() {
        return both!(
            " Here: {en}.",
            "ここでは {ja} です。",
            en = commands.join(" or "),
            ja = commands.join(" か ")
        );
    }
    let file = tilde(&target.env.place.config().unwrap_or_default(), target.env.place.home.as_deref());
    both!(
        " Tidegate found no check command here. Name yours in {file}, section `[verify_stop.commands]`: `test = [\"make check\"]`",
        "ここではコマンドが見つからないので、{file} の `[verify_stop.commands]` に書いてください: `test = [\"make check\"]`"
    )
}

fn recording(target: &Target, config: &Config, agent: &str) -> Bilingual {
    if !relay_log::is_on(config) {
        return both!("no conversations: recording is off.", "会話は記録しません（記録はオフです）。");
    }
    let home = target.env.place.home.as_deref();
    let folder = tilde(&target.env.place.memory().unwrap_or_default(), home);
    let team = &config.memory.team;
    let server = team.url.as_ref().map(TeamUrl::shown).unwrap_or_default();
    let Bilingual { en, ja } = if is_shared_here(target, team) {
        both!(
            "on this machine ({folder}) and on your team's server {server}",
            "このマシン（{folder}）とチームのサーバー（{server}）に保存します"
        )
    } else if target.is_user && team.url.is_some() && !team.projects.0.is_empty() {
        let shared: Vec<&str> = team.projects.0.iter().map(|project| project.0.as_str()).collect();
        both!(
            "on this machine ({folder}); those of {shared} also on your team's server {server}",
            "このマシン（{folder}）に、{shared} の分はチームのサーバー（{server}）にも保存します",
            shared = shared.join(", ")
        )
    } else if let Some(access) = config.memory.summary.access() {
        let model = access.target.map_or_else(|| "claude".to_owned(), |target| target.url);
        both!(
            "on this machine ({folder}); {model} gets them to write summaries",
            "このマシン（{folder}）に保存し、要約のため {model} に送ります"
        )
    } else {
        both!("on this machine only ({folder})", "このマシンだけに保存します（{folder}）")
    };
    let off = if target.is_user { "tidegate off recording --everywhere" } else { "tidegate off recording" };
    both!(
        "your prompts and {agent}'s answers, {en}. Stop: `{off}`",
        "あなたの入力と {agent} の回答を、{ja}。止めるには: `{off}`"
    )
}

/// Counts files of which the memory has nothing, and reads none of them.
fn past_conversations(target: &Target) -> Option<Bilingual> {
    let homes = AgentHomes::find(&target.env.place);
    let mut memory = memory_if_there();
    let imported = memory.as_mut().and_then(|memory| memory.store().last_import().ok().flatten());
    let mut is_new = |file: &Path| {
        let changed = std::fs::metadata(file).and_then(|about| about.modified()).ok();
        let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        if imported.zip(changed).is_some_and(|(until, at)| at.as_millis() <= u128::from(until.0)) {
            return false;
        }
        let session = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        !memory.as_mut().is_some_and(|memory| memory.session(session).is_ok_and(|known| known.is_some()))
    };
    let all = homes.count_transcripts(&mut is_new);
    let here = if target.is_user { 0 } else { homes.count_transcripts_of(&target.root, &mut is_new) };
    earlier_line(here, all)
}

fn memory_if_there() -> Option<Memory> {
    let here = Here::find().ok()?;
    Memory::open_if_there(&here.env.place, &here.state, &here.config.memory, here.now).ok().flatten()
}

fn earlier_line(here: usize, all: usize) -> Option<Bilingual> {
    let command = "tidegate memory import";
    match (here, all) {
        (_, 0) => None,
        (0, _) => Some(both!(
            "{n} on this machine can be searched after `{command}` (`--dry-run` counts first).",
            "このマシンの過去の会話{all}件は、`{command}` で検索できるようになります（`--dry-run` で件数を確認できます）。",
            n = count_en(all, "past conversation")
        )),
        _ => Some(both!(
            "{n} here, {all} on this machine, can be searched after `{command}` (`--dry-run` counts first).",
            "過去の会話（ここに{here}件、このマシンに{all}件）は、`{command}` で検索できるようになります（`--dry-run` で件数を確認できます）。",
            n = count_en(here, "past conversation")
        )),
    }
}

fn is_shared_here(target: &Target, team: &Team) -> bool {
    let project = memory_project(&target.root);
    let home = target.env.place.home.as_deref();
    !target.is_user && memory::is_shared(team, home, &project.name, Some(&project.key))
}

fn dropped_parts(executed: &Executed) -> Vec<Part> {
    let mut parts: Vec<Part> = executed.plan.dropped.iter().filter_map(|skill| skill.part).collect();
    parts.sort();
    parts.dedup();
    parts
}

fn dropped_skills(target: &Target, executed: &Executed) -> Option<Bilingual> {
    let parts = Part::list(&dropped_parts(executed));
    let names: Vec<&str> = executed.plan.dropped.iter().map(|skill| skill.name).collect();
    let init = match (target.is_user, target.shared) {
        (true, _) => "tidegate init --user",
        (_, true) => "tidegate init --shared",
        _ => "tidegate init",
    };
    (!names.is_empty()).then(|| {
        both!(
            "{names} go: neither your config nor a cycle or workflow here uses them. To have them: `{init} --with {parts}`",
            "{names} を外します（設定にも、ここのサイクルやワークフローにも使われていません）。使うには: `{init} --with {parts}`",
            names = names.join(", ")
        )
    })
}

fn undo(target: &Target) -> &'static str {
    match (target.is_user, target.shared) {
        (true, _) => "tidegate uninstall --user",
        (_, true) => "tidegate uninstall --shared",
        _ => "tidegate uninstall",
    }
}

fn next(target: &Target) -> Bilingual {
    if target.is_user {
        return both!(
            "start `claude` in a project. `tidegate doctor` there shows whether the hooks run.",
            "プロジェクトで `claude` を起動してください。フックが動いているかは `tidegate doctor` で確認できます。"
        );
    }
    both!(
        "start `claude` here and trust the folder. `tidegate doctor` then shows whether the hooks run.",
        "ここで `claude` を起動し、フォルダを信頼してください。フックが動いているかは `tidegate doctor` で確認できます。"
    )
}
