//! Runs the literate tables: every `<id>.md` below `src/feature` is documentation and test at once.
//!
//! A table is a test when its header is one that [`TABLES`] knows; a table nobody knows fails, so that a typo
//! does not silently switch a rule off.

#[path = "policies/cycle.rs"]
mod cycle;
#[path = "policies/gates.rs"]
mod gates;
#[path = "policies/knowledge.rs"]
mod knowledge;
#[path = "policies/memory.rs"]
mod memory;
#[path = "policies/workflow.rs"]
mod workflow;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tidegate_core::event::Event;
use tidegate_core::feature as policy;
use tidegate_core::feature::approval::marks::{Approval, ApprovalStage, Mark as ApprovalMark};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::friction::effect::Effect as FrictionEffect;
use tidegate_core::feature::knowledge::facts as known;
use tidegate_core::feature::knowledge::facts::Knowledge;
use tidegate_core::feature::marks::{Mark, Marks, SessionMark};
use tidegate_core::feature::own_settings::OwnFile;
use tidegate_core::feature::pressure;
use tidegate_core::feature::pressure::effect::Effect as PressureEffect;
use tidegate_core::feature::pressure::marks::{Mark as PressureMark, PressureLevel, SaidPressure};
use tidegate_core::feature::verdict::Effect;
use tidegate_core::host::Host;
use tidegate_core::host::person::{CallingClient, Person};
use tidegate_core::host::window::Window;
use tidegate_core::meter::{Meter, NoReading, Reading, Source};
use tidegate_core::pipeline;
use tidegate_core::pipeline::ruling::Outcome;
use tidegate_core::time::Millis;

type Row<'a> = Vec<&'a str>;

/// Runs one row and gives it back as it should read.
type Runner = fn(&Row<'_>) -> Vec<String>;

const TABLES: [(&str, Runner); 58] = [
    ("event stepped down told", step_downs),
    ("event what request attended becomes because", approvals),
    ("event tool file mode call because", own_files),
    ("event used window compacts said says marks", pressure_levels),
    ("event used window compacts relays text", pressure_words),
    ("event used window compacts said unpromoted says looked", pressure_promoted),
    ("event used window compacts unpromoted advice", pressure_advice),
    ("preset file invoked call because", gates::skill_gate_files),
    ("settings thread invoked call because", gates::skill_gate_settings),
    ("to thread text", gates::skill_gate_words),
    ("preset edits background stop hook call says because", gates::stops),
    ("wants project passed verified missing", gates::wants),
    ("wants files configured listed", gates::listed),
    ("attended edits project text", gates::stop_words),
    ("preset edits task call because", gates::tasks),
    ("event now guess enters because", gates::phases),
    ("event now answer guess enters then because", gates::late_phases),
    ("enters stock invoked text", gates::phase_words),
    ("preset event work phase entries said says because", knowledge::nudges),
    ("notes entries last entry says because", knowledge::waiting_notes),
    ("moment last unpromoted says", knowledge::nudges_again),
    ("work last entry noted leaves", knowledge::flow_notes),
    ("lang unpromoted stock text", knowledge::nudge_words),
    ("hold trigger entries held call because", knowledge::holds),
    ("noted said entries says tidies", knowledge::recoveries),
    ("source files said says", knowledge::listings),
    ("source handoff known tells", knowledge::handoffs),
    ("trigger named summary kept whole kept told later", knowledge::survivals),
    ("event marks because", knowledge::unknowns),
    ("event since the summary written down because", knowledge::late_boundaries),
    ("event holds earlier copies tells", knowledge::worktrees),
    ("stage left window compacts freshness call state because", cycle::budgets),
    ("min_left runs left call", cycle::thresholds),
    ("stage invoked event call because", cycle::stages),
    ("file session call says aside because", cycle::files),
    ("preset edits stage call because", cycle::with_others),
    ("what text", cycle::words),
    ("event file told says because", cycle::starts),
    ("event turn left copied leaves", cycle::turns),
    ("phase used window compacts said call says because", workflow::ladder),
    ("rot_at used window compacts call because", workflow::absolute),
    ("preset workflow event used call because", workflow::sessions),
    ("preset phase section of phase 3 let through used call because", workflow::gates),
    ("preset section of phase 3 used since phase 3 missing", workflow::missing),
    ("from to used call says notes because", workflow::changes),
    ("workflow asked says notes", workflow::reminders),
    ("failed spawned says", workflow::retries),
    ("workflow text is", workflow::words),
    ("event transcript left leaves worker because", memory::jobs),
    ("setting event left leaves mark passed", memory::not_recorded),
    ("event topic set says", memory::job_contents),
    ("preset event answer held call because", memory::tags),
    ("at project topic text", memory::tag_words),
    ("preset before now recorded held call leaves because", memory::topic_changes),
    ("before now reason", memory::topic_words),
    ("note recorded set says because", memory::topic_notes),
    ("preset source told decisions undecided says offers", memory::startups),
    ("decisions undecided text", memory::startup_words),
];

/// The file of this name, anywhere below the folder.
fn find_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let here = files.into_iter().find(|path| path.file_name().is_some_and(|found| found == name));
    here.or_else(|| folders.iter().find_map(|folder| find_file(folder, name)))
}

