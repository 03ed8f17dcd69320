//! `tidegate cycle start`.

use std::process::ExitCode;

use tidegate_core::feature::cycle::standing::CycleStanding;
use tidegate_core::feature::cycle::{ActiveStage, CycleRun, CycleState, CycleStatus};
use tidegate_core::feature::facts::Known;
use tidegate_state::feature::cycle;

use super::project_cycle::ProjectCycle;
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::sessions::Session;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle start                    sprint, audit, ship, retrospective
  tidegate cycle start release            the cycle [cycle.release] of your config

At the end of a turn whose stage is done, the next stage begins if the context has
room for it. Otherwise the cycle stops, and another session can continue it. Only one
live session of a project can run a cycle.")]
pub(crate) struct Args {
    /// Name of the cycle
    #[arg(value_name = "NAME", default_value = tidegate_core::feature::cycle::BUILT_IN)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut place = ProjectCycle::find(&args.of)?;
    let session = place.find_session()?;
    let cycles = &place.project.here.config.policies.cycle;
    let Some(cycle) = cycles.cycle(&args.name) else {
        let names: Vec<&str> = cycles.cycle_names().collect();
        return Err(CliError::new(format!("there is no cycle {}", args.name))
            .hint(format!("there is {}; the config can have others as [cycle.NAME]", names.join(", "))));
    };
    let unusable = match &place.standing {
        Known::Broken(why) => {
            return Err(place.unreadable(why));
        }
        Known::Value(found) if found.state.is_err() || !found.of_project => Some(found.text.clone()),
        _ => None,
    };
    if let Some(text) = unusable {
        let here = &place.project.here;
        let aside = cycle::set_aside(&here.state, &place.project.root, &text).map_err(|error| {
            CliError::new(format!("{} cannot be put aside: {error}", place.state_file().display()))
        })?;
        if let Some(aside) = aside {
            print::to_stderr(&format!(
                "note: a file that cannot be used here was put aside: {}",
                aside.display()
            ));
        }
        place.standing = cycle::read(Some(&here.state), &place.project.root, &here.config);
    }
    let now = place.project.here.now;
    let mut ended = None;
    if let Known::Value(CycleStanding { state: Ok(old), cycle, .. }) = &place.standing {
        if let Some(owner) = place.other_owner(&session) {
            return Err(CliError::new(format!(
                "session {owner} is in stage {} of {} here",
                old.stage, old.cycle
            ))
            .hint("`tidegate cycle abandon` leaves that one"));
        }
        if old.status == CycleStatus::Running && old.session_id.as_deref() == Some(session.id.as_str()) {
            return Err(CliError::new(format!("this session is in stage {} of {}", old.stage, old.cycle))
                .hint("`tidegate cycle status` shows it, `tidegate cycle abandon` leaves it"));
        }
        let how = if old.status == CycleStatus::Running { "abandoned" } else { old.status.name() };
        ended = Some(CycleRun::from_state(old, cycle.as_ref(), how, now));
        print::to_stderr(&format!(
            "note: the {} at stage {} ({how}) went to the history",
            old.cycle, old.stage
        ));
    }
    let begun = place.begin_stage(CycleState::started(&args.name, now), &cycle, 0, &session, ended)?;
    place.record_command("start", "a cycle began", None);
    print_begun(&args.of, &place, &begun, &session);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn print_begun(
    of: &ProjectArgs,
    place: &ProjectCycle,
    (state, active): &(CycleState, ActiveStage),
    session: &Session,
) {
    let skill = place.skill_name(&active.skill);
    if of.json {
        print::json(&serde_json::json!({
            "cycle": state.cycle, "stage": state.stage, "skill": skill, "number": active.number, "of": active.of,
            "session": session.id.as_str(), "status": state.status.name(),
        }));
    } else {
        print::line(&format!(
            "{}: stage {} of {}, {}, begins in session {}; its skill is `{}`",
            state.cycle, active.number, active.of, active.stage, session.id, skill
        ));
    }
}
