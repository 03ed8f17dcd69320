//! `tidegate off` and `on`: the honest way past a gate, and back.

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
    let here = Here::find()?;
    let Some(policy) = &args.policy else {
        list(&here, args.json);
        return Ok(ExitCode::SUCCESS);
    };
    check_policy(policy)?;
    let scope = scope(&here, args)?;
    let until = args.r#for.map(|time| Millis(here.now.0 + time.0));
    let off = Off { policy: policy.clone(), scope, since: here.now, until };
    let would = format!("{} switched off {}.", policy, describe(&off));
    let request = Request {
        name: "off",
        command: command(args),
        would: &[format!("Would be {would}")],
        approved: args.approved,
        json: args.json,
    };
    let how = match approval::consent(&here, &request)? {
        Consent::Given(how) => how,
        Consent::Waits(code) => return Ok(code),
    };
    off::change(&here.state, here.now, |list| {
        list.retain(|known| (&known.policy, &known.scope) != (&off.policy, &off.scope));
        list.push(off.clone());
    })
    .map_err(CliError::new)?;
    approval::record(&here, &request.command, &how);
    if args.json {
        print::json(&shown(&here, &off));
    } else {
        print::line(&format!("{would} `tidegate on {policy}` switches it on again."));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn on(args: &args::On) -> Outcome {
    let here = Here::find()?;
    check_policy(&args.policy)?;
    let mut gone = Vec::new();
    let before = off::read(&here.state);
    let places = places(&here);
    let of_policy = |off: &Off| off.policy == args.policy && !off.lapsed(here.now);
    // In a terminal of its own every session of the project is meant.
    let counts = |off: &Off| {
        of_policy(off) && (matches!(off.scope, Scope::Session(_)) || off.counts(here.now, &places, None))
    };
    if before.iter().any(counts) {
        off::change(&here.state, here.now, |list| {
            list.retain(|off| {
                let goes = counts(off);
                if goes {
                    gone.push(off.clone());
                }
                !goes
            });
        })
        .map_err(CliError::new)?;
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

fn list(here: &Here, json: bool) {
    let list: Vec<Off> = off::read(&here.state).into_iter().filter(|off| !off.lapsed(here.now)).collect();
    if json {
        print::json(&list.iter().map(|off| shown(here, off)).collect::<Vec<_>>());
        return;
    }
    for off in &list {
        print::line(&format!("{} is switched off {}", off.policy, describe(off)));
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
    let hint = match near::nearest(policy, policy::switchable()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("policies: {}", policy::switchable().collect::<Vec<_>>().join(", ")),
    };
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

fn places(here: &Here) -> Vec<std::path::PathBuf> {
    let main = here.root.as_deref().and_then(tidegate_state::project::main_worktree);
    here.root.clone().into_iter().chain(main).collect()
}

/// The command as it would be typed, always in the same order.
fn command(args: &args::Off) -> String {
    let time = args.r#for.map(|time| format!(" --for {time}")).unwrap_or_default();
    let session = match &args.session {
        Some(id) if id.is_empty() => " --session".to_owned(),
        Some(id) => format!(" --session {id}"),
        None => String::new(),
    };
    let everywhere = if args.everywhere { " --everywhere" } else { "" };
    format!("off {}{time}{session}{everywhere}", args.policy.as_deref().unwrap_or_default())
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
        here: off.counts(here.now, &places(here), here.env.session.as_deref()),
    }
}
