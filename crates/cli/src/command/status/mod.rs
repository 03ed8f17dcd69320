//! `tidegate status`: one screen about a session.

mod page;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use tidegate_core::feature::activity::classifier::Phase;
use tidegate_core::feature::approval::marks::ApprovalRequest;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::cycle::success::list_missing;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::survival::Survival;
use tidegate_core::feature::verification::checks::{CheckKind, Kinds};
use tidegate_core::feature::verification::required_checks;
use tidegate_core::feature::verification::verify_stop;
use tidegate_core::feature::verification::words;
use tidegate_core::pipeline::record::{MeterRecord, Record};
use tidegate_core::text::lang::Lang;
use tidegate_core::text::one_line::one_line;
use tidegate_core::time::Millis;
use tidegate_hook::host::claude_code::client;
use tidegate_memory::memory::Memory;
use tidegate_state::config::switches;
use tidegate_state::feature::knowledge::boundary;
use tidegate_state::feature::memory::spool;
use tidegate_state::feature::verification::manifests as checks;
use tidegate_state::feature::verification::manifests::ProjectManifest;
use tidegate_state::feature::workflow::SoughtManifest;
use tidegate_state::feature::{cycle, workflow};
use tidegate_state::journal;

use super::Outcome;
use super::constraints::ShownConstraint;
use crate::bilingual::{Bilingual, both, count_en};
use crate::error::CliError;
use crate::host::claude_code::check::skills::find_missing_of_preset;
use crate::host::unchecked::Unchecked;
use crate::knowledge::{self, KnowledgeFiles};
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::text::Text;
use crate::sessions::{Here, Session};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tidegate status\n  tidegate status --watch\n  tidegate status --json")]
pub(crate) struct Args {
    /// Show this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Show it again every two seconds
    #[arg(long, conflicts_with = "json")]
    pub(crate) watch: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Status {
    session: String,
    /// The agent, as in records.
    host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    began: Option<String>,
    meter: MeterRecord,
    /// The highest pressure level that was said since use last fell.
    pressure_said: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_boundary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    survival: Option<Survived>,
    /// Constraints from prompts of this session, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<ShownConstraint>,
    /// Entries of the flow that no person has reviewed.
    unpromoted: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<Phase>,
    /// Of the session's project.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<Cycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<InWorkflow>,
    /// Code that was edited and not verified since.
    #[serde(skip_serializing_if = "Option::is_none")]
    unverified: Option<Unverified>,
    /// The check that the last edits passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<Verified>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skills: Vec<String>,
    /// Hook runs of this session in the journal.
    events: usize,
    /// Of them: rulings other than a pass, and texts given.
    interruptions: usize,
    /// Of them: those that Tidegate itself could not complete.
    failures: usize,
    /// A client that Tidegate started itself: nothing is gated or said.
    unguarded: bool,
    /// Hook runs that did not come from the session's client.
    not_by_client: usize,
    /// Added to the context, by estimate.
    tokens_added: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    config_problems: Vec<String>,
    /// Settings of the project's own config without effect so far.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting_for_trust: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting_for_approval: Vec<ApprovalRequest>,
    /// Skills that only the preset requires and that are not installed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_preset_skills: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    switched_off: Vec<String>,
    /// Blocking policies that only advise here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stepped_down: Vec<String>,
    /// Other hosts that call the hooks of this project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked_hosts: Vec<Unchecked>,
    unreadable_lines: usize,
    /// Absent before anything was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryStanding>,
}

/// The store of conversations, and what waits to get there.
#[derive(Serialize)]
struct MemoryStanding {
    /// Jobs that wait for the worker.
    waiting: usize,
    /// Jobs that it could not read and put aside.
    damaged: usize,
    /// Why the store cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl MemoryStanding {
    fn of(here: &Here) -> Option<MemoryStanding> {
        let waiting = spool::list(&here.state).map_or(0, |jobs| jobs.len());
        let damaged = spool::list_damaged(&here.state).map_or(0, |jobs| jobs.len());
        let opened = Memory::open_if_there(&here.env.place, &here.state, &here.config.memory, here.now);
        let (is_there, problem) = match opened {
            Ok(memory) => (memory.is_some(), None),
            Err(error) => (true, Some(error.to_string())),
        };
        (is_there || waiting + damaged > 0).then_some(MemoryStanding { waiting, damaged, problem })
    }

