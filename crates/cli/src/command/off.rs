//! `tidegate off`: the honest way past a gate.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature as policy;
use tidegate_core::feature::former_names;
use tidegate_core::pipeline::record::{Deeds, SwitchedPolicy};
use tidegate_core::time::Millis;
use tidegate_state::config::switches;
use tidegate_state::config::switches::{Off, Scope, SteppedDown, Switches};
use tidegate_state::journal::friction;
use tidegate_state::journal::friction::Reach;

use super::Outcome;
use crate::approval::{self, Consent, Request};
use crate::args::Span;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate off                              what is switched off
  tidegate off context-warning --for 2h     in this project, for two hours
  tidegate off skill-gate --project ~/code/app
  tidegate off skill-gate --session         in this project's newest session
  tidegate off skill-gate --everywhere

Works from another terminal while a session is stuck. At a terminal it asks;
called by an agent it prints a code that only a person can approve.
Without any file: TIDEGATE_OFF=skill-gate in the client's environment.

Exit codes: 0 done, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// The policy; without one, lists what is switched off
    #[arg(value_name = "POLICY")]
    pub(crate) policy: Option<String>,
    /// For this long: 30m, 2h, 1d
    #[arg(long, value_name = "TIME", requires = "policy")]
    pub(crate) r#for: Option<Span>,
    /// In another project than that of the current folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["session", "everywhere"], requires = "policy")]
    pub(crate) project: Option<PathBuf>,
    /// Only in this session; without ID in this project's newest
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", requires = "policy")]
    pub(crate) session: Option<String>,
    /// In every project of this user
    #[arg(long, conflicts_with = "session", requires = "policy")]
    pub(crate) everywhere: bool,
    /// A person approved this command in this session
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
    let Some(id) = &args.policy else {
        list_switches(&here, args.json);
        return Ok(ExitCode::SUCCESS);
    };
    let policy = find_policy(id)?;
    if let Some(project) = &args.project {
        here.look_at(project)?;
    }
    let until = args.r#for.map(|time| Millis(here.now.0 + time.0));
    let off = Off { policy: policy.to_owned(), scope: choose_scope(&here, args)?, since: here.now, until };
    let request = Request {
        name: "off",
        command: approved_command(args, &off),
        // The approval says "once", which people took for the duration.
        about: off.until.is_none().then(|| format!("switches {policy} off until it is switched on again")),
        would: &[format!("This would switch {policy} off {}.", describe_off(&off))],
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::ask_consent(&here, &request)? {
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
        print::line(&format!(
            "{policy} is switched off {}. `tidegate on {policy}` switches it on again.",
            describe_off(&off)
        ));
        if stepped_down {
            print::line(&format!(
                "It was overridden in five of its last ten interruptions in this project, so it only advises here when it \
                 comes back. `tidegate on {policy}` lets it block again; `tidegate report` shows the interruptions."
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
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
        CliError::new(format!("{}: {error}", file.display()))
            .hint("nothing was changed; move that file away if it is damaged")
    })
}

fn list_switches(here: &Here, json: bool) {
    let mut list = switches::read(&here.state);
    list.off.retain(|off| !off.is_expired(here.now));
    if json {
        print::json(&as_json(here, &list));
        return;
    }
    for off in &list.off {
        print::line(&format!("{} is switched off {}", off.policy, describe_off(off)));
    }
    for down in &list.stepped_down {
        print::line(&format!("{} {}", down.policy, only_advises(down)));
    }
    warn_of_damage(here);
    for policy in
        here.env.off.as_deref().map(tidegate_core::feature::config::parse_off_list).unwrap_or_default()
    {
        print::line(&format!("{policy} is switched off by TIDEGATE_OFF in this environment"));
    }
    if list.is_empty() && here.env.off.is_none() {
        let policies: Vec<&str> = policy::switchable_policies().collect();
        print::line(&format!("nothing is switched off; policies: {}", policies.join(", ")));
    }
}

pub(super) fn warn_of_damage(here: &Here) {
    if let Some(problem) = switches::find_problem(&here.state) {
        print::to_stderr(&format!("warning: {problem}: it switches nothing off"));
    }
}

/// Finds a policy by its id, or with a hint by its former one.
pub(super) fn find_policy(id: &str) -> Result<&'static str, CliError> {
    if let Some(now) = former_names::renamed_policy(id) {
        print::to_stderr(&format!("hint: `{id}` is called `{now}` now"));
        return Ok(now);
    }
    if let Some(policy) = policy::switchable_policies().find(|known| *known == id) {
        return Ok(policy);
    }
    let hint = former_names::nearest_policy(id).map_or_else(
        || format!("policies: {}", policy::switchable_policies().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    Err(CliError::new(format!("there is no policy `{id}`")).hint(hint))
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
        None => Err(CliError::new("the project is not known").hint("use --everywhere or --session ID")),
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

pub(crate) fn only_advises(down: &SteppedDown) -> String {
    format!("only advises in {} since people overrode it so often there", down.stepped_down_in)
}

pub(crate) fn describe_off(off: &Off) -> String {
    let place = match &off.scope {
        Scope::Everywhere => "in every project".to_owned(),
        Scope::Project(root) => format!("in {root}"),
        Scope::Session(id) => format!("in session {id}"),
    };
    match off.until {
        Some(until) => format!("{place} until {} UTC", &until.iso()[..16].replace('T', " ")),
        None => format!("{place} until it is switched on again"),
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
