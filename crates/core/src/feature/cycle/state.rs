//! `.claude/dev-cycle.state.json`: the progress of a cycle, in a format that other tools read and write too.
//!
//! Unknown members are preserved. An impossible value makes the whole file damaged, and the cycle is not driven by
//! it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::event::SessionId;
use crate::feature::cycle::BUILT_IN;
use crate::feature::cycle::definition::Cycle;
use crate::feature::cycle::findings::is_severe;
use crate::feature::cycle::rewrite::rewrite_object;
use crate::text::cut::first_chars;
use crate::text::hidden::replace_hidden;
use crate::time::Millis;

/// In the host's folder of the project.
pub const STATE_FILE: &str = "dev-cycle.state.json";

/// `stopped_reason` of a cycle that stopped for lack of context.
pub const OUT_OF_CONTEXT: &str = "context_budget";

/// `stopped_reason` of a stage that reported open findings after its last round of fixes.
pub const STILL_OPEN: &str = "open_findings";

/// The metric with the number of open findings.
pub const OPEN_FINDINGS: &str = "open";

/// Limit for sessions that are told how to resume.
pub const MAX_SESSIONS_TOLD: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CycleStatus {
    #[default]
    Running,
    /// There was no room for the next stage.
    Stopped,
    Failed,
    Complete,
}

impl CycleStatus {
    pub fn name(self) -> &'static str {
        match self {
            CycleStatus::Running => "running",
            CycleStatus::Stopped => "stopped",
            CycleStatus::Failed => "failed",
            CycleStatus::Complete => "complete",
        }
    }

    fn from_name(name: &str) -> Option<CycleStatus> {
        [CycleStatus::Running, CycleStatus::Stopped, CycleStatus::Failed, CycleStatus::Complete]
            .into_iter()
            .find(|status| status.name() == name)
    }
}

/// One stage: tokens in use at both ends, and the state of the project when it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageProgress {
    pub start: Option<u64>,
    pub end: Option<u64>,
    /// Tokens that it took before another session, or a second attempt, began it again.
    pub before: Option<u64>,
    /// The conversation was compacted in between.
    pub compacted: bool,
    /// Set even if the numbers are unknown.
    pub ended: bool,
    /// When it first began.
    pub began: Option<String>,
    /// The commit that was checked out then.
    pub head: Option<Head>,
    /// Fingerprints of its promised files then.
    pub files: Vec<(String, Option<String>)>,
}

/// The project when a stage begins, to be compared with at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageStart {
    /// If the stage promises a commit.
    pub head: Option<Head>,
    /// Fingerprints of its promised files; `None` where there is none.
    pub files: Vec<(String, Option<String>)>,
    /// When `head` was checked out, if that was before the stage began.
    pub since: Option<Millis>,
}

/// A commit that is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// Its hash, or [`NO_COMMIT`].
    pub commit: String,
    /// The worktree.
    pub root: String,
}

/// Where there is no commit yet, or no repository.
pub const NO_COMMIT: &str = "none";

impl StageProgress {
    /// Cost of the stage, if known.
    pub fn tokens(&self) -> Option<u64> {
        let last = self.end?.checked_sub(self.start?).filter(|_| !self.compacted)?;
        Some(last.saturating_add(self.before.unwrap_or_default()))
    }
}

/// Why a state file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CycleDamage {
    /// Torn, or not a JSON object.
    NoObject,
    /// A member with an impossible value.
    Member(&'static str),
    /// The config has no such cycle.
    UnknownCycle(String),
    UnknownStage(String),
}

impl fmt::Display for CycleDamage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CycleDamage::NoObject => out.write_str("it is not a JSON object"),
            CycleDamage::Member(name) => write!(out, "`{name}` has a value that does not fit"),
            CycleDamage::UnknownCycle(name) => write!(out, "no cycle is called {}", quote_name(name)),
            CycleDamage::UnknownStage(name) => write!(out, "the cycle has no stage {}", quote_name(name)),
        }
    }
}

