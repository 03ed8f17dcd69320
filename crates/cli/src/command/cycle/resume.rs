//! `tidegate cycle resume`.

use std::process::ExitCode;

use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::success::{has_findings, has_reached};
use tidegate_core::feature::cycle::{Cycle, CycleState, CycleStatus, history};
use tidegate_core::meter::short_tokens;
use tidegate_core::pipeline::record::Deeds;
use tidegate_state::feature::cycle;

use super::project_cycle::{ProjectCycle, Word, check_not_overtaken, no_stage, owned_by};
use super::start::print_begun;
use crate::approval::{self, Consent, Request};
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
use crate::sessions::Session;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle resume                   the first stage that was not started
  tidegate cycle resume --from audit      an earlier stage once more
  tidegate cycle resume --anyway          also with too few tokens left

A stage that failed or was interrupted starts again, a failed one with all its rounds
of review and fix. No stage after the first open one can be chosen. Only a person takes
over a state file that comes from elsewhere: called by an agent, the command prints a
code that the person can approve.

Exit codes: 0 done, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// Stage to begin with
    #[arg(long, value_name = "STAGE")]
    pub(crate) from: Option<String>,
    /// Begin although fewer tokens are left than the stage and those after it need
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectCycle::find(&args.of)?;
    let (state, cycle) = place.usable_cycle()?;
    let session = place.find_session()?;
    if let Some(owner) = place.other_owner(&session) {
        return Err(owned_by(owner, state));
    }
    let name = args.from.as_deref().unwrap_or_else(|| state.resumes_at());
    let Some(at) = cycle.position(name) else {
        return Err(no_stage(&state.cycle, name, cycle));
    };
    check_order(state, cycle, at, approval::is_by_agent(&place.project.here.env))?;
    check_not_overtaken(&session, state, cycle, at)?;
    place.check_reported(state, Some(&session))?;
    if !args.anyway {
        check_room(&place, state, cycle, at, &session)?;
    }
    let owner = state.session_id.as_deref().filter(|owner| *owner != session.id.as_str());
    let owner = owner.and_then(|owner| place.project.here.known_session(owner).ok());
    let mut given = None;
    if approval::is_by_agent(&place.project.here.env)
        && (has_ended(&place, state) || !is_known(state, cycle, at, [Some(&session), owner.as_ref()]))
    {
        match ask_to_adopt(args, &place, state, name)? {
            Consent::Given(yes) => given = Some(yes),
            Consent::Waits(code) => return Ok(code),
        }
    }
    let mut state = state.clone();
    state.started_at.get_or_insert_with(|| place.project.here.now.iso());
    if name == state.stage && state.progress(name).is_some_and(|progress| !progress.ended) {
        let owner = state.session_id.as_deref().and_then(|id| SessionId::parse(id).ok());
        let owner = owner.and_then(|owner| place.project.here.known_session(owner.as_str()).ok());
        place.give_up_stage(&mut state, owner.as_ref());
    }
    let word = if given.is_some() { Word::Person } else { place.word() };
    let consent = place.take_word(&session, word, false)?;
    ProjectCycle::check_consent(&consent, cycle, at, word)?;
    if state.status == CycleStatus::Failed {
        place.renew_fix_rounds(&state)?;
    }
    let unverified = match &owner {
        Some(owner) => place.take_over_work(owner, &session)?,
        None => None,
    };
    let begun = place.begin_stage(state, cycle, at, &session, None)?;
    if let Some(owner) = owner {
        place.take_over_reservations(&owner, &session)?;
    }
    match given {
        Some(yes) => approval::record_command(&place.project.here, "cycle resume", &yes, Deeds::default()),
        None => place.record_command("resume", "a cycle was resumed", None),
    }
    let owed = ProjectCycle::describe_owed(&consent, cycle, at);
    print_begun(&args.of, &place, &begun, &session, owed, unverified.as_ref());
    Ok(ExitCode::SUCCESS)
}

