//! `tidegate cycle start`.

use std::process::ExitCode;

use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::standing::CycleStanding;
use tidegate_core::feature::cycle::{ActiveStage, Cycle, CycleRun, CycleState, CycleStatus};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::verification::words::not_verified;
use tidegate_core::feature::verification::work::ChangeSet;
use tidegate_core::host::Host;
use tidegate_core::text::lang::Lang;
use tidegate_state::feature::cycle;

use super::project_cycle::{ProjectCycle, no_cycle, owned_by, status_word};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::error::CliError;
use crate::host::claude_code::shipped::Skill;
use crate::print;
use crate::print::page::Page;
use crate::print::remark;
use crate::sessions::Session;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle start                    sprint, audit, ship, retrospective
  tidegate cycle start release            the cycle [cycle.release] of your config

At the end of a turn whose stage is done, the next stage begins if the context has
room for it. Otherwise the cycle stops, and another session can continue it. Only one
live session of a project can run a cycle. Each stage needs its skill: `tidegate init
--with cycle` installs those of the built-in cycle.")]
pub(crate) struct Args {
    /// Name of the cycle
    #[arg(value_name = "NAME", default_value = tidegate_core::feature::cycle::BUILT_IN)]
    pub(crate) name: String,
    /// Start although skills of its stages were not found
    #[arg(long)]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut place = ProjectCycle::find(&args.of)?;
    let session = place.find_session()?;
    let cycles = &place.project.here.config.policies.cycle;
    let Some(cycle) = cycles.cycle(&args.name) else {
        let names: Vec<&str> = cycles.cycle_names().collect();
        return Err(no_cycle(&args.name, &names));
    };
    if !args.anyway {
        check_skills(&place, &cycle)?;
    }
    place.check_drop_told(&session)?;
    place.check_gone_told(&session)?;
    let unusable = match &place.standing {
        Known::Broken(why) => {
            return Err(place.unreadable(why));
        }
        // Its costs are not this machine's.
        Known::Value(CycleStanding { state: Ok(state), text, .. })
            if cycle::is_foreign(&place.project.here.state, state) =>
        {
            Some(text.clone())
        }
        Known::Value(found) if found.state.is_err() || !found.of_project => Some(found.text.clone()),
        _ => None,
    };
    if let Some(text) = unusable {
        let here = &place.project.here;
        let aside = cycle::set_aside(&here.state, &place.project.root, &text).map_err(|error| {
            let file = place.state_file();
            let file = file.display();
            CliError::new(both!("cannot set {file} aside: {error}", "{file} をよけられません: {error}")).hint(
                both!(
                    "move it away yourself and try again",
                    "自分で別の場所に移してから、もう一度実行してください"
                ),
            )
        })?;
        if let Some(aside) = aside {
            let aside = aside.display();
            remark::note(both!(
                "the old state file is not one that Tidegate could use here; it is kept as {aside}",
                "以前の状態ファイルはここでは使えないため、よけておきました: {aside}"
            ));
        }
        place.standing = cycle::read(Some(&here.state), &place.project.root, &here.config);
    }
    let now = place.project.here.now;
    let (mut ended, mut owner) = (None, None);
    if let Known::Value(CycleStanding { state: Ok(old), cycle, .. }) = &place.standing {
        if let Some(owner) = place.other_owner(&session) {
            return Err(owned_by(owner, old));
        }
        if old.status == CycleStatus::Running && old.session_id.as_deref() == Some(session.id.as_str()) {
            let (stage, cycle) = (&old.stage, &old.cycle);
            return Err(CliError::new(both!(
                "this session is in stage {stage} of {cycle}",
                "このセッションは {cycle} のステージ {stage} を進めています"
            ))
            .hint(both!(
                "`tidegate cycle status` shows it, `tidegate cycle abandon` gives it up",
                "`tidegate cycle status` で見られ、`tidegate cycle abandon` でやめられます"
            )));
        }
        place.check_reported(old, Some(&session))?;
        owner = place.owner_of(old);
        let how = if old.status == CycleStatus::Running { "abandoned" } else { old.status.name() };
        ended = Some(CycleRun::from_state(old, cycle.as_ref(), how, now));
        let (cycle, stage, Bilingual { en, ja }) = (&old.cycle, &old.stage, status_word(how));
        remark::note(both!(
            "the earlier {cycle} at stage {stage} ({en}) is now in the history",
            "以前の {cycle}（ステージ {stage}、{ja}）は履歴に移しました"
        ));
    }
    let consent = place.take_word(&session, place.word(), true)?;
    ProjectCycle::check_consent(&consent, &cycle, 0, place.word())?;
    let unverified = match &owner {
        Some(owner) => place.take_over_work(owner, &session)?,
        None => None,
    };
    let begun = place.begin_stage(CycleState::started(&args.name, now), &cycle, 0, &session, ended)?;
    place.record_command("start", "a cycle began", None);
    let owed = ProjectCycle::describe_owed(&consent, &cycle, 0);
    print_begun(&args.of, &place, &begun, &session, owed, unverified.as_ref());
    Ok(ExitCode::SUCCESS)
}