#[test]
fn every_row_of_every_policy() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/feature");
    let mut rows = 0;
    let mut wrong = String::new();
    for policy in policy::POLICIES {
        let name = format!("{}.md", policy.id().replace('-', "_"));
        let path = find_file(Path::new(folder), &name).unwrap_or_else(|| panic!("no {name} in {folder}"));
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.display();
        for (line, header, row) in table_rows(&text) {
            let Some((_, run)) = TABLES.iter().find(|(columns, _)| *columns == header) else {
                panic!("{path}:{line}: no test knows a table with the columns `{header}`");
            };
            let is = run(&row);
            rows += 1;
            if is != row {
                writeln!(
                    wrong,
                    "{}.md:{line}\n  written: {}\n  decided: {}",
                    policy.id(),
                    row.join(" | "),
                    is.join(" | ")
                )
                .unwrap();
            }
        }
    }
    assert!(rows > 20, "only {rows} rows found");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A bar that belongs to a cell is written `\|`.
fn cells(line: &str) -> Row<'_> {
    let line = line.trim().trim_matches('|');
    let mut cells = Vec::new();
    let mut from = 0;
    for (at, _) in line.match_indices('|').filter(|(at, _)| !line[..*at].ends_with('\\')) {
        cells.push(line[from..at].trim());
        from = at + 1;
    }
    cells.push(line[from..].trim());
    cells
}

/// All rows of all tables, with their line and their header.
fn table_rows(text: &str) -> Vec<(usize, String, Row<'_>)> {
    let mut rows = Vec::new();
    let mut header: Option<String> = None;
    for (number, line) in text.lines().enumerate() {
        if !line.trim_start().starts_with('|') {
            header = None;
            continue;
        }
        match &header {
            None => header = Some(cells(line).join(" ")),
            Some(_) if line.contains("---") => {}
            Some(header) => rows.push((number + 1, header.clone(), cells(line))),
        }
    }
    rows
}

fn pressure_levels(row: &Row<'_>) -> Vec<String> {
    let marks = match row[4] {
        "broken" => Known::Broken("test".into()),
        said => {
            let (name, at) = said.split_once(" at ").unwrap_or((said, "0"));
            let used: u64 = at.parse().expect("tokens");
            let reference = row[3].parse().or(row[2].parse()).unwrap_or_default();
            let said = SaidPressure {
                level: level(name),
                used,
                reference,
                at: Millis(0),
                promoted: false,
                looked: None,
            };
            Known::Value(Marks { pressure: pressure::marks::Marks { said }, ..Marks::default() })
        }
    };
    let outcome = decide(row, marks, None);
    let said = said_level(&outcome);
    // The session's own mark and the public copy always go together.
    let marked = outcome.effects.iter().find_map(|effect| match effect {
        Effect::Mark(Mark::Pressure(PressureMark::Pressure(pressure))) => Some(pressure.level.name()),
        _ => None,
    });
    let published = outcome.effects.iter().find_map(|effect| match effect {
        Effect::Pressure(PressureEffect::Publish { level, .. }) => Some(level.name()),
        _ => None,
    });
    assert_eq!(marked, published, "{row:?}");
    let is = [row[0], row[1], row[2], row[3], row[4], said, marked.unwrap_or("-")];
    is.map(str::to_owned).into()
}

