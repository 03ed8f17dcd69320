//! `tidegate off`: the honest way past a gate.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature as policy;
use tidegate_core::feature::Mode;
use tidegate_core::feature::config::former_names;
use tidegate_core::feature::config::parse_off_list;
use tidegate_core::pipeline::record::{Deeds, SwitchedPolicy};
use tidegate_core::text::hidden::show_name;
use tidegate_core::time::Millis;
use tidegate_state::config::switches;
use tidegate_state::config::switches::{Off, Scope, SteppedDown, Switches};
use tidegate_state::journal::friction;
use tidegate_state::journal::friction::Reach;

use super::Outcome;
use crate::approval::{self, Consent, Request};
use crate::args::Span;
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::policy_words::describe_policy;
use crate::print;
use crate::print::page::Page;
use crate::print::remark;
use crate::print::table::{Column, Table};
use crate::print::text::{Text, data};
use crate::sessions::Here;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate off                              list the policies
  tidegate off context-warning --for 2h     this project, for two hours
  tidegate off skill-gate --project ~/code/app
  tidegate off skill-gate --session         this project's newest session
  tidegate off skill-gate --everywhere

Works from another terminal while a session is stuck. Called by an agent, it prints a
code that only a person can approve. TIDEGATE_OFF=skill-gate in the environment of
Claude Code does the same for that run.

Exit codes: 0 done, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// Policy to switch off; without it, list all
    #[arg(value_name = "POLICY")]
    pub(crate) policy: Option<String>,
    /// How long: 30m, 2h, 1d; without it, until `tidegate on`
    #[arg(long, value_name = "TIME", requires = "policy")]
    pub(crate) r#for: Option<Span>,
    /// Use another project than that of the current folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["session", "everywhere"], requires = "policy")]
    pub(crate) project: Option<PathBuf>,
    /// Only this session; without ID, this project's newest
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", requires = "policy")]
    pub(crate) session: Option<String>,
    /// All your projects
    #[arg(long, conflicts_with = "session", requires = "policy")]
    pub(crate) everywhere: bool,
    /// Use the approval that a person gave in this session
    #[arg(long, requires = "policy")]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct ShownSwitch<'a> {
    policy: &'a str,
    scope: &'a Scope,
    since: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    /// It counts in this project and session.
    here: bool,
    /// From now on it only advises here, once it is on again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stepped_down: bool,
}

/// Part of the journal that decides about stepping down.
const REACH: Reach = Reach { days: 30, of_a_day: 16 * 1024 * 1024 };

