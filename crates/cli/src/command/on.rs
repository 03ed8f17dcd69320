//! `tidegate on`: the way back from `tidegate off`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tidegate_core::feature::config::parse_off_list;
use tidegate_core::pipeline::record::{Deeds, SwitchedPolicy};
use tidegate_core::text::hidden::show_name;
use tidegate_state::config::switches;
use tidegate_state::config::switches::{Off, Scope, SteppedDown, Switches};

use super::Outcome;
use super::off::{as_json, change_switches, describe_scope, find_policy, warn_of_damage};
use crate::approval::{self, consent_to_tighten};
use crate::bilingual::{Bilingual, both};
use crate::print;
use crate::print::page::Page;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate on skill-gate
  tidegate on skill-gate --project ~/code/app
  tidegate on skill-gate --everywhere      everywhere it was switched off

Also makes a policy block again that only advises in a project, because people
overrode it often there.")]
pub(crate) struct Args {
    /// Policy to switch on
    #[arg(value_name = "POLICY")]
    pub(crate) policy: String,
    /// Use another project than that of the current folder
    #[arg(long, value_name = "DIR", conflicts_with = "everywhere")]
    pub(crate) project: Option<PathBuf>,
    /// Everywhere it was switched off
    #[arg(long)]
    pub(crate) everywhere: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    let policy = find_policy(&args.policy)?;
    // Also for a folder that is gone.
    let places = switches::project_paths(args.project.as_deref().or(here.root.as_deref()));
    // At a terminal, without a session, all sessions of the project are meant.
    let of_project = |id: &str| {
        let root = here.known_session(id).ok().and_then(|session| session.marks.session.root);
        root.is_none_or(|root| places.iter().any(|place| place == Path::new(&root)))
    };
    let goes = |off: &Off| {
        off.policy == policy
            && match &off.scope {
                _ if args.everywhere => true,
                Scope::Session(id) => of_project(id),
                Scope::Everywhere | Scope::Project(_) => off.is_active(here.now, &places, None),
            }
    };
    let steps_up = |down: &SteppedDown| down.policy == policy && (args.everywhere || down.is_in(&places));
    warn_of_damage(&here);
    let mut gone = switches::read(&here.state);
    gone.off.retain(goes);
    gone.stepped_down.retain(steps_up);
    if !gone.is_empty() {
        change_switches(&here, |switches| {
            switches.off.retain(|off| !gone.off.contains(off));
            // Compared without the mark that a hook has told of it: that may have changed meanwhile.
            switches.stepped_down.retain(|down| !steps_up(down));
        })?;
        let up = |down: &SteppedDown| SwitchedPolicy {
            policy: down.policy.clone(),
            project: Some(down.stepped_down_in.clone()),
            session: None,
        };
        let stepped_up = gone.stepped_down.iter().map(up).collect();
        let did = Deeds { stepped_up, ..Deeds::default() };
        approval::record_command(
            &here,
            &format!("on {policy}"),
            &consent_to_tighten(&here, "switched on"),
            did,
        );
    }
    if args.json {
        print::json(&as_json(&here, &gone));
    } else {
        switched_page(policy, &gone).print();
    }
    let variable = here.env.off.as_deref().map(parse_off_list).unwrap_or_default();
    if variable.iter().any(|id| id == policy) {
        Page::of(both!(
            "note: TIDEGATE_OFF in this environment still names it",
            "注意: この環境の TIDEGATE_OFF では、まだオフに指定されています"
        ))
        .print_to_stderr();
    }
    Ok(ExitCode::SUCCESS)
}

fn switched_page(policy: &str, gone: &Switches) -> Page {
    let mut page = Page::new();
    if gone.is_empty() {
        page.paragraph(both!("{policy} was not off here.", "{policy} はここではオフになっていません。"));
    }
    for off in &gone.off {
        let Bilingual { en, ja } = describe_scope(&off.scope);
        page.paragraph(both!("{policy} is on again {en}.", "{policy} をオンに戻しました（{ja}）。"));
    }
    for down in &gone.stepped_down {
        let project = show_name(&down.stepped_down_in);
        page.paragraph(both!(
            "{policy} blocks again in {project}.",
            "{policy} は {project} で再び止めます。"
        ));
    }
    page
}