    fn line(&self) -> Text {
        let MemoryStanding { waiting, damaged, problem } = self;
        if let Some(problem) = problem {
            let problem = one_line(problem);
            return Text::from(both!("cannot be used: {problem}", "使えません: {problem}")).warning();
        }
        let mut text = Text::from(match waiting {
            0 => both!("ready, nothing waits", "使えます。保存待ちはありません"),
            _ => both!(
                "ready, {n} in the queue",
                "使えます。保存待ち{waiting}件",
                n = count_en(*waiting, "job")
            ),
        });
        if *damaged > 0 {
            let n = count_en(*damaged, "damaged job");
            text = text
                + Text::from(both!(
                    ", {n}: `tidegate doctor`",
                    "、壊れたジョブ{damaged}件: `tidegate doctor`"
                ))
                .warning();
        }
        text
    }
}

#[derive(Serialize)]
struct Survived {
    /// `auto` or `manual`.
    trigger: String,
    kept: usize,
    of: usize,
    /// Facts missing in the summary, also if the conversation still has them elsewhere.
    lost: Vec<String>,
    /// How many of these the conversation has again.
    given_back: usize,
}

impl Survived {
    fn of(here: &Here, session: &Session) -> Option<Survived> {
        let boundary = boundary::read(&here.state.session(&session.id))?;
        let survival = boundary.survival?;
        let lost = survival.lost.iter().map(|fact| fact.text.clone()).collect();
        let Survival { kept, of, given_back, .. } = survival;
        Some(Survived { trigger: boundary.trigger, kept, of, lost, given_back })
    }
}

/// A cycle, or the reason why its file is not used.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Cycle {
    Stands(Box<Stands>),
    Damaged { damage: String },
}

#[derive(Serialize)]
pub(crate) struct Stands {
    name: String,
    /// `running`, `stopped`, `failed` or `complete`.
    status: &'static str,
    stage: String,
    number: usize,
    of: usize,
    skill: String,
    /// It steers this session.
    here: bool,
    /// The stage is over when the turn ends; known only here.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
    /// Another session that it steers.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// That session is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_reason: Option<String>,
    resumes_at: String,
}

impl Cycle {
    pub(crate) fn of(here: &Here, session: &Session) -> Option<Cycle> {
        let root = session.marks.session.root.as_deref().map(Path::new)?;
        let standing = match cycle::read(None, root, &here.config) {
            Known::Value(standing) if standing.of_project => standing,
            Known::Value(_) | Known::Absent => return None,
            Known::Broken(damage) => return Some(Cycle::Damaged { damage }),
        };
        let other = standing.other_owner(session.id.as_str()).map(str::to_owned);
        let evidence = cycle::look_for_evidence(&standing, root, root);
        let (state, known) = match (standing.state, standing.cycle) {
            (Ok(state), Some(known)) => (state, known),
            (Err(damage), _) => return Some(Cycle::Damaged { damage: damage.to_string() }),
            (Ok(_), None) => return None,
        };
        let at = known.position(&state.stage)?;
        let running = state.status == tidegate_core::feature::cycle::CycleStatus::Running;
        let active = session.marks.cycle.stage.as_ref().filter(|active| active.stage == state.stage);
        let is_here = running && state.session_id.as_deref() == Some(session.id.as_str());
        Some(Cycle::Stands(Box::new(Stands {
            status: state.status.name(),
            number: at + 1,
            of: known.stages.len(),
            skill: known.stages[at].skill.clone(),
            here: is_here,
            done: active.filter(|_| is_here).map(|active| {
                list_missing(&known.stages[at], active, &state, &evidence, &session.marks).is_empty()
            }),
            live: other
                .as_deref()
                .map(|other| cycle::is_live(&here.state, other, here.now, client::is_running)),
            session: other,
            resumes_at: state.resumes_at().to_owned(),
            stopped_reason: state.stopped_reason,
            name: state.cycle,
            stage: state.stage,
        })))
    }