/// A session of this machine did the stages before it. The file alone proves nothing: it may be from elsewhere.
fn is_known(state: &CycleState, cycle: &Cycle, at: usize, sessions: [Option<&Session>; 2]) -> bool {
    let own = sessions
        .into_iter()
        .flatten()
        .flat_map(|session| [&session.marks.cycle.stage, &session.marks.cycle.last]);
    at == 0 || own.flatten().any(|own| has_reached(own, state, cycle, at))
}

/// The history has this run: a file that tells of it again was made up from an old one.
fn has_ended(place: &ProjectCycle, state: &CycleState) -> bool {
    let id = state.run_id();
    cycle::read_runs(&place.project.here.state, &place.project.root).iter().any(|run| run.id == id)
}

fn ask_to_adopt(
    args: &Args,
    place: &ProjectCycle,
    state: &CycleState,
    stage: &str,
) -> Result<Consent, CliError> {
    let (cycle, file) = (&state.cycle, place.state_file());
    let file = file.display();
    let would = [both!(
        "This continues {cycle} at {stage}, as {file} says, although no session that Tidegate still knows here did the stages before it.",
        "{file} のとおりに {cycle} を {stage} から続けます。その前のステージは、Tidegate に残っているこのマシンのセッションの記録にありません。"
    )];
    let mut command = "cycle resume".to_owned();
    if let Some(from) = &args.from {
        command.extend([" --from ", from]);
    }
    if args.anyway {
        command += " --anyway";
    }
    let request = Request {
        name: "cycle resume",
        command,
        about: Some(format!("take {cycle} over at {stage}")),
        would: &would,
        approved: args.approved,
        json: args.of.json,
    };
    approval::ask_consent(&place.project.here, &request)
}

/// Nothing is shipped past a stage that is open.
fn check_order(state: &CycleState, cycle: &Cycle, at: usize, by_agent: bool) -> Result<(), CliError> {
    // A real end of a stage leaves it in the file, and no finding of it open. People may write a file that names a stage
    // and nothing else.
    let is_open = |earlier: &usize| {
        by_agent && (!state.was_done(cycle, *earlier) || has_findings(state, &cycle.stages[*earlier]))
    };
    let first = (0..at).find(is_open).map(|at| cycle.stages[at].name.as_str());
    let after = cycle.position(state.resumes_at()).is_some_and(|open| at > open);
    let Some(open) = first.or(after.then_some(state.resumes_at())) else { return Ok(()) };
    let name = &cycle.stages[at].name;
    Err(CliError::new(both!(
        "{name} comes after {open}, which is not done",
        "{name} の前の {open} が終わっていません"
    ))
    .hint(both!(
        "`tidegate cycle resume --from {open}` starts {open}; `tidegate cycle abandon` gives the cycle up",
        "`tidegate cycle resume --from {open}` で {open} を始められます。やめるには `tidegate cycle abandon` を実行してください"
    )))
}

/// The first stage always has room; unknown numbers stop nothing.
fn check_room(
    place: &ProjectCycle,
    state: &CycleState,
    cycle: &Cycle,
    at: usize,
    session: &Session,
) -> Result<(), CliError> {
    if at == 0 {
        return Ok(());
    }
    let runs = cycle::read_runs(&place.project.here.state, &place.project.root);
    let needed = history::min_left(&runs, &state.cycle, cycle, at);
    let Some(left) = place.left_tokens(session).filter(|left| *left < needed) else { return Ok(()) };
    let missing = short_tokens(needed - left);
    let (needed, left, name) = (short_tokens(needed), short_tokens(left), &cycle.stages[at].name);
    Err(CliError::new(both!(
        "no room for {name}: from here on the cycle needs about {needed} tokens, {left} are left; {missing} are missing",
        "{name} を始める余裕がありません。この先に約{needed}トークン必要ですが、残りは{left}です（{missing}不足）"
    ))
    .hint(both!(
        "continue in a new session, or here with `tidegate cycle resume --anyway`",
        "新しいセッションで続けるか、ここで続けるなら `tidegate cycle resume --anyway` を実行してください"
    )))
}