/// The name comes from a file that anyone may have written.
fn quote_name(name: &str) -> String {
    format!("`{}`", replace_hidden(first_chars(name, 64), char::REPLACEMENT_CHARACTER))
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CycleState {
    /// The stage under way, or the last one if the cycle is not running.
    pub stage: String,
    pub status: CycleStatus,
    /// `context_budget`, or free text.
    pub stopped_reason: Option<String>,
    /// Stages that did not begin.
    pub skipped_stages: Vec<String>,
    /// Percentage of the window that was left when it stopped.
    pub remaining_pct: Option<f64>,
    /// Tokens that were left then, and tokens that the skipped stages needed.
    pub left_tokens: Option<u64>,
    pub needed_tokens: Option<u64>,
    pub cycle: String,
    /// The session that it steers.
    pub session_id: Option<String>,
    /// Root of the project.
    pub project: Option<String>,
    pub started_at: Option<String>,
    pub updated_at: Option<String>,
    /// Reported by the stages themselves.
    pub metrics: Map<String, Value>,
    pub stages: Vec<(String, StageProgress)>,
    /// Sessions that were told how to resume it.
    pub resume_told: Vec<String>,
    /// Source text, to preserve unknown members.
    written: String,
}

fn non_null<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.get(name).filter(|value| !value.is_null())
}

fn read_text(members: &Map<String, Value>, name: &'static str) -> Result<Option<String>, CycleDamage> {
    match non_null(members, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(CycleDamage::Member(name)),
    }
}

/// Checked, because it is shown to people and looked up in Tidegate's own state.
fn read_session_id(members: &Map<String, Value>) -> Result<Option<String>, CycleDamage> {
    let id = read_text(members, "session_id")?;
    match id.as_deref().map(SessionId::parse) {
        Some(Err(_)) => Err(CycleDamage::Member("session_id")),
        _ => Ok(id),
    }
}

fn read_texts(members: &Map<String, Value>, name: &'static str) -> Result<Vec<String>, CycleDamage> {
    let Some(value) = non_null(members, name) else { return Ok(Vec::new()) };
    let items = value.as_array().ok_or(CycleDamage::Member(name))?;
    let item = |item: &Value| item.as_str().map(str::to_owned).ok_or(CycleDamage::Member(name));
    items.iter().map(item).collect()
}

fn read_object(members: &Map<String, Value>, name: &'static str) -> Result<Map<String, Value>, CycleDamage> {
    match non_null(members, name) {
        None => Ok(Map::new()),
        Some(Value::Object(inner)) => Ok(inner.clone()),
        Some(_) => Err(CycleDamage::Member(name)),
    }
}

fn read_tokens(members: &Map<String, Value>, name: &'static str) -> Result<Option<u64>, CycleDamage> {
    non_null(members, name).map(|value| value.as_u64().ok_or(CycleDamage::Member(name))).transpose()
}

fn read_stage_progress(value: &Value) -> Result<StageProgress, CycleDamage> {
    const NAME: CycleDamage = CycleDamage::Member("stages");
    let members = value.as_object().ok_or(NAME)?;
    let tokens = |name: &'static str| read_tokens(members, name).map_err(|_| NAME);
    let text = |name: &'static str| read_text(members, name).map_err(|_| NAME);
    let flag = |name: &str| non_null(members, name).map_or(Ok(false), |value| value.as_bool().ok_or(NAME));
    let head = text("head_at_start")?.zip(text("head_of")?);
    let files = read_object(members, "files_at_start").map_err(|_| NAME)?;
    let file = |(path, value): (String, Value)| match value {
        Value::Null => Ok((path, None)),
        Value::String(text) => Ok((path, Some(text))),
        _ => Err(NAME),
    };
    Ok(StageProgress {
        start: tokens("tokens_at_start")?,
        end: tokens("tokens_at_end")?,
        before: tokens("tokens_before")?,
        compacted: flag("compacted")?,
        ended: flag("ended")?,
        began: text("began_at")?,
        head: head.map(|(commit, root)| Head { commit, root }),
        files: files.into_iter().map(file).collect::<Result<_, CycleDamage>>()?,
    })
}