    pub(crate) fn line(&self) -> Bilingual {
        let stands = match self {
            Cycle::Stands(stands) => stands.as_ref(),
            Cycle::Damaged { damage } => {
                let damage = one_line(damage);
                return both!("its file cannot be used: {damage}", "ファイルを使えません: {damage}");
            }
        };
        let Stands { name, status, stage, number, of, skill, resumes_at, .. } = stands;
        let en = format!("{name}: stage {stage} ({number} of {of})");
        let ja = format!("{name}: ステージ {stage}（{of}中{number}）");
        let resume_en = format!("`tidegate cycle resume` continues with {resumes_at}");
        let resume_ja = format!("`tidegate cycle resume` で {resumes_at} から続けます");
        match (stands.here, &stands.session, stands.live) {
            (true, ..) if stands.done == Some(true) => {
                both!("{en}, done when this turn ends", "{ja}、このターンの終わりに完了します")
            }
            (true, ..) => both!("{en}, its skill is `{skill}`", "{ja}、スキルは `{skill}` です"),
            (false, Some(session), Some(true)) => {
                let session = one_line(session);
                both!("{en} in session {session}", "{ja}、セッション {session} で実行中です")
            }
            (false, Some(_), _) => both!(
                "{en} in a session that has ended; {resume_en}",
                "{ja}、実行していたセッションは終わっています。{resume_ja}"
            ),
            (false, None, _) if *status == "running" => {
                both!("{en}, without a session; {resume_en}", "{ja}、セッションがありません。{resume_ja}")
            }
            (false, None, _) => {
                let why = stands.stopped_reason.as_deref().map(one_line);
                let why_en = why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
                let why_ja = why.as_ref().map(|why| format!("（{why}）")).unwrap_or_default();
                let place = if *status == "stopped" { "after" } else { "at" };
                let state_ja = match *status {
                    "stopped" => "のあとで停止",
                    "failed" => "で失敗",
                    _ => "で完了",
                };
                both!(
                    "{name}: {status} {place} stage {stage} ({number} of {of}){why_en}; {resume_en}",
                    "{ja}{state_ja}しました{why_ja}。{resume_ja}"
                )
            }
        }
    }
}

#[derive(Serialize)]
pub(crate) struct InWorkflow {
    name: String,
    manifest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase_name: Option<String>,
    of: usize,
    /// Gates that hold agents back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending: Vec<usize>,
    /// Why nothing is known of its gates, or nothing held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<String>,
}

impl InWorkflow {
    pub(crate) fn of(here: &Here, session: &Session) -> Option<InWorkflow> {
        let attached = session.marks.workflow.attached.as_ref()?;
        let (root, path) = (Path::new(&attached.project), attached.manifest.clone().into());
        let sought = SoughtManifest { root, path, attached: Some(attached), left: false };
        let read = workflow::read(Some(&here.state), &sought, &here.config, &|| true);
        let closed = attached.closed_gate(&read, session.id.as_str(), here.now);
        let is_untouched = attached.is_untouched(&read, here.now);
        let last = attached.current();
        let mut shown = InWorkflow {
            name: attached.workflow.clone(),
            manifest: attached.manifest.clone(),
            phase: last.map(|last| last.number),
            phase_name: None,
            of: attached.of,
            pending: closed.iter().map(|closed| closed.gate().number).collect(),
            idle: None,
        };
        let standing = match read {
            Known::Value(standing) => standing,
            Known::Absent => return Some(InWorkflow { idle: Some("its manifest is gone".into()), ..shown }),
            Known::Broken(why) => return Some(InWorkflow { idle: Some(why), ..shown }),
        };
        match &standing.manifest {
            Err(damage) => shown.idle = Some(format!("its manifest cannot be used: {damage}")),
            Ok(manifest) if manifest.complete => shown.idle = Some("complete".to_owned()),
            Ok(_) if is_untouched => {
                shown.idle = Some("not touched for a day, so it is only reported".to_owned());
            }
            Ok(manifest) => {
                if closed.is_some() {
                    shown.pending = standing.pending_gates().iter().map(|gate| gate.number).collect();
                }
                shown.phase = manifest.current;
                let phase = manifest.current.and_then(|number| manifest.workflow.phase(number));
                shown.phase_name = phase.map(|phase| phase.name.clone());
            }
        }
        Some(shown)
    }

