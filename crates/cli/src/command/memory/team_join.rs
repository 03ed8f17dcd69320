//! `tidegate memory team join` and `leave`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::memory::settings::{TeamUrl, Tls};
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::settings::list::{Item, Listed, TeamProject};
use tidegate_core::settings::setting::Setting;
use tidegate_core::settings::value::Value;
use tidegate_memory::act;
use tidegate_memory::error::ErrorKind;
use tidegate_memory::memory::Memory;
use tidegate_memory::postgres::{Address, Patience, PostgresStore};
use tidegate_memory::team::{self, Direction};
use tidegate_state::file::replace;
use toml_edit::{DocumentMut, Item as TomlItem, Table};

use super::server_args::ServerArgs;
use super::{Opened, line};
use crate::approval::{self, Consent, Request};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data};
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  PGPASSWORD=… tidegate memory team join postgres://ann@db.example.com/memory --project harbour
  tidegate memory team join postgres://ann@db.example.com/memory --project github.com/acme/app

Connects, writes `[memory.team]` into your own config, exchanges rows and lists what the
team shares. The projects that you name are shared from then on, and no others; a name
or the git remote will do. Your config names the variable with the password, never the
password itself.

Exit codes: 0 done, 1 failed, 4 waits for a person's approval.")]
pub(crate) struct JoinArgs {
    /// Server and database: postgres://USER@HOST:PORT/DATABASE
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Project to share, by name, folder or git remote; can be repeated
    #[arg(long = "project", value_name = "PROJECT")]
    pub(crate) projects: Vec<String>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory team leave

Removes the server from your own config. Rows that you have stay here, and rows that
you sent stay there: to delete them, run `tidegate memory forget` and `push` before.")]
pub(crate) struct LeaveArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Joined {
    server: String,
    login: String,
    administrator: bool,
    shared: Vec<String>,
    pulled: usize,
    delivered: usize,
    projects: Vec<ProjectThere>,
}

#[derive(Serialize)]
struct ProjectThere {
    key: String,
    name: String,
    topics: u64,
    decisions: u64,
    logs: u64,
    members: Vec<String>,
    shared: bool,
}

pub(super) fn join(args: &JoinArgs) -> Outcome {
    let here = Here::find()?;
    let address = args.server.address(&here, &args.url)?;
    let shared = projects_to_share(&here, &args.projects)?;
    let mut store = PostgresStore::connect(address.clone(), Patience::LONG)?;
    let (login, administrator) = store.login()?;
    let names: Vec<String> = shared.iter().map(|name| line(name, 80)).collect();
    let (server, listed) = (address.shown().to_owned(), names.join(", "));
    let would = if names.is_empty() {
        both!(
            "This joins the team at {server} and shares no project yet.",
            "{server} のチームに参加します。プロジェクトはまだ共有しません。"
        )
    } else {
        both!(
            "This shares all conversations, decisions and topics of {listed} with everyone in the team at {server}.",
            "{listed} の会話、決定、トピックをすべて、{server} のチーム全員と共有します。"
        )
    };
    let mut command = args.server.approved_command("memory team join", &address);
    for name in &args.projects {
        command.push_str(" --project ");
        command.push_str(&line(name, 200));
    }
    let request = Request {
        name: "memory team",
        command,
        about: Some(would.en.clone()),
        would: &[would],
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::ask_consent(&here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    let mut keys = args.server.settings(&here, &address);
    keys.push(("projects", Value::List(shared.iter().map(|name| Value::from(name.as_str())).collect())));
    let config = write_config(&here, |document| set_team(document, &keys))?;
    approval::record_command(&here, &request.command, &given, Deeds::default());
    let mut memory = open_sharing(&here, &address, &shared)?;
    let exchanged = team::exchange(&mut memory, &address, Direction::Both, usize::MAX, Patience::LONG)?;
    let here_shared: Vec<String> =
        memory.store().shared_projects()?.into_iter().map(|(_, name)| name).collect();
    let is_shared = |key: &String, name: &String| shared.contains(key) || here_shared.contains(name);
    let there = store.team_projects()?.into_iter();
    let projects: Vec<ProjectThere> = there
        .map(|one| ProjectThere {
            shared: is_shared(&one.key, &one.name),
            key: one.key,
            name: one.name,
            topics: one.topics,
            decisions: one.decisions,
            logs: one.logs,
            members: one.owners,
        })
        .collect();
    let joined = Joined {
        server,
        login,
        administrator,
        shared,
        pulled: exchanged.pulled,
        delivered: exchanged.delivered,
        projects,
    };
    if args.json {
        print::json(&joined);
        return Ok(ExitCode::SUCCESS);
    }
    joined_page(&joined, &config.display().to_string()).print();
    Ok(ExitCode::SUCCESS)
}

fn joined_page(joined: &Joined, config: &str) -> Page {
    let (login, server) = (line(&joined.login, 40), &joined.server);
    let mut page = Page::of(both!(
        "You are in the team as {login}: {server}",
        "{login} としてチームに参加しました: {server}"
    ));
    let (sent, pulled) = (joined.delivered, joined.pulled);
    page.paragraph(both!(
        "Written to {config}. Sent {s}, fetched {p}.",
        "{config} に書き込みました。{sent}行を送り、{pulled}行を受け取りました。",
        s = count_en(sent, "row"),
        p = count_en(pulled, "row")
    ));
    if joined.projects.is_empty() {
        page.paragraph(both!("The team shares nothing yet.", "チームはまだ何も共有していません。"));
        return page;
    }
    page.gap();
    page.pairs(joined.projects.iter().map(|one| {
        let counts = super::row_words::describe_counts(one.decisions, one.logs);
        let who = line(&one.members.join(", "), 200);
        let state = if one.shared {
            both!("shared", "共有中")
        } else {
            both!("not listed in your config", "設定にないため表示しません")
        };
        let details: Vec<Bilingual> =
            [counts, state].into_iter().chain((!who.is_empty()).then(|| Bilingual::data(who))).collect();
        (data(line(&one.key, 80)), Text::from(super::row_words::dotted(&details)))
    }));
    if joined.projects.iter().any(|one| !one.shared) {
        page.gap();
        page.paragraph(both!(
            "To see and share another one, run the same command with `--project NAME`.",
            "ほかのプロジェクトも見て共有するには、同じコマンドに `--project NAME` を付けて実行してください。"
        ));
    }
    page
}

pub(super) fn leave(args: &LeaveArgs) -> Outcome {
    let here = Here::find()?;
    if approval::is_by_agent(&here.env) {
        return Err(CliError::new(both!(
            "only a person can leave a team",
            "チームから抜けられるのは人だけです"
        ))
        .hint(both!(
            "ask the person to run `tidegate memory team leave` at a terminal",
            "端末で `tidegate memory team leave` を実行するよう、人に頼んでください"
        )));
    }
    if here.config.memory.team.url.is_none() {
        return Err(team::no_team().into());
    }
    let config = write_config(&here, |document| {
        let team = document
            .get_mut("memory")
            .and_then(TomlItem::as_table_like_mut)
            .and_then(|memory| memory.get_mut("team"))
            .and_then(TomlItem::as_table_like_mut);
        if let Some(team) = team {
            team.remove("url");
            team.remove("projects");
        }
        Ok(())
    })?;
    if args.json {
        print::json(&serde_json::json!({ "left": true }));
        return Ok(ExitCode::SUCCESS);
    }
    let config = config.display();
    Page::of(both!(
        "Tidegate no longer shares anything ({config}). An administrator ends your login with `tidegate memory team remove`.",
        "共有をやめました（{config}）。ログインは管理者が `tidegate memory team remove` で削除します。"
    ))
    .print();
    Ok(ExitCode::SUCCESS)
}

/// Those of the config, and the named ones.
fn projects_to_share(here: &Here, named: &[String]) -> Result<Vec<String>, CliError> {
    let mut shared: Vec<String> =
        here.config.memory.team.projects.0.iter().map(|project| project.0.clone()).collect();
    for name in named {
        let name = if name == "." {
            here.root.as_deref().map_or(name.clone(), |root| root.display().to_string())
        } else {
            name.clone()
        };
        if <TeamProject as Item>::read(&name).is_err() {
            let name = line(&name, 80);
            return Err(CliError::new(both!(
                "`{name}` cannot be the name of a project",
                "`{name}` はプロジェクトの名前になりません"
            ))
            .hint(both!(
                "name it as `tidegate memory list projects` shows it, or by its folder or git remote",
                "`tidegate memory list projects` の名前か、フォルダか、git remote で指定してください"
            )));
        }
        if !shared.contains(&name) {
            check_one_is_meant(&name)?;
            shared.push(name);
        }
    }
    Ok(shared)
}

/// Which of several projects of one name is shared must be clear.
fn check_one_is_meant(name: &str) -> Result<(), CliError> {
    let Some(mut opened) = Opened::look()? else { return Ok(()) };
    match act::find_project(&mut opened.memory, name) {
        Err(error) if error.kind == ErrorKind::Refused => {
            let each = error.hint.clone().unwrap_or_default();
            Err(CliError::from(error).hint(both!(
                "share one by its folder or its git remote: `--project FOLDER`; {each}",
                "フォルダか git remote で指定してください: `--project FOLDER`（{each}）"
            )))
        }
        _ => Ok(()),
    }
}

/// The memory with the settings that were just written.
fn open_sharing(here: &Here, address: &Address, shared: &[String]) -> Result<Memory, CliError> {
    let mut settings = here.config.memory.clone();
    settings.team.url = TeamUrl::from_value(&Value::from(address.shown()));
    settings.team.tls = if address.is_encrypted() { Tls::Verify } else { settings.team.tls };
    settings.team.projects =
        Listed(shared.iter().filter_map(|name| <TeamProject as Item>::read(name).ok()).collect());
    Ok(Memory::open(&here.env.place, &here.state, &settings, here.now)?)
}

fn set_team(document: &mut DocumentMut, keys: &[(&'static str, Value)]) -> Result<(), &'static str> {
    let implicit = || {
        let mut table = Table::new();
        table.set_implicit(true);
        TomlItem::Table(table)
    };
    let memory = document.entry("memory").or_insert_with(implicit);
    let memory = memory.as_table_like_mut().ok_or("memory")?;
    let team = memory.entry("team").or_insert_with(|| TomlItem::Table(Table::new()));
    let team = team.as_table_like_mut().ok_or("memory.team")?;
    for (key, value) in keys {
        // The text of a value is TOML.
        let parsed: Result<toml_edit::Value, _> = value.to_string().parse();
        let Ok(mut new) = parsed else { return Err("memory.team") };
        match team.get_mut(key).and_then(TomlItem::as_value_mut) {
            Some(there) => {
                *new.decor_mut() = there.decor().clone();
                *there = new;
            }
            None => {
                team.insert(key, TomlItem::Value(new));
            }
        }
    }
    Ok(())
}

/// The user's own config, with everything else in it kept. Returns its path.
fn write_config(
    here: &Here,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), &'static str>,
) -> Result<PathBuf, CliError> {
    let path = here.env.place.config().ok_or_else(|| {
        CliError::new(both!(
            "the config has no place: HOME is not set",
            "HOME が設定されていないため、設定ファイルを置けません"
        ))
    })?;
    let shown = path.display().to_string();
    let failed = |why: String| {
        CliError::new(both!("{shown}: {why}", "{shown}: {why}")).hint(both!(
            "fix the file, then run this again; nothing was changed",
            "ファイルを直して、もう一度実行してください。何も変更していません"
        ))
    };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error.to_string())),
    };
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| failed(error.message().trim().to_owned()))?;
    change(&mut document).map_err(|key| failed(format!("`{key}` is not a table")))?;
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| replace::durable_private(&path, document.to_string().as_bytes()))
        .map_err(|error| failed(error.to_string()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;

    #[test]
    fn a_team_that_was_joined_looks_well() {
        let project = |key: &str, shared| ProjectThere {
            key: key.to_owned(),
            name: "app".to_owned(),
            topics: 3,
            decisions: 2,
            logs: 41,
            members: vec!["ann".to_owned(), "bob".to_owned()],
            shared,
        };
        let joined = Joined {
            server: "postgres://ann@db.example.com/memory".to_owned(),
            login: "ann".to_owned(),
            administrator: false,
            shared: vec!["app".to_owned()],
            pulled: 5,
            delivered: 120,
            projects: vec![project("github.com/acme/app", true), project("quays", false)],
        };
        assert_looks("team-joined", &joined_page(&joined, "~/.config/tidegate/config.toml"));
    }

    #[test]
    fn a_config_keeps_everything_else() {
        let text = "lang = \"ja\" # mine\n[memory.team]\n# the server\nurl = \"postgres://old/x\" # old\n";
        let mut document: DocumentMut = text.parse().unwrap();
        let keys = [
            ("url", Value::from("postgres://ann@db/m")),
            ("projects", Value::List(vec![Value::from("a\"b")])),
        ];
        set_team(&mut document, &keys).unwrap();
        assert_eq!(
            document.to_string(),
            "lang = \"ja\" # mine\n[memory.team]\n# the server\nurl = \"postgres://ann@db/m\" # old\nprojects = [\"a\\\"b\"]\n"
        );
        let mut empty = DocumentMut::new();
        set_team(&mut empty, &keys[..1]).unwrap();
        assert_eq!(empty.to_string(), "[memory.team]\nurl = \"postgres://ann@db/m\"\n");
        let mut wrong: DocumentMut = "memory = 3".parse().unwrap();
        assert_eq!(set_team(&mut wrong, &keys), Err("memory"));
    }
}
