//! `tidegate off` and `on`: the honest way past a gate, and back.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::config::near;
use tidegate_core::policy;
use tidegate_core::time::Millis;
use tidegate_state::off::{self, Off, Scope};

use super::Outcome;
use crate::approval::{self, Consent, Request};
use crate::args;
use crate::error::CliError;
use crate::install::shell::quoted;
use crate::print;
use crate::sessions::Here;

#[derive(Serialize)]
struct Shown<'a> {
    policy: &'a str,
    scope: &'a Scope,
    since: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    /// Whether it counts in this project and session.
    here: bool,
}

pub(crate) fn off(args: &args::Off) -> Outcome {
    let mut here = Here::find()?;
    let Some(policy) = &args.policy else {
        list(&here, args.json);
        return Ok(ExitCode::SUCCESS);
    };
    check_policy(policy)?;
    if let Some(project) = &args.project {
        here.look_at(project)?;
    }
    let until = args.r#for.map(|time| Millis(here.now.0 + time.0));
    let off = Off { policy: policy.clone(), scope: scope(&here, args)?, since: here.now, until };
    let request = Request {
        name: "off",
        command: command(args, &off.scope),
        would: &[format!("This would switch {policy} off {}.", describe(&off))],
        approved: args.approved,
        json: args.json,
    };
    let how = match approval::consent(&here, &request)? {
        Consent::Given(how) => how,
        Consent::Waits(code) => return Ok(code),
    };
    change(&here, |list| {
        list.retain(|known| (&known.policy, &known.scope) != (&off.policy, &off.scope));
        list.push(off.clone());
    })?;
    approval::record(&here, &request.command, &how);
    if args.json {
        print::json(&shown(&here, &off));
    } else {
        print::line(&format!(
            "{policy} is switched off {}. `tidegate on {policy}` switches it on again.",
            describe(&off)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn on(args: &args::On) -> Outcome {
    let here = Here::find()?;
    check_policy(&args.policy)?;
    // A folder that is gone has a name still.
    let places = off::places(args.project.as_deref().or(here.root.as_deref()));
    // In a terminal of its own every session of the project is meant.
    let of_project = |id: &str| {
        let root = here.session(Some(id)).ok().and_then(|session| session.marks.root);
        root.is_none_or(|root| places.iter().any(|place| place == Path::new(&root)))
    };
    let goes = |off: &Off| {
        off.policy == args.policy
            && match &off.scope {
                _ if args.everywhere => true,
                Scope::Session(id) => of_project(id),
                Scope::Everywhere | Scope::Project(_) => off.counts(here.now, &places, None),
            }
    };
    let gone: Vec<Off> = off::read(&here.state).into_iter().filter(goes).collect();
    if !gone.is_empty() {
        change(&here, |list| list.retain(|off| !gone.contains(off)))?;
        approval::record(&here, &format!("on {}", args.policy), "switched on");
    }
    if args.json {
        print::json(&gone.iter().map(|off| shown(&here, off)).collect::<Vec<_>>());
    } else if gone.is_empty() {
        print::line(&format!("{} is not switched off here", args.policy));
    } else {
        for off in &gone {
            print::line(&format!("{} is on again; it was switched off {}", off.policy, describe(off)));
        }
    }
    let variable = here.env.off.as_deref().map(tidegate_core::config::split_off).unwrap_or_default();
    if variable.contains(&args.policy) {
        print::to_stderr("note: TIDEGATE_OFF in this environment still names it");
    }
    Ok(ExitCode::SUCCESS)
}

fn change(here: &Here, edit: impl FnOnce(&mut Vec<Off>)) -> Result<(), CliError> {
    off::change(&here.state, here.now, edit).map_err(|error| {
        let file = here.state.root().join("off.json");
        CliError::new(format!("{}: {error}", file.display()))
            .hint("nothing was changed; move that file away if it is damaged")
    })
}

fn list(here: &Here, json: bool) {
    let list: Vec<Off> = off::read(&here.state).into_iter().filter(|off| !off.lapsed(here.now)).collect();
    if json {
        print::json(&list.iter().map(|off| shown(here, off)).collect::<Vec<_>>());
        return;
    }
    for off in &list {
        print::line(&format!("{} is switched off {}", off.policy, describe(off)));
    }
    if let Some(problem) = off::problem(&here.state) {
        print::to_stderr(&format!("warning: {problem}: it switches nothing off"));
    }
    for policy in here.env.off.as_deref().map(tidegate_core::config::split_off).unwrap_or_default() {
        print::line(&format!("{policy} is switched off by TIDEGATE_OFF in this environment"));
    }
    if list.is_empty() && here.env.off.is_none() {
        let policies: Vec<&str> = policy::switchable().collect();
        print::line(&format!("nothing is switched off; policies: {}", policies.join(", ")));
    }
}

fn check_policy(policy: &str) -> Result<(), CliError> {
    if policy::switchable().any(|known| known == policy) {
        return Ok(());
    }
    let hint = near::nearest(policy, policy::switchable()).map_or_else(
        || format!("policies: {}", policy::switchable().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    Err(CliError::new(format!("there is no policy `{policy}`")).hint(hint))
}

fn scope(here: &Here, args: &args::Off) -> Result<Scope, CliError> {
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

/// The command as it would be typed, always in the same order and with its scope: an approval is for exactly this, wherever
/// it is typed again.
fn command(args: &args::Off, scope: &Scope) -> String {
    let time = args.r#for.map(|time| format!(" --for {time}")).unwrap_or_default();
    let scope = match scope {
        Scope::Everywhere => "--everywhere".to_owned(),
        Scope::Project(root) => format!("--project {}", quoted(Path::new(root))),
        Scope::Session(id) => format!("--session {id}"),
    };
    format!("off {}{time} {scope}", args.policy.as_deref().unwrap_or_default())
}

pub(crate) fn describe(off: &Off) -> String {
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

fn shown<'a>(here: &Here, off: &'a Off) -> Shown<'a> {
    Shown {
        policy: &off.policy,
        scope: &off.scope,
        since: off.since.iso(),
        until: off.until.map(Millis::iso),
        here: off.counts(here.now, &off::places(here.root.as_deref()), here.env.session.as_deref()),
    }
}