    pub(crate) fn line(&self) -> Bilingual {
        let of = self.of;
        let Bilingual { mut en, mut ja } = match (self.phase, &self.phase_name) {
            (Some(number), Some(name)) => {
                let name = name.replace(['_', '-'], " ");
                both!("phase {number} of {of} ({name})", "フェーズ{number}/{of}（{name}）")
            }
            (Some(number), None) => both!("phase {number} of {of}", "フェーズ{number}/{of}"),
            _ => both!("its phase is not known", "フェーズは不明"),
        };
        let name = &self.name;
        if let Some(idle) = &self.idle {
            let idle = one_line(idle);
            en = format!("{en}, {idle}");
            ja = format!("{ja}、{}", idle_ja(&idle));
        }
        if let Some(gate) = self.pending.first() {
            en = format!("{en}; checkpoint {gate} blocks agents, `tidegate workflow check {gate}` says why");
            ja = format!(
                "{ja}、チェックポイント{gate}がエージェントを止めています。理由: `tidegate workflow check {gate}`"
            );
        }
        both!("{name}: {en}", "{name}: {ja}")
    }
}

/// A damage keeps its own words.
fn idle_ja(idle: &str) -> String {
    match idle {
        "its manifest is gone" => "マニフェストがありません".to_owned(),
        "complete" => "完了".to_owned(),
        "not touched for a day, so it is only reported" => "1日以上動きがないため表示だけです".to_owned(),
        other => match other.split_once("its manifest cannot be used: ") {
            Some((_, damage)) => format!("マニフェストを使えません: {damage}"),
            None => other.to_owned(),
        },
    }
}

#[derive(Serialize)]
pub(crate) struct Unverified {
    /// The first few.
    files: Vec<String>,
    /// All of them.
    count: usize,
    /// The first edit.
    since: String,
    /// Checks that succeeded since the last edit and are not enough.
    checked: Kinds,
    /// A check that failed and has not passed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
    /// A check since the last edit that did not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    uncounted: Option<String>,
    #[serde(skip)]
    failed_line: Option<Bilingual>,
    /// Stops held for it.
    held: u32,
    /// Checks that would verify it.
    settled_by: Vec<String>,
}

impl Unverified {
    pub(crate) fn of(here: &Here, session: &Session) -> Option<Unverified> {
        let changes = session.marks.verification.changes.as_ref()?;
        let root = session.marks.session.root.as_deref().map(Path::new);
        let added: Vec<PathBuf> = session.marks.session.directories.iter().map(PathBuf::from).collect();
        let edited: Vec<PathBuf> = changes.files.iter().map(PathBuf::from).collect();
        let mut roots = root.map(|root| checks::roots(root, &added)).unwrap_or_default();
        checks::add_worktrees(&mut roots, &edited);
        let manifests = checks::read(&roots, &[], &changes.files);
        let seen: Vec<_> = manifests.iter().map(ProjectManifest::seen).collect();
        let project = tidegate_core::feature::verification::checks::read_project(&seen);
        let missing = required_checks::missing_kinds(
            Some(&project),
            &here.config,
            &changes.files,
            changes.valid(changes.passed()),
        );
        let mut settled_by =
            verify_stop::example_commands(Some(&project), &here.config, &changes.files, missing);
        settled_by.push(format!("the skill {}", required_checks::SKILL));
        let failure = changes.failure();
        let hidden = changes.hidden.as_ref().map(|hidden| &hidden.line);
        let failed_since = |lang| words::failed_since(lang, changes);
        Some(Unverified {
            files: changes.edited().cloned().collect(),
            count: changes.count(),
            since: changes.began.iso(),
            checked: changes.checked,
            failed: failure.and_then(|failed| failed.shown()).map(str::to_owned),
            uncounted: hidden.or(changes.uncounted.as_ref().map(|check| &check.line)).cloned(),
            failed_line: failure
                .map(|_| Bilingual { en: failed_since(Lang::En), ja: failed_since(Lang::Ja) }),
            held: changes.held,
            settled_by,
        })
    }

