//! `tidegate memory team create`, `invite`, `members` and `remove`: for the administrator of a team.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::pipeline::record::Deeds;
use tidegate_memory::postgres::{Address, Patience, PostgresStore};

use super::server_args::ServerArgs;
use super::{line, team};
use crate::approval::{self, Consent, Request};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::print::remark;
use crate::print::text::{Text, data};
use crate::sessions::Here;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  PGPASSWORD=… tidegate memory team create postgres://admin@db.example.com/memory

Run it once, and again after an upgrade of Tidegate. The login has to own the database
and must be allowed to make roles (`CREATEROLE`). It becomes the administrator.

Exit codes: 0 done, 1 failed, 4 waits for a person's approval.")]
pub(crate) struct CreateArgs {
    /// Server and database: postgres://USER@HOST:PORT/DATABASE
    #[arg(value_name = "URL")]
    pub(crate) url: String,
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
  tidegate memory team invite ann --server postgres://admin@db.example.com/memory

Prints the password once; Tidegate stores it nowhere, and the server only a hash of it.
For a member, it sets a new password.

Exit codes: 0 done, 1 failed, 4 waits for a person's approval.")]
pub(crate) struct InviteArgs {
    /// Login of the member; teammates see it as the author of rows
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) on: OnServer,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory team remove ann --server postgres://admin@db.example.com/memory

Deletes the login. Rows of the member stay, and so do copies on their machine.

Exit codes: 0 done, 1 failed, 4 waits for a person's approval.")]
pub(crate) struct RemoveArgs {
    /// Login of the member
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) on: OnServer,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory team members")]
pub(crate) struct MembersArgs {
    #[command(flatten)]
    pub(crate) on: OnServer,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OnServer {
    /// Server and database; without it, as in the config
    #[arg(long = "server", value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    approved: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl OnServer {
    fn address(&self, here: &Here) -> Result<Address, CliError> {
        match &self.url {
            Some(url) => self.server.address(here, url),
            None => team::server_address(here)?.ok_or_else(|| {
                CliError::new(both!(
                    "which team? No server is configured",
                    "どのチームですか。サーバーが設定されていません"
                ))
                .hint(both!(
                    "add `--server postgres://USER@HOST/DATABASE`",
                    "`--server postgres://USER@HOST/DATABASE` を付けてください"
                ))
            }),
        }
    }
}

/// Asks for a yes, unless a person typed the command.
fn ask(
    here: &Here,
    command: String,
    would: Bilingual,
    approved: bool,
    json: bool,
) -> Result<Result<(approval::Given, String), ExitCode>, CliError> {
    let request = Request {
        name: "memory team",
        command,
        about: Some(would.en.clone()),
        would: &[would],
        approved,
        json,
    };
    Ok(match approval::consent_unless_typed(here, &request)? {
        Consent::Given(given) => Ok((given, request.command)),
        Consent::Waits(code) => Err(code),
    })
}

pub(super) fn create(args: &CreateArgs) -> Outcome {
    let here = Here::find()?;
    let address = args.server.address(&here, &args.url)?;
    let server = address.shown().to_owned();
    let would = both!(
        "This makes a team's store in {server}: tables, a group for members, and the rules for who may change what.",
        "{server} にチームの保存先（表、メンバーのグループ、変更できる人の規則）を作ります。"
    );
    let command = args.server.approved_command("memory team create", &address);
    let (given, command) = match ask(&here, command, would, args.approved, args.json)? {
        Ok(given) => given,
        Err(code) => return Ok(code),
    };
    let created = PostgresStore::create(address, Patience::LONG).map_err(|error| {
        let needs_role = error.what.contains("42501") && error.what.contains("role");
        let error = CliError::from(error);
        if !needs_role {
            return error;
        }
        error.hint(both!(
            "the login has to own the database and to have `CREATEROLE`: `ALTER ROLE … CREATEROLE`",
            "このログインには、データベースの所有権と `CREATEROLE` が必要です: `ALTER ROLE … CREATEROLE`"
        ))
    })?;
    approval::record_command(&here, &command, &given, Deeds::default());
    if args.json {
        print::json(&serde_json::json!({ "server": server, "password": created.password }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut page =
        Page::of(both!("The team's store is ready: {server}", "チームの保存先の準備ができました: {server}"));
    if let Some(password) = &created.password {
        page.paragraph(both!(
            "The tables are from Tidegate 0.1: every machine of the team knew this login. It is the administrator's now, and has a \
             new password. Keep it for yourself; Tidegate shows it only once.",
            "Tidegate 0.1 の表でした。このログインはチームの全員が知っていたため、管理者専用とし、パスワードを新しくしました。\
             一度しか表示しません。管理者だけが持っていてください。"
        ));
        page.pairs([(both!("password", "パスワード").into(), data(password.as_str()))]);
    }
    page.paragraph(both!(
        "Next: `tidegate memory team invite NAME --server URL` makes a login for each member.",
        "次は `tidegate memory team invite NAME --server URL` で、メンバーごとのログインを作ってください。"
    ));
    page.print();
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct InvitedMember<'a> {
    name: &'a str,
    password: &'a str,
    server: String,
    again: bool,
}

pub(super) fn invite(args: &InviteArgs) -> Outcome {
    let here = Here::find()?;
    let address = args.on.address(&here)?;
    let (server, name) = (address.shown().to_owned(), line(&args.name, 40));
    let would = both!(
        "This makes a login for {name} on {server}; {name} can then read everything that the team shares.",
        "{server} に {name} のログインを作ります。{name} はチームで共有しているものをすべて読めるようになります。"
    );
    let command = args.on.server.approved_command(&format!("memory team invite {name}"), &address);
    let (given, command) = match ask(&here, command, would, args.on.approved, args.on.json)? {
        Ok(given) => given,
        Err(code) => return Ok(code),
    };
    let mut store = PostgresStore::connect(address.clone(), Patience::LONG)?;
    let invited = store.invite(&args.name)?;
    approval::record_command(&here, &command, &given, Deeds::default());
    let url = address.as_user(&args.name);
    if args.on.json {
        let (password, again) = (invited.password.as_str(), invited.again);
        print::json(&InvitedMember { name: &name, password, server: url, again });
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::of(if invited.again {
        both!("{name} has a new password.", "{name} のパスワードを新しくしました。")
    } else {
        both!("{name} is a member now.", "{name} をメンバーにしました。")
    });
    if !invited.again && invited.rows > 0 {
        let rows = invited.rows;
        page.paragraph(both!(
            "The team has {n} of an earlier {name}. They belong to this login now.",
            "以前の {name} の行が{rows}行あります。これからはこのログインのものになります。",
            n = count_en(rows as usize, "row")
        ));
    }
    page.pairs([
        (both!("address", "アドレス").into(), data(url.as_str())),
        (both!("password", "パスワード").into(), data(invited.password.as_str())),
    ]);
    page.paragraph(both!(
        "Tidegate shows this password only once. Send it on a safe way; {name} then runs:",
        "このパスワードは一度しか表示しません。安全な方法で渡してください。{name} が実行するコマンドです:"
    ));
    page.indented(|page| {
        let authority = args.on.server.ca_file.as_ref();
        let authority = authority.map(|file| format!(" --ca-file {}", quote_path(file))).unwrap_or_default();
        page.verbatim(format!("PGPASSWORD=… tidegate memory team join {url} --project NAME{authority}"));
    });
    page.print();
    Ok(ExitCode::SUCCESS)
}

pub(super) fn remove(args: &RemoveArgs) -> Outcome {
    let here = Here::find()?;
    let address = args.on.address(&here)?;
    let (server, name) = (address.shown().to_owned(), line(&args.name, 40));
    let would = both!(
        "This deletes the login of {name} on {server}. Rows of {name} stay.",
        "{server} の {name} のログインを削除します。{name} の行は残ります。"
    );
    let command = args.on.server.approved_command(&format!("memory team remove {name}"), &address);
    let (given, command) = match ask(&here, command, would, args.on.approved, args.on.json)? {
        Ok(given) => given,
        Err(code) => return Ok(code),
    };
    let removed = PostgresStore::connect(address, Patience::LONG)?.remove_member(&args.name)?;
    let rows = removed.rows;
    approval::record_command(&here, &command, &given, Deeds::default());
    if args.on.json {
        let (login_stays, still_connected) = (removed.login_stays, removed.still_connected);
        print::json(&serde_json::json!({
            "name": name, "rows": rows, "login_stays": login_stays, "still_connected": still_connected,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(why) = &removed.still_connected {
        remark::warn(both!(
            "open connections of {name} could not be ended ({why}); they have no rights, but may hold a lock",
            "{name} の開いている接続を切れませんでした（{why}）。権限はありませんが、ロックが残っているかもしれません"
        ));
        remark::hint(both!(
            "a superuser of the server runs: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{name}'",
            "サーバーの superuser が実行してください: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{name}'"
        ));
    }
    if let Some(why) = &removed.login_stays {
        remark::warn(both!(
            "the login {name} could not be deleted ({why}); it has no rights and cannot connect",
            "ログイン {name} は削除できませんでした（{why}）。権限はなく、接続もできません"
        ));
        remark::hint(both!(
            "it owns something on the server; a superuser runs in each database: DROP OWNED BY \"{name}\"; then: DROP ROLE \"{name}\"",
            "サーバーに {name} の所有物があります。superuser が各データベースで実行してください: DROP OWNED BY \"{name}\"。その後: DROP ROLE \"{name}\""
        ));
    }
    Page::of(both!(
        "{name} is no longer a member. {n} of {name} stay in the team's store; as the administrator you can forget them.",
        "{name} はメンバーではなくなりました。{name} の{rows}行はチームの保存先に残ります。管理者なら削除できます。",
        n = count_en(rows as usize, "row")
    ))
    .print();
    Ok(ExitCode::SUCCESS)
}

pub(super) fn members(args: &MembersArgs) -> Outcome {
    let here = Here::find()?;
    let members = PostgresStore::connect(args.on.address(&here)?, Patience::LONG)?.members()?;
    if args.on.json {
        let members: Vec<_> = members
            .iter()
            .map(|member| serde_json::json!({ "name": member.name, "rows": member.rows }))
            .collect();
        print::json(&serde_json::json!({ "members": members }));
        return Ok(ExitCode::SUCCESS);
    }
    if members.is_empty() {
        Page::of(both!("There are no members yet.", "メンバーはまだいません。")).print();
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::new();
    page.pairs(members.iter().map(|member| {
        let rows = member.rows;
        (
            data(line(&member.name, 40)),
            Text::from(both!("{n}", "{rows}行", n = count_en(rows as usize, "row"))),
        )
    }));
    page.print();
    Ok(ExitCode::SUCCESS)
}