fn said_level(outcome: &Outcome) -> &'static str {
    match outcome.context.as_str() {
        "" => "-",
        text if text.starts_with("Context is running out") => "urgent",
        _ => "info",
    }
}

/// So many entries that nobody promoted.
fn unpromoted(cell: &str) -> Option<Knowledge> {
    let count: usize = cell.parse().ok()?;
    Some(Knowledge { unpromoted: vec!["x".into(); count], ..Knowledge::default() })
}

fn pressure_promoted(row: &Row<'_>) -> Vec<String> {
    let mut marks = Marks::default();
    let (reference, at) = (row[3].parse().unwrap_or_default(), Millis(0));
    let said = SaidPressure { level: level(row[4]), used: 1, reference, at, promoted: false, looked: None };
    marks.apply(PressureMark::Pressure(said));
    marks.apply(SessionMark::Promoted(at));
    let outcome = decide(row, Known::Value(marks.clone()), unpromoted(row[5]));
    let looked = match outcome.effects.as_slice() {
        [
            Effect::Mark(
                mark @ Mark::Pressure(PressureMark::Pressure(SaidPressure {
                    looked: Some(_),
                    promoted: true,
                    ..
                })),
            ),
        ] => {
            marks.apply(mark.clone());
            assert_eq!(decide(row, Known::Value(marks), None).effects, [], "once: {row:?}");
            "yes"
        }
        _ => "-",
    };
    [row[0], row[1], row[2], row[3], row[4], row[5], said_level(&outcome), looked].map(str::to_owned).into()
}

fn pressure_advice(row: &Row<'_>) -> Vec<String> {
    let outcome = decide(row, Known::Value(Marks::default()), unpromoted(row[4]));
    let advice = match outcome.context.split_once(" as a summary.") {
        Some((_, advice)) if !advice.is_empty() => advice.trim(),
        _ => "-",
    };
    [row[0], row[1], row[2], row[3], row[4], advice].map(str::to_owned).into()
}

fn pressure_words(row: &Row<'_>) -> Vec<String> {
    let relays = row[4].split(' ').filter_map(|used| used.parse().ok()).collect();
    let mut marks = Marks::default();
    marks.session.relays = relays;
    let outcome = decide(row, Known::Value(marks), None);
    let mut is: Vec<String> = row[..5].iter().map(|cell| (*cell).to_owned()).collect();
    is.push(outcome.context);
    is
}

/// Facts about an event of which nothing else is known.
fn facts<'a>(event: &'a Event<'a>) -> Facts<'a> {
    Facts {
        meter: Meter::Unknown(NoReading::NothingYet),
        person: Person::There,
        client: CallingClient::OfPerson(7),
        ..Facts::of(event, Millis(0))
    }
}

/// What is known where flow and stock could be read, or not.
fn flow_and_stock(files: Option<Knowledge>) -> known::Facts {
    known::Facts { files, ..known::Facts::default() }
}

/// The verdict of the one policy that a table is about: its call and why; `-` where it does not take part.
fn verdict_of(policy: &str, facts: &Facts<'_>) -> (String, String, Vec<Effect>) {
    let ruling = pipeline::decide(facts, &Config::default(), &|| 0);
    match ruling.parts.into_iter().find(|part| part.policy == policy) {
        Some(part) => (part.verdict.call.name().into(), part.verdict.because.into(), part.verdict.effects),
        None => ("pass".into(), "-".into(), Vec::new()),
    }
}