    /// What waits for a check, and what would do.
    pub(crate) fn lines(&self) -> [Bilingual; 2] {
        let files = self.files.join(", ");
        let more = self.count - self.files.len();
        let (more_en, more_ja) = if more == 0 {
            <_>::default()
        } else {
            (format!(" and {more} more"), format!("ほか{more}件"))
        };
        let en = self.settled_by.join(", ");
        let ja: Vec<String> =
            self.settled_by.iter().map(|way| way.replace("the skill ", "スキル ")).collect();
        let ja = ja.join("、");
        let (not_en, not_ja) = match &self.uncounted {
            Some(line) => (format!(" (`{line}` did not count)"), format!("（`{line}` は数えられません）")),
            None => <_>::default(),
        };
        let open = self.failed_line.clone().unwrap_or_else(|| {
            both!(
                "changed, and no check has passed since: {files}{more_en}{not_en}",
                "変更後に検証が通っていません: {files}{more_ja}{not_ja}"
            )
        });
        [open, both!("one of these is enough: {en}", "次のどれかで足ります: {ja}")]
    }
}

#[derive(Serialize)]
struct Verified {
    /// The command, where it is known; none if only the skill was invoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    kinds: Kinds,
    /// Its beginning.
    at: String,
}

impl Verified {
    fn of(session: &Session) -> Option<Verified> {
        let work = &session.marks.verification;
        let at = work.verified.filter(|_| work.changes.is_none())?;
        let by = Some(work.checked_by.clone()).filter(|by| !by.is_empty());
        Some(Verified { by, kinds: work.proof, at: at.iso() })
    }

    fn line(&self, clock: &LocalClock) -> Bilingual {
        let at = Millis::from_iso(&self.at).map_or_else(|| self.at.clone(), |at| clock.minute_with_zone(at));
        let is_test = self.kinds.has(CheckKind::Test);
        match (&self.by, is_test, self.kinds.is_empty()) {
            (_, _, true) => both!(
                "the verification skill was invoked, {at}; no check ran",
                "検証スキルが呼び出されました（{at}）。検証の実行はありません"
            ),
            (Some(by), true, _) => both!("tested by `{by}`, {at}", "`{by}` でテスト済み（{at}）"),
            (Some(by), false, _) => both!("checked by `{by}`, {at}", "`{by}` で検証済み（{at}）"),
            (None, true, _) => both!("tested, {at}", "テスト済み（{at}）"),
            (None, false, _) => both!("checked, {at}", "検証済み（{at}）"),
        }
    }
}

/// Between two looks at a session that is watched.
const WATCH: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &Args) -> Outcome {
    loop {
        if args.watch {
            print::clear_screen();
        }
        let code = show(args)?;
        if !args.watch {
            return Ok(code);
        }
        std::thread::sleep(WATCH);
        // Between two pages in a file. A reader that is gone ends it.
        if !print::line("") {
            return Ok(code);
        }
    }
}