/// A stage whose skill cannot be invoked is never done.
fn check_skills(place: &ProjectCycle, cycle: &Cycle) -> Result<(), CliError> {
    let missing = place.find_missing_skills(cycle);
    if missing.is_empty() {
        return Ok(());
    }
    let listed = missing.join(", ");
    let is_shipped = missing.iter().all(|name| Skill::find(name).is_some());
    let error = CliError::new(both!(
        "skills of the stages are not installed: {listed}",
        "ステージで使うスキルがインストールされていません: {listed}"
    ));
    let host = place.project.session.as_ref().map(SessionId::host).unwrap_or_default();
    let home = host.skill_home();
    Err(if is_shipped {
        let flag = if host == Host::ClaudeCode { String::new() } else { format!(" --host {}", host.name()) };
        error.hint(both!(
            "`tidegate init{flag} --with cycle` installs them; `--anyway` starts without",
            "`tidegate init{flag} --with cycle` で入ります。なしで始めるなら `--anyway` を付けてください"
        ))
    } else {
        error.hint(both!(
            "put them into {home}/skills, or name other skills in [cycle.NAME]; `--anyway` starts without",
            "{home}/skills に置くか、[cycle.NAME] で別のスキルを指定してください。なしで始めるなら `--anyway` を付けてください"
        ))
    })
}

pub(super) fn print_begun(
    of: &ProjectArgs,
    place: &ProjectCycle,
    (state, active): &(CycleState, ActiveStage),
    session: &Session,
    owed: Option<Bilingual>,
    unverified: Option<&ChangeSet>,
) {
    let skill = place.skill_name(&active.skill);
    if of.json {
        print::json(&serde_json::json!({
            "cycle": state.cycle, "stage": state.stage, "skill": skill, "number": active.number, "of": active.of,
            "session": session.id.as_str(), "status": state.status.name(),
            "unverified": unverified.map(ChangeSet::named_files).unwrap_or_default(),
        }));
    } else {
        let ActiveStage { number, of, stage, .. } = active;
        let (cycle, session) = (&state.cycle, &session.id);
        let mut page = Page::of(both!(
            "Stage {stage} ({number} of {of}) of {cycle} starts in session {session}. Its skill is `{skill}`.",
            "セッション {session} で {cycle} のステージ {stage}（{number}/{of}）を始めます。使うスキルは `{skill}` です。"
        ));
        if let Some(left) = unverified {
            let (en, ja) = (not_verified(Lang::En, left), not_verified(Lang::Ja, left));
            page.paragraph(both!(
                "The session before left this: {en}. Run a check before the stage ends.",
                "前のセッションが残したもの: {ja}。ステージを終える前に検証を実行してください。"
            ));
        }
        if let Some(owed) = owed {
            page.paragraph(owed);
        }
        page.print();
    }
}