fn step_downs(row: &Row<'_>) -> Vec<String> {
    let (name, attended) = row[0].strip_suffix(", nobody there").map_or((row[0], true), |name| (name, false));
    let (name, agent) = match name.strip_suffix(" in a subagent") {
        Some(name) => (name, r#", "agent_id": "a1""#),
        None => (name, ""),
    };
    let json = format!(
        r#"{{"session_id": "s", "hook_event_name": "{name}", "prompt": "go on", "tool_name": "Read"{agent}}}"#
    );
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let names = row[1].split(' ').filter(|name| *name != "-").map(str::to_owned);
    let config = Config { step_downs_to_tell: names.collect(), ..Config::default() };
    let ruling = pipeline::decide(&Facts { person: attended.into(), ..facts(&event) }, &config, &|| 0);
    let outcome = ruling.settle(event.host, event.kind, event.is_main_thread(), 1200);
    assert_eq!(outcome.context, "", "the model is told nothing: {row:?}");
    let told = outcome.effects.iter().filter_map(|effect| match effect {
        Effect::Friction(FrictionEffect::StepDownTold(policy)) => Some(policy.as_str()),
        _ => None,
    });
    let told: Vec<&str> = told.collect();
    let mentions = |policy: &&str| outcome.user.contains(&format!("`tidegate on {policy}`"));
    assert!(told.iter().all(mentions), "{}", outcome.user);
    vec![row[0].into(), row[1].into(), if told.is_empty() { "-".into() } else { told.join(" ") }]
}

fn own_files(row: &Row<'_>) -> Vec<String> {
    let (name, agent) = match row[0].strip_suffix(" in a subagent") {
        Some(name) => (name, r#", "agent_id": "a1""#),
        None => (row[0], ""),
    };
    let mode = match row[3] {
        "-" => String::new(),
        mode => format!(r#", "permission_mode": "{mode}""#),
    };
    let json = format!(
        r#"{{"session_id": "s", "hook_event_name": "{name}", "tool_name": "{}",
            "tool_input": {{"file_path": "/p/f", "notebook_path": "/p/f", "command": "echo > .claude/settings.json"}}{agent}{mode}}}"#,
        row[1]
    );
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let own_file = match row[2] {
        "config" => Some(OwnFile::Config),
        "project config" => Some(OwnFile::ProjectConfig),
        "host" => Some(OwnFile::Host),
        "state" => Some(OwnFile::State),
        "program" => Some(OwnFile::Program),
        "plugin" => Some(OwnFile::Plugin),
        "memory" => Some(OwnFile::Memory),
        _ => None,
    };
    let (call, because, _) = verdict_of("own-settings", &Facts { own_settings: own_file, ..facts(&event) });
    vec![row[0].into(), row[1].into(), row[2].into(), row[3].into(), call, because]
}

fn approvals(row: &Row<'_>) -> Vec<String> {
    const NOW: Millis = Millis(3_600_000);
    let (name, tool) = row[0].split_once(' ').unwrap_or((row[0], ""));
    let what = row[1].replace('\'', "");
    let question = |text: &str| {
        format!(
            r#""questions": [{{"question": "{text}", "options": [{{"label": "approve"}}, {{"label": "refuse"}}]}}]"#
        )
    };
    let whole = "Allow this once? `tidegate off skill-gate` (code K7QF2M)";
    let (input, response) = match what.split_once(' ').unwrap_or((&what, "")) {
        ("asks", text) => match text.strip_prefix("and answers ") {
            Some(code) => {
                (format!("{{{}, \"answers\": {{\"x\": \"approve\"}}}}", question(code)), String::new())
            }
            None if text == "K7QF2M" => (format!("{{{}}}", question(whole)), String::new()),
            None => (format!("{{{}}}", question(text)), String::new()),
        },
        (how @ ("answer" | "timeout"), text) => {
            let asked = question(whole);
            let away = if how == "timeout" { r#", "afkTimeoutMs": 5000"# } else { "" };
            let answers = format!(r#""answers": {{"{whole}": "{text}"}}"#);
            (format!("{{{asked}}}"), format!("{{{asked}, {answers}{away}}}"))
        }
        _ => (format!(r#"{{"command": "{what}"}}"#), String::new()),
    };
    let json = format!(
        r#"{{"session_id": "s", "hook_event_name": "{name}", "tool_name": "{tool}", "prompt": "{what}",
            "tool_use_id": "toolu_1", "tool_input": {{}}}}"#
    );
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let (stage, minutes) = row[2].split_once(' ').unwrap_or((row[2], "0"));
    let stage = match stage {
        "asked" => Some(ApprovalStage::Asked),
        "questioned" => Some(ApprovalStage::Questioned("toolu_1".into())),
        "given" => Some(ApprovalStage::Given),
        "used" => Some(ApprovalStage::Used),
        "void" => Some(ApprovalStage::Void),
        _ => None,
    };
    let minutes: u64 = minutes.split(' ').next().unwrap_or_default().parse().expect("minutes");
    let request = stage.map(|stage| Approval {
        code: "K7QF2M".into(),
        command: "off skill-gate".into(),
        about: None,
        at: Millis(NOW.0 - minutes * 60_000),
        client: Some(7),
        shown: true,
        stage,
    });
    let mut marks = Marks::default();
    marks.approval.requests.extend(request);
    let facts = Facts {
        now: NOW,
        marks: Known::Value(marks),
        person: if row[3] == "unknown" { Person::Unknown } else { (row[3] != "no").into() },
        client: match row[3] {
            "in another client" => CallingClient::OfPerson(8),
            "not by the client" => CallingClient::Unknown,
            "in an agent's client" => CallingClient::OfAgent,
            "the client says no" => CallingClient::Unattended,
            _ => CallingClient::OfPerson(7),
        },
        tool_input: &input,
        tool_response: &response,
        ..facts(&event)
    };
    let (call, because, effects) = verdict_of("approval", &facts);
    assert_eq!(call, "pass", "an approval never holds anything up: {row:?}");
    let becomes = effects.iter().find_map(|effect| match effect {
        Effect::Mark(Mark::Approval(ApprovalMark::Approval(approval))) => Some(match approval.stage {
            ApprovalStage::Asked => "asked",
            ApprovalStage::Questioned(_) => "questioned",
            ApprovalStage::Given => "given",
            ApprovalStage::Used => "used",
            ApprovalStage::Void => "void",
            ApprovalStage::Refused => "refused",
        }),
        _ => None,
    });
    let is = [row[0], row[1], row[2], row[3], becomes.unwrap_or("-"), &because];
    is.map(str::to_owned).into()
}

fn level(name: &str) -> PressureLevel {
    match name {
        "none" => PressureLevel::None,
        "info" => PressureLevel::Info,
        "urgent" => PressureLevel::Urgent,
        other => panic!("no such level: {other}"),
    }
}

/// The ruling for the first four columns: event, used, window, compacts.
fn decide(row: &Row<'_>, marks: Known<Marks>, knowledge: Option<Knowledge>) -> Outcome {
    let (name, agent) = match row[0].strip_suffix(" in a subagent") {
        Some(name) => (name, r#", "agent_id": "a1""#),
        None => (row[0], ""),
    };
    let json = format!(r#"{{"session_id": "s", "hook_event_name": "{name}", "prompt": "go on"{agent}}}"#);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let number = |text: &str| text.parse::<u64>().ok();
    let window = number(row[2]).map(|tokens| Window { tokens, compact_at: number(row[3]) });
    let meter = match number(row[1]) {
        Some(used) => Meter::StaleByOne(Reading { used, window, source: Source::Transcript, at: Millis(0) }),
        None => Meter::Unknown(NoReading::NothingYet),
    };
    let facts = Facts { marks, meter, knowledge: flow_and_stock(knowledge), ..facts(&event) };
    pipeline::decide(&facts, &Config::default(), &|| 0).settle(
        event.host,
        event.kind,
        event.is_main_thread(),
        1200,
    )
}