fn show(args: &Args) -> Outcome {
    let here = Here::find()?;
    let mut records: Vec<Record> = Vec::new();
    let mut unreadable_lines = 0;
    for file in journal::list_files(&here.state.journal()).map_err(CliError::from)? {
        let entries = journal::read(&file).map_err(CliError::from)?;
        unreadable_lines += entries.skipped;
        records.extend(entries.records.into_iter().filter(|record| record.backend.is_none()));
    }
    let unchecked_hosts =
        Unchecked::among(records.iter().filter(|record| here.concerns(record, None, false)));
    let found = here.session(args.session.as_deref()).inspect_err(|_| {
        // Such a host leaves no session, so its calls are listed by themselves.
        let clock = LocalClock::of_system(here.now);
        for host in &unchecked_hosts {
            let mut page = Page::new();
            page.labelled(both!("note", "注意"), host.line(&clock));
            page.print_to_stderr();
        }
    });
    let session = match found {
        // The first one will come.
        Err(error) if args.watch && args.session.is_none() => {
            waiting_page(error).print();
            return Ok(ExitCode::SUCCESS);
        }
        found => found?,
    };
    records.retain(|record| record.session.as_deref() == Some(session.id.as_str()));
    let (meter, forecast) = here.meter(Some(&session), None);
    let spoke = |record: &&Record| {
        matches!(record.ruling.as_str(), "ask" | "deny" | "halt")
            || record.said.model.is_some()
            || record.said.user.is_some()
    };
    let (switched_off, stepped_down) = list_switches(&here, &session, &records);
    let status = Status {
        session: session.id.to_string(),
        host: session.id.host().name().to_owned(),
        project: session.marks.session.root.clone(),
        began: session.marks.session.began.map(Millis::iso),
        meter: MeterRecord::from_meter(&meter, forecast, here.now),
        pressure_said: session.marks.pressure.said.level.name(),
        last_boundary: session.marks.session.boundary.map(Millis::iso),
        survival: Survived::of(&here, &session),
        constraints: session.marks.knowledge.constraints.iter().map(ShownConstraint::of).collect(),
        unpromoted: session
            .marks
            .session
            .root
            .as_deref()
            .map_or(0, |root| count_unpromoted(&here, Path::new(root))),
        phase: session.marks.activity.phase,
        cycle: Cycle::of(&here, &session),
        workflow: InWorkflow::of(&here, &session),
        unverified: Unverified::of(&here, &session),
        verified: Verified::of(&session),
        skills: session.marks.session.skills.iter().map(|(name, _)| name.clone()).collect(),
        missing_preset_skills: find_missing_of_preset(
            &here.config,
            session.marks.session.root.as_deref().map(Path::new),
            here.env.place.host().as_deref(),
        ),
        events: records.len(),
        interruptions: records.iter().filter(spoke).count(),
        failures: records.iter().filter(|record| record.failure.is_some()).count(),
        unguarded: records.iter().any(|record| record.ruling == "unguarded"),
        not_by_client: records.iter().filter(|record| record.ruling == "not-client").count(),
        tokens_added: records.iter().map(|record| record.cost.tokens).sum(),
        config_problems: here.config.problems.clone(),
        waiting_for_trust: here
            .config
            .waiting
            .iter()
            .filter(|waiting| !waiting.never)
            .map(|waiting| waiting.assignment.path())
            .collect(),
        waiting_for_approval: session
            .marks
            .approval
            .requests
            .iter()
            .filter(|request| request.waits(here.now))
            .cloned()
            .collect(),
        switched_off,
        stepped_down,
        unchecked_hosts,
        unreadable_lines,
        memory: MemoryStanding::of(&here),
    };
    if args.json {
        print::json(&status);
        return Ok(ExitCode::SUCCESS);
    }
    let said = session.marks.pressure.said.level;
    page::status_page(&status, said, &LocalClock::of_system(here.now)).print();
    Ok(ExitCode::SUCCESS)
}

fn waiting_page(error: CliError) -> Page {
    let mut page = Page::new();
    page.labelled(Text::from(both!("waiting", "待機中")).warning(), error.message);
    if let Some(hint) = error.hint {
        page.labelled(Text::from(both!("hint", "ヒント")).good(), hint);
    }
    page.paragraph(both!("Ctrl-C ends it.", "Ctrl-C で終了します。"));
    page
}

/// Unreadable files count as none here: `learnings check` and `doctor` report them.
fn count_unpromoted(here: &Here, root: &Path) -> usize {
    let knowledge = knowledge::read_knowledge(here, root, KnowledgeFiles::Notes);
    knowledge.map_or(0, |known| known.entries().iter().filter(|entry| entry.unpromoted).count())
}

/// Policies that are off by command, which counts at once, or by the client's environment, which only its hooks see;
/// and those that stepped down.
pub(crate) fn list_switches(
    here: &Here,
    session: &Session,
    records: &[Record],
) -> (Vec<String>, Vec<String>) {
    let root = session.marks.session.root.as_deref().map(Path::new);
    let mut config = Config { off_by_command: Vec::new(), stepped_down: Vec::new(), ..here.config.clone() };
    switches::read(&here.state).apply(&mut config, here.now, root, Some(session.id.as_str()));
    let of_client: Vec<String> = records.last().map(|record| record.off.clone()).unwrap_or_default();
    let mut all: Vec<String> = of_client.into_iter().chain(config.off_by_command).collect();
    all.sort();
    all.dedup();
    (all, config.stepped_down)
}