pub(crate) fn run(args: &Args) -> Outcome {
    let mut here = Here::find()?;
    if let Some(project) = &args.project {
        here.look_at(project)?;
    }
    let Some(id) = &args.policy else {
        list_policies(&here, args.json);
        return Ok(ExitCode::SUCCESS);
    };
    let policy = find_policy(id)?;
    let until = args.r#for.map(|time| Millis(here.now.0 + time.0));
    let off = Off { policy: policy.to_owned(), scope: choose_scope(&here, args)?, since: here.now, until };
    let Bilingual { en, ja } = describe_off(&LocalClock::of_system(here.now), &off);
    let request = Request {
        name: "off",
        command: approved_command(args, &off),
        // The approval says "once", which people took for the duration.
        about: off.until.is_none().then(|| format!("switches {policy} off until it is switched on again")),
        would: &[both!("This would switch {policy} off {en}.", "{policy} をオフにします（{ja}）。")],
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::consent_unless_typed(&here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    change_switches(&here, |switches| {
        switches.off.retain(|known| (&known.policy, &known.scope) != (&off.policy, &off.scope));
        switches.off.push(off.clone());
    })?;
    let switched_off = Some(to_switched(&off));
    approval::record_command(&here, &request.command, &given, Deeds { switched_off, ..Deeds::default() });
    let stepped_down = given.by_person && steps_down(&here, policy);
    if args.json {
        print::json(&ShownSwitch { stepped_down, ..off_json(&here, &off) });
    } else {
        switched_page(&here, &off, stepped_down).print();
    }
    Ok(ExitCode::SUCCESS)
}

fn switched_page(here: &Here, off: &Off, stepped_down: bool) -> Page {
    let mut page = Page::new();
    let (policy, Bilingual { en, ja }) = (&off.policy, describe_off(&LocalClock::of_system(here.now), off));
    page.paragraph(both!("{policy} is off {en}.", "{policy} をオフにしました（{ja}）。"));
    page.paragraph(both!(
        "Switch it on again: `tidegate on {policy}`",
        "オンに戻すには: `tidegate on {policy}`"
    ));
    if stepped_down {
        page.paragraph(both!(
            "People overrode it in five of its last ten interruptions in this project. When it comes back, it only advises \
             here. `tidegate on {policy}` makes it block again; `tidegate report` counts the interruptions.",
            "このプロジェクトでは、直近10回のうち5回取り消されました。オンに戻ったあとは、ここでは助言だけになります。再び止めるには \
             `tidegate on {policy}`、内訳は `tidegate report` で見られます。"
        ));
    }
    page
}

/// A journal that cannot be read causes no step down.
fn steps_down(here: &Here, policy: &str) -> bool {
    let Some(root) = &here.root else { return false };
    let down = friction::step_down(&here.state, here.now, &here.config, root, &[policy.to_owned()], REACH);
    down.is_ok_and(|down| !down.is_empty())
}

fn to_switched(off: &Off) -> SwitchedPolicy {
    let (session, project) = match &off.scope {
        Scope::Everywhere => (None, None),
        Scope::Project(root) => (None, Some(root.clone())),
        Scope::Session(id) => (Some(id.clone()), None),
    };
    SwitchedPolicy { policy: off.policy.clone(), session, project }
}

/// Both kinds in one list.
pub(super) fn as_json(here: &Here, switches: &Switches) -> Vec<serde_json::Value> {
    let off = switches.off.iter().map(|off| serde_json::to_value(off_json(here, off)));
    let down = switches.stepped_down.iter().map(serde_json::to_value);
    off.chain(down).filter_map(Result::ok).collect()
}

pub(super) fn change_switches(here: &Here, edit: impl FnOnce(&mut Switches)) -> Result<(), CliError> {
    switches::change(&here.state, here.now, edit).map_err(|error| {
        let file = here.state.root().join("off.json");
        CliError::new(format!("{}: {error}", file.display())).hint(both!(
            "nothing was changed; move that file away if it is damaged",
            "何も変更していません。ファイルが壊れている場合は、別の場所に移してください"
        ))
    })
}

fn list_policies(here: &Here, json: bool) {
    let mut switches = switches::read(&here.state);
    switches.off.retain(|off| !off.is_expired(here.now));
    if json {
        print::json(&as_json(here, &switches));
        return;
    }
    warn_of_damage(here);
    policies_page(here, &switches).print();
}

fn policies_page(here: &Here, switches: &Switches) -> Page {
    let places = switches::project_paths(here.root.as_deref());
    let is_here = |off: &&Off| off.is_active(here.now, &places, here.env.session.as_deref());
    let by_variable = here.env.off.as_deref().map(parse_off_list).unwrap_or_default();
    let mut page = Page::new();
    match &here.root {
        Some(root) => {
            let root = root.display().to_string();
            let root = show_name(&root);
            page.heading(both!("Policies in {root}", "{root} のポリシー"));
        }
        None => page.heading(both!("Policies", "ポリシー")),
    }
    let clock = LocalClock::of_system(here.now);
    let mut table = Table::new([
        Column::text(both!("policy", "ポリシー")),
        Column::text(both!("state", "状態")),
        Column::text(Bilingual::default()),
    ]);
    for policy in policy::POLICIES.iter().filter(|policy| describe_policy(policy.id()).is_some()) {
        let id = policy.id();
        let off = switches.off.iter().filter(is_here).find(|off| off.policy == id);
        let state = match off {
            Some(off) => {
                let Bilingual { en, ja } = describe_end(&clock, off);
                Text::from(both!("off {en}", "オフ（{ja}）")).warning()
            }
            None if by_variable.iter().any(|off| off == id) => {
                Text::from(both!("off by TIDEGATE_OFF", "オフ（TIDEGATE_OFF）")).warning()
            }
            None if switches.is_down(id, &places) => Text::from(both!("advises only", "助言のみ")).warning(),
            None => describe_mode(policy.mode(&here.config)),
        };
        table.row([data(id).strong(), state, describe_policy(id).unwrap_or_default().into()]);
    }
    page.table(table);
    let elsewhere: Vec<&Off> = switches.off.iter().filter(|off| !is_here(off)).collect();
    let down: Vec<&SteppedDown> = switches.stepped_down.iter().filter(|down| !down.is_in(&places)).collect();
    if !elsewhere.is_empty() || !down.is_empty() {
        page.heading(both!("Elsewhere", "ほかの場所"));
        for off in elsewhere {
            let (policy, Bilingual { en, ja }) = (show_name(&off.policy), describe_off(&clock, off));
            page.item(both!("{policy} is off {en}", "{policy} はオフです（{ja}）"));
        }
        for down in down {
            page.item(only_advises(down));
        }
    }
    page.gap();
    page.paragraph(both!(
        "Switch one off: `tidegate off POLICY --for 2h`. Switch it on again: `tidegate on POLICY`.",
        "オフにするには `tidegate off ポリシー名 --for 2h`、オンに戻すには `tidegate on ポリシー名` を実行します。"
    ));
    page
}

fn describe_mode(mode: Mode) -> Text {
    match mode {
        Mode::Live => Text::from(both!("on", "オン")).good(),
        Mode::Shadow => both!("log-only", "記録のみ").into(),
        Mode::Off => Text::from(both!("not in use", "不使用")).dim(),
    }
}

pub(super) fn warn_of_damage(here: &Here) {
    if let Some(problem) = switches::find_problem(&here.state) {
        remark::warn(both!(
            "{problem}; it switches nothing off",
            "{problem}（そのため、オフにする指定は効いていません）"
        ));
    }
}

/// Finds a policy by its id, or with a hint by its former one.
pub(super) fn find_policy(id: &str) -> Result<&'static str, CliError> {
    if let Some(now) = former_names::renamed_policy(id) {
        remark::hint(both!("`{id}` is called `{now}` now", "`{id}` は `{now}` に名前が変わりました"));
        return Ok(now);
    }
    if let Some(policy) = policy::switchable_policies().find(|known| *known == id) {
        return Ok(policy);
    }
    let hint = match former_names::nearest_policy(id) {
        Some(near) => both!("did you mean `{near}`?", "`{near}` ではありませんか？"),
        None => both!("`tidegate off` lists the policies", "`tidegate off` でポリシーの一覧を表示します"),
    };
    let id = show_name(id);
    Err(CliError::new(both!("there is no policy `{id}`", "`{id}` というポリシーはありません")).hint(hint))
}

fn choose_scope(here: &Here, args: &Args) -> Result<Scope, CliError> {
    if args.everywhere {
        return Ok(Scope::Everywhere);
    }
    if let Some(id) = &args.session {
        let named = Some(id.as_str()).filter(|id| !id.is_empty());
        return Ok(Scope::Session(here.session(named)?.id.to_string()));
    }
    match &here.root {
        Some(root) => Ok(Scope::Project(root.to_string_lossy().into_owned())),
        None => Err(CliError::new(both!("the project is not known", "プロジェクトがわかりません")).hint(
            both!("use --everywhere or --session ID", "--everywhere か --session ID を指定してください"),
        )),
    }
}

/// As it would be typed, always in the same order and with its scope: an approval is for exactly this text.
fn approved_command(args: &Args, off: &Off) -> String {
    let time = args.r#for.map(|time| format!(" --for {time}")).unwrap_or_default();
    let scope = match &off.scope {
        Scope::Everywhere => "--everywhere".to_owned(),
        Scope::Project(root) => format!("--project {}", quote_path(Path::new(root))),
        Scope::Session(id) => format!("--session {id}"),
    };
    format!("off {}{time} {scope}", off.policy)
}

pub(crate) fn only_advises(down: &SteppedDown) -> Bilingual {
    let (policy, project) = (show_name(&down.policy), show_name(&down.stepped_down_in));
    both!(
        "{policy} only advises in {project}, because people overrode it often there",
        "{policy} は何度も取り消されたため、{project} では助言だけをします"
    )
}

/// `in this project until 14:05 JST`.
pub(crate) fn describe_off(clock: &LocalClock, off: &Off) -> Bilingual {
    let (place, end) = (describe_scope(&off.scope), describe_end(clock, off));
    Bilingual { en: format!("{} {}", place.en, end.en), ja: format!("{}、{}", place.ja, end.ja) }
}

pub(crate) fn describe_scope(scope: &Scope) -> Bilingual {
    match scope {
        Scope::Everywhere => both!("in every project", "すべてのプロジェクト"),
        Scope::Project(root) => both!("in {root}", "{root}", root = show_name(root)),
        Scope::Session(id) => both!("in session {id}", "セッション {id}", id = show_name(id)),
    }
}

fn describe_end(clock: &LocalClock, off: &Off) -> Bilingual {
    match off.until {
        Some(until) => {
            let until = clock.minute_with_zone(until);
            both!("until {until}", "{until}まで")
        }
        None => both!("until you switch it on", "オンに戻すまで"),
    }
}

fn off_json<'a>(here: &Here, off: &'a Off) -> ShownSwitch<'a> {
    ShownSwitch {
        policy: &off.policy,
        scope: &off.scope,
        since: off.since.iso(),
        until: off.until.map(Millis::iso),
        here: off.is_active(
            here.now,
            &switches::project_paths(here.root.as_deref()),
            here.env.session.as_deref(),
        ),
        stepped_down: false,
    }
}