impl CycleState {
    pub fn parse(bytes: &[u8]) -> Result<CycleState, CycleDamage> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let Ok(Value::Object(members)) = serde_json::from_slice(bytes) else {
            return Err(CycleDamage::NoObject);
        };
        let stage = read_text(&members, "stage")?.filter(|stage| !stage.is_empty());
        let status = match read_text(&members, "status")? {
            None => CycleStatus::Running,
            Some(name) => CycleStatus::from_name(&name).ok_or(CycleDamage::Member("status"))?,
        };
        let remaining_pct = match non_null(&members, "remaining_pct") {
            None => None,
            Some(value) => Some(value.as_f64().ok_or(CycleDamage::Member("remaining_pct"))?),
        };
        let stages = read_object(&members, "stages")?;
        let stages = stages.iter().map(|(name, value)| Ok((name.clone(), read_stage_progress(value)?)));
        Ok(CycleState {
            stage: stage.ok_or(CycleDamage::Member("stage"))?,
            status,
            stopped_reason: read_text(&members, "stopped_reason")?,
            skipped_stages: read_texts(&members, "skipped_stages")?,
            remaining_pct,
            left_tokens: read_tokens(&members, "left_tokens")?,
            needed_tokens: read_tokens(&members, "needed_tokens")?,
            cycle: read_text(&members, "cycle")?.unwrap_or_else(|| BUILT_IN.to_owned()),
            session_id: read_session_id(&members)?,
            project: read_text(&members, "project")?,
            started_at: read_text(&members, "started_at")?,
            updated_at: read_text(&members, "updated_at")?,
            metrics: read_object(&members, "metrics")?,
            stages: stages.collect::<Result<_, CycleDamage>>()?,
            resume_told: read_texts(&members, "resume_told")?,
            written: String::from_utf8_lossy(bytes).into_owned(),
        })
    }

    /// A new cycle without a stage yet.
    pub fn started(cycle: &str, now: Millis) -> CycleState {
        CycleState { cycle: cycle.to_owned(), started_at: Some(now.iso()), ..CycleState::default() }
    }

    /// Checks that its cycle and stages exist.
    pub fn check_names(&self, cycle: Option<&Cycle>) -> Result<(), CycleDamage> {
        let cycle = cycle.ok_or_else(|| CycleDamage::UnknownCycle(self.cycle.clone()))?;
        if self.skipped_stages.len() > cycle.stages.len() {
            return Err(CycleDamage::Member("skipped_stages"));
        }
        let mut named = std::iter::once(&self.stage).chain(&self.skipped_stages);
        match named.find(|stage| cycle.position(stage).is_none()) {
            Some(stage) => Err(CycleDamage::UnknownStage(stage.clone())),
            None => Ok(()),
        }
    }

    pub fn to_text(&self) -> String {
        let before: Map<String, Value> = serde_json::from_str(&self.written).unwrap_or_default();
        let known = [
            ("stage", json!(self.stage)),
            ("status", json!(self.status.name())),
            ("stopped_reason", json!(self.stopped_reason)),
            ("skipped_stages", json!(self.skipped_stages)),
            ("remaining_pct", json!(self.remaining_pct)),
            ("left_tokens", json!(self.left_tokens)),
            ("needed_tokens", json!(self.needed_tokens)),
            ("cycle", json!(self.cycle)),
            ("session_id", json!(self.session_id)),
            ("project", json!(self.project)),
            ("started_at", json!(self.started_at)),
            ("updated_at", json!(self.updated_at)),
            ("metrics", Value::Object(self.metrics.clone())),
            ("stages", Value::Object(self.stages_as_json(before.get("stages")))),
            ("resume_told", json!(self.resume_told)),
        ];
        let names = known.each_ref().map(|(name, _)| *name);
        let mut members = before;
        for (name, value) in known {
            let is_empty = match &value {
                Value::Null => true,
                Value::Array(items) => items.is_empty(),
                Value::Object(inner) => inner.is_empty(),
                _ => false,
            };
            // Removes a member that became empty; one that was written empty stays.
            if !is_empty {
                members.insert(name.to_owned(), value);
            } else if members.get(name).is_some_and(|old| *old != value) {
                members.remove(name);
            }
        }
        rewrite_object(&self.written, &members, &names)
    }

    fn stages_as_json(&self, before: Option<&Value>) -> Map<String, Value> {
        let stage = |(name, progress): &(String, StageProgress)| {
            let mut members = before.and_then(|all| all.get(name)?.as_object().cloned()).unwrap_or_default();
            let StageProgress { start, end, before, compacted, ended, began, head, files } = progress;
            let files: Map<String, Value> =
                files.iter().map(|(path, found)| (path.clone(), json!(found))).collect();
            let flag = |is: bool| is.then_some(true);
            for (key, value) in [
                ("began_at", json!(began)),
                ("tokens_before", json!(before)),
                ("tokens_at_start", json!(start)),
                ("tokens_at_end", json!(end)),
                ("head_at_start", json!(head.as_ref().map(|head| &head.commit))),
                ("head_of", json!(head.as_ref().map(|head| &head.root))),
                ("files_at_start", json!(Some(files).filter(|files| !files.is_empty()))),
                ("compacted", json!(flag(*compacted))),
                ("ended", json!(flag(*ended))),
            ] {
                if value.is_null() {
                    members.remove(key);
                } else {
                    members.insert(key.to_owned(), value);
                }
            }
            (name.clone(), Value::Object(members))
        };
        self.stages.iter().map(stage).collect()
    }

    pub fn progress(&self, stage: &str) -> Option<&StageProgress> {
        self.stages.iter().find(|(name, _)| name == stage).map(|(_, progress)| progress)
    }

    pub fn progress_mut(&mut self, stage: &str) -> &mut StageProgress {
        let at = self.stages.iter().position(|(name, _)| name == stage).unwrap_or_else(|| {
            self.stages.push((stage.to_owned(), StageProgress::default()));
            self.stages.len() - 1
        });
        &mut self.stages[at].1
    }

    /// `first_used` is the first reading in the stage, for a stage that began without one.
    pub fn end_stage(&mut self, first_used: Option<u64>, used: Option<u64>, compacted: bool) {
        let stage = self.stage.clone();
        let progress = self.progress_mut(&stage);
        progress.start = progress.start.or(first_used);
        (progress.end, progress.ended) = (used, true);
        progress.compacted |= compacted;
    }

    /// A stage that is begun again before it ended keeps its beginning: a commit of the first attempt counts in the second.
    /// After another stage it begins anew, because the commit may be that stage's.
    pub fn begin_stage(&mut self, stage: &str, now: Millis, used: Option<u64>, found: StageStart) {
        let is_again = self.stage == stage;
        stage.clone_into(&mut self.stage);
        let progress = self.progress_mut(stage);
        let unfinished = Some(std::mem::take(progress)).filter(|old| !old.ended).unwrap_or_default();
        let known = Some(unfinished.files).filter(|files| is_again && !files.is_empty());
        *progress = StageProgress {
            start: used,
            before: unfinished.before,
            began: unfinished.began.filter(|_| is_again).or_else(|| Some(found.since.unwrap_or(now).iso())),
            head: unfinished.head.filter(|_| is_again).or(found.head),
            files: known.unwrap_or(found.files),
            ..StageProgress::default()
        };
        if let Some(Value::Object(metrics)) = self.metrics.get_mut(stage) {
            metrics.retain(|name, _| name != OPEN_FINDINGS && !is_severe(name));
            if metrics.is_empty() {
                self.metrics.remove(stage);
            }
        }
        self.status = CycleStatus::Running;
        self.stopped_reason = None;
        self.skipped_stages.clear();
        (self.remaining_pct, self.left_tokens, self.needed_tokens) = (None, None, None);
        self.resume_told.clear();
    }

    /// Keeps the cost of an attempt that ends without success; `used` are the tokens in use at its end.
    pub fn give_up_stage(&mut self, first_used: Option<u64>, used: Option<u64>) {
        let stage = self.stage.clone();
        let progress = self.progress_mut(&stage);
        let start = progress.start.take().or(first_used);
        let spent = used.zip(start).and_then(|(used, start)| used.checked_sub(start));
        if let Some(spent) = spent {
            progress.before = Some(progress.before.unwrap_or_default().saturating_add(spent));
        }
    }

    pub fn fail_stage(&mut self, cycle: &Cycle, why: &str) {
        self.status = CycleStatus::Failed;
        self.stopped_reason = Some(why.to_owned());
        self.skipped_stages = cycle.position(&self.stage).map(|at| cycle.names(at + 1)).unwrap_or_default();
    }

    #[must_use]
    pub fn updated_at(mut self, now: Millis) -> CycleState {
        self.updated_at = Some(now.iso_seconds());
        self
    }

    /// The first skipped stage; without one, or after a failure, the stage under way.
    pub fn resumes_at(&self) -> &str {
        let skipped = self.skipped_stages.first().filter(|_| self.status != CycleStatus::Failed);
        skipped.unwrap_or(&self.stage)
    }

    /// Other tools record only the stages that did not begin: then all earlier ones count as done.
    pub fn was_done(&self, cycle: &Cycle, at: usize) -> bool {
        let mut ended = self.stages.iter().filter(|(_, spent)| spent.ended).peekable();
        if ended.peek().is_some() {
            return ended.any(|(name, _)| cycle.position(name) == Some(at));
        }
        let stops = self.skipped_stages.first().and_then(|skipped| cycle.position(skipped));
        self.status == CycleStatus::Stopped && stops.is_some_and(|stops| at < stops)
    }

    /// Stays the same when another session resumes the cycle.
    pub fn run_id(&self) -> String {
        format!("{}-{}", self.cycle, self.started_at.as_deref().unwrap_or("?"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_plain_form_is_understood() {
        let state = CycleState::parse(br#"{"stage": "audit"}"#).unwrap();
        assert_eq!(
            (state.stage.as_str(), state.status, state.session_id),
            ("audit", CycleStatus::Running, None)
        );
        assert_eq!(state.cycle, "dev-cycle");
        let stopped = CycleState::parse(
            br#"{"stage": "sprint", "status": "stopped", "stopped_reason": "context_budget",
                 "skipped_stages": ["audit", "ship", "retrospective"], "remaining_pct": 35.2}"#,
        );
        let stopped = stopped.unwrap();
        assert_eq!((stopped.status, stopped.resumes_at()), (CycleStatus::Stopped, "audit"));
        assert_eq!(stopped.check_names(Some(&Cycle::default())), Ok(()));
        assert_eq!([0, 1].map(|at| stopped.was_done(&Cycle::default(), at)), [true, false]);
    }

    #[test]
    fn what_cannot_be_true_is_damage() {
        let of = |text: &str| CycleState::parse(text.as_bytes()).unwrap_err();
        for text in ["", "{\"stage\": \"spr", "[]", "null", "\u{0}\u{0}", "{\"stage\": \"a\"} x"] {
            assert_eq!(of(text), CycleDamage::NoObject, "{text}");
        }
        for (text, name) in [
            ("{}", "stage"),
            (r#"{"stage": ""}"#, "stage"),
            (r#"{"stage": 3}"#, "stage"),
            (r#"{"stage": "a", "status": "paused"}"#, "status"),
            (r#"{"stage": "a", "remaining_pct": "35"}"#, "remaining_pct"),
            (r#"{"stage": "a", "skipped_stages": "audit"}"#, "skipped_stages"),
            (r#"{"stage": "a", "session_id": 7}"#, "session_id"),
            (r#"{"stage": "a", "session_id": "\u001b[2J"}"#, "session_id"),
            (r#"{"stage": "a", "stages": {"a": {"tokens_at_start": "many"}}}"#, "stages"),
            (r#"{"stage": "a", "metrics": []}"#, "metrics"),
        ] {
            assert_eq!(of(text), CycleDamage::Member(name), "{text}");
        }
        let state = |text: &str| CycleState::parse(text.as_bytes()).unwrap();
        let cycle = Cycle::default();
        let unknown = CycleDamage::UnknownStage("deploy".into());
        assert_eq!(state(r#"{"stage": "deploy"}"#).check_names(Some(&cycle)), Err(unknown.clone()));
        let skipped = r#"{"stage": "ship", "skipped_stages": ["deploy"]}"#;
        assert_eq!(state(skipped).check_names(Some(&cycle)), Err(unknown));
        let many =
            state(r#"{"stage": "sprint", "skipped_stages": ["ship", "ship", "ship", "ship", "ship"]}"#);
        assert_eq!(many.check_names(Some(&cycle)), Err(CycleDamage::Member("skipped_stages")));
        let other = state(r#"{"stage": "ship", "cycle": "x"}"#);
        assert_eq!(other.check_names(None), Err(CycleDamage::UnknownCycle("x".into())));
    }

    #[test]
    fn what_others_wrote_stays() {
        let text = r#"{"stage": "sprint", "metrics": {"sprint": {"tests": 12}}, "note": "x", "n": 1.50, "none": null,
            "skipped_stages": [], "stages": {"sprint": {"tokens_at_start": 5, "by": "me"}}}"#;
        let mut state = CycleState::parse(text.as_bytes()).unwrap();
        state.end_stage(None, Some(9), false);
        state.begin_stage("audit", Millis(0), Some(9), StageStart::default());
        let new: Value = serde_json::from_str(&state.to_text()).unwrap();
        let expected = json!({
            "stage": "audit", "status": "running", "cycle": "dev-cycle", "metrics": {"sprint": {"tests": 12}}, "note": "x",
            "n": 1.5, "none": null, "skipped_stages": [],
            "stages": {
                "sprint": {"tokens_at_start": 5, "tokens_at_end": 9, "ended": true, "by": "me"},
                "audit": {"began_at": "1970-01-01T00:00:00.000Z", "tokens_at_start": 9},
            },
        });
        assert_eq!(new, expected);
        let order = [
            "\"stage\"",
            "\"metrics\"",
            "\"note\"",
            "\"n\": 1.50,",
            "\"none\"",
            "\"skipped_stages\"",
            "\"stages\"",
            "\"status\"",
        ];
        let places = order.map(|member| {
            state.to_text().find(member).unwrap_or_else(|| panic!("{member}: {}", state.to_text()))
        });
        assert!(places.is_sorted(), "{}", state.to_text());
        assert_eq!(
            CycleState::parse(state.to_text().as_bytes()).unwrap().progress_mut("sprint").tokens(),
            Some(4)
        );
    }

    #[test]
    fn a_compaction_hides_what_a_stage_took() {
        let spent =
            StageProgress { start: Some(5), end: Some(9), compacted: true, ..StageProgress::default() };
        assert_eq!(spent.tokens(), None);
        assert_eq!(StageProgress { start: Some(9), end: Some(5), ..StageProgress::default() }.tokens(), None);
    }

    #[test]
    fn a_second_attempt_counts_on_top_of_the_first() {
        let head = |commit: &str| Some(Head { commit: commit.into(), root: "/p".into() });
        let file =
            |print: &str| vec![("docs/a.md".to_owned(), Some(print.to_owned()).filter(|it| it != "a"))];
        let at = |commit: &str| StageStart { head: head(commit), files: file(commit), since: None };
        let mut state = CycleState::started("dev-cycle", Millis(0));
        state.begin_stage("ship", Millis(1000), Some(10), at("a"));
        state.metrics.insert("ship".into(), json!({ "open": 2, "critical": 1, "files": 3 }));
        state.fail_stage(&Cycle::default(), "why");
        assert_eq!(
            (state.status, state.skipped_stages.as_slice()),
            (CycleStatus::Failed, &["retrospective".to_owned()][..])
        );
        assert_eq!(state.open_findings(), Some(2));
        state.give_up_stage(None, Some(25));
        state.begin_stage("ship", Millis(9000), None, at("b"));
        assert_eq!((state.open_findings(), &state.metrics["ship"]), (None, &json!({ "files": 3 })));
        let mut state = CycleState::parse(state.to_text().as_bytes()).unwrap();
        let progress = state.progress("ship").unwrap();
        assert_eq!(
            (progress.head.clone(), progress.began.as_deref()),
            (head("a"), Some("1970-01-01T00:00:01.000Z"))
        );
        assert_eq!(progress.files, file("a"));
        // Another stage came in between, and may have committed.
        let mut between = state.clone();
        between.begin_stage("sprint", Millis(9000), None, StageStart::default());
        between.begin_stage("ship", Millis(9000), None, at("b"));
        let progress = between.progress("ship").unwrap();
        assert_eq!(
            (progress.head.clone(), progress.began.as_deref()),
            (head("b"), Some("1970-01-01T00:00:09.000Z"))
        );
        state.end_stage(Some(40), Some(47), false);
        assert_eq!(state.progress("ship").unwrap().tokens(), Some(22));
        // After an end, it is another one.
        state.begin_stage("ship", Millis(9000), Some(50), at("b"));
        let progress = state.progress("ship").unwrap();
        assert_eq!((progress.head.clone(), progress.before), (head("b"), None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = CycleState::parse(&bytes);
        }

        #[test]
        fn what_is_written_reads_back(stage in "[a-z]{1,9}", reason in proptest::option::of(".{0,30}"),
                skipped in proptest::collection::vec("[a-z]{1,9}", 0..4), remaining in proptest::option::of(0u32..1000),
                start in proptest::option::of(0u64..1_000_000)) {
            let mut state = CycleState { cycle: "x".into(), ..CycleState::default() };
            state.begin_stage(&stage, Millis(0), start, StageStart::default());
            (state.stopped_reason, state.skipped_stages, state.remaining_pct) =
                (reason, skipped, remaining.map(|tenths| f64::from(tenths) / 10.0));
            let read = CycleState::parse(state.to_text().as_bytes()).unwrap();
            prop_assert_eq!(CycleState { written: String::new(), ..read }, state);
        }
    }
}
