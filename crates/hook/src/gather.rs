//! Facts: what the policies need to know, read from where it stands. Each read is bounded.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tidegate_core::event::action::RawTool;
use tidegate_core::event::{Event, EventKind};
use tidegate_core::feature::CONTEXT_FOLDER;
use tidegate_core::feature::activity::classifier as phase;
use tidegate_core::feature::activity::classifier::Phase;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::cycle::standing::Standing;
use tidegate_core::feature::facts::{Facts, Known, Needs, OwnFile, Proof, Touched};
use tidegate_core::feature::knowledge::facts::Knowledge;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::marks::Marks;
use tidegate_core::feature::memory::catalogue::{MOST, OWN};
use tidegate_core::feature::memory::facts as memory;
use tidegate_core::feature::memory::facts::{Answer, Remembered};
use tidegate_core::feature::memory::relay_log;
use tidegate_core::feature::memory::settings::StartupProjects;
use tidegate_core::feature::memory::tag as meta_tag;
use tidegate_core::feature::session;
use tidegate_core::feature::verification::checks;
use tidegate_core::feature::verification::checks::{Place, Project, Seen, could_check};
use tidegate_core::feature::verification::evidence;
use tidegate_core::feature::workflow::manifest::is_manifest;
use tidegate_core::feature::workflow::policy::is_same;
use tidegate_core::feature::workflow::standing as workflow;
use tidegate_core::feature::worktree::kept::{Kept, Worktrees};
use tidegate_core::file_class::FileClass;
use tidegate_core::host::window::HostSettings;
use tidegate_core::meter::sources::Sources;
use tidegate_core::meter::transcript::Evidence;
use tidegate_core::meter::{Meter, Unknown};
use tidegate_core::pipeline;
use tidegate_core::redact::redact;
use tidegate_core::settings::setting::Whole;
use tidegate_core::shell::{self, Script, Spot, Surroundings};
use tidegate_core::time::Millis;
use tidegate_state::feature::knowledge::boundary;
use tidegate_state::feature::knowledge::known;
use tidegate_state::feature::knowledge::read::Folder;
use tidegate_state::feature::memory::catalogue;
use tidegate_state::feature::verification as state_checks;
use tidegate_state::feature::verification::Manifest;
use tidegate_state::feature::{cycle, workflow as workflows, worktree};
use tidegate_state::host::claude_code::{own_files, settings as host_settings, transcript};
use tidegate_state::place::StateDir;
use tidegate_state::project;
use tidegate_state::project::touched;
use tidegate_state::session::bridge;

use crate::caller;
use crate::environment::Environment;

/// Facts with what was found on the way to them.
#[derive(Debug)]
pub struct Gathered<'a> {
    /// For the policies.
    pub facts: Facts<'a>,
    /// The session's project.
    pub root: Option<PathBuf>,
    /// The host's settings, if this event was a reason to read them.
    pub host: Option<HostSettings>,
    /// Variables of ours that the project's settings set, and that therefore do not count.
    pub ignored: Vec<String>,
}

/// What a call has to do with the code.
#[derive(Default)]
struct Work {
    files: Vec<Touched>,
    own_file: Option<OwnFile>,
    proof: Proof,
    /// The command line holds a check whose failure would not have shown.
    hides: bool,
    edits_gone: bool,
    checks: Option<Project>,
}

/// As long as the host lets a command run without being told otherwise; where it does not say how long it ran.
const LONGEST_CALL_MS: u64 = 120_000;

/// Between the end of a command and our start lies the start of a process, on a busy machine a long time.
const START_SLACK_MS: u64 = 2_000;

/// The client writes its transcript up to so much later than it tells of an answer (4 to 75 ms seen with 2.1.325).
const LATE_TRANSCRIPT: Duration = Duration::from_millis(150);

/// Between two looks at it.
const LOOKS_AGAIN: Duration = Duration::from_millis(8);

/// How much of an answer is looked through for its tag, from the end.
const LONGEST_ANSWER: usize = 256 * 1024;

/// More files than a command line names on purpose.
const MOST_FILES: usize = 64;

/// More folders than a command line names on purpose.
const MOST_LINKS: usize = 8;

/// A command line as it ran.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// The folder it started in.
    start: &'a str,
    /// The folder it ended in, where that is another one. Where a line left the folders that the client allows, it is put
    /// back where it was, so the same folder tells nothing.
    end: Option<&'a str>,
    /// The call did not wait for its end.
    background: bool,
}

fn in_background(event: &Event<'_>) -> bool {
    event.ran().is_some_and(|command| command.background.is_some())
}

/// Enough of a command line to know it again.
fn one_line(line: &str) -> String {
    const SHOWN: usize = 80;
    // The whole line: half a token is not recognised as one.
    let line = redact(line).text;
    // A variable may hold a secret under any name.
    let shown = |word: &str| match word.split_once('=') {
        Some((name, _)) if !name.starts_with('-') => format!("{name}=…"),
        _ => word.to_owned(),
    };
    let words: Vec<String> = line.split_whitespace().map(shown).collect();
    let line = words.join(" ");
    if line.chars().count() <= SHOWN { line } else { line.chars().take(SHOWN).chain(['…']).collect() }
}

/// The folder that a command line started in. The payload's own is where it ended; only a subagent is always put back.
fn start(event: &Event<'_>, marks: Option<&Marks>, root: &Path) -> String {
    let ended = event.cwd.as_deref().map(str::to_owned);
    let before = marks.and_then(|marks| marks.cwd.clone()).filter(|_| event.main_thread());
    before.or(ended).unwrap_or_else(|| root.to_string_lossy().into_owned())
}

/// The stock that a phase may name and that is there.
fn stock(root: Option<&Path>) -> Vec<String> {
    let Some(folder) = root.map(|root| root.join(CONTEXT_FOLDER)) else { return Vec::new() };
    let all = tidegate_core::feature::activity::stock(Phase::Research).iter();
    all.filter(|name| folder.join(name).is_file()).map(ToString::to_string).collect()
}

/// Files are called what the session's main thread would call them, whoever edits them.
fn touched(path: &Path, named: &str, roots: &[PathBuf], home: &Path, step: Option<usize>) -> Touched {
    let inside = touched::inside(path, roots);
    Touched {
        inside: inside.as_ref().map(|found| found.name(home)),
        below: inside.map(|found| found.below).unwrap_or_default(),
        class: FileClass::of(named),
        step,
    }
}

/// The project this event belongs to.
pub fn project_root(event: &Event<'_>, env: &Environment) -> Option<PathBuf> {
    let cwd = event.cwd.as_deref().map(Path::new);
    project::root(env.project.as_deref(), cwd)
}

/// What reading rests on.
pub struct Gather<'a> {
    /// The environment.
    pub env: &'a Environment,
    /// The config.
    pub config: &'a Config,
    /// The payload as it came.
    pub payload: &'a [u8],
    /// Our state, where it can be used.
    pub state: Option<&'a StateDir>,
    /// The session's folder.
    pub folder: &'a Path,
    /// When the hook was called.
    pub now: Millis,
    /// Whether another step of reading may begin.
    pub in_time: &'a dyn Fn() -> bool,
}

/// The project whose file says where the session's cycle stands: the one it was begun in, wherever the session stands now.
pub(crate) fn cycle_root<'a>(facts: &'a Facts<'_>, root: Option<&'a Path>) -> Option<&'a Path> {
    let stage = facts.marks.value().and_then(|marks| marks.stage.as_ref());
    stage.and_then(|stage| stage.project.as_deref()).map(Path::new).or(root)
}

impl Gather<'_> {
    /// Reads what this event needs, and no more.
    pub fn facts<'e>(
        &'e self,
        event: &'e Event<'e>,
        marks: Known<Marks>,
        root: Option<PathBuf>,
    ) -> Gathered<'e> {
        // With the client's environment in it: a command in another terminal has only the mark to know that by.
        let host = session::wants_host_settings(event.kind, &marks).then(|| {
            self.env.host_settings(&host_settings::read(root.as_deref(), self.env.place.host().as_deref()))
        });
        let of_relay = Needs { meter: event.main_thread() && event.is_human_prompt(), ..Needs::default() };
        let needs = pipeline::needs(event, marks.value(), self.config).and(of_relay).and(evidence::needs(
            event,
            marks.value(),
            self.config,
        ));
        let needs = needs.and(memory::needs(event)).and(relay_log::needs_passed_over(event, self.config));
        let meter = if needs.meter {
            let settings = host.as_ref().or(marks.value().and_then(|marks| marks.host.as_ref()));
            let settings = settings.cloned().unwrap_or_default();
            self.meter(event, marks.value(), &settings, needs.current)
        } else {
            Meter::Unknown(Unknown::NotNeeded)
        };
        let lang = self.env.lang(self.config.general.lang, marks.value().and_then(|marks| marks.lang));
        let tool = if needs.tool { event.host.raw_tool(self.payload) } else { RawTool::default() };
        let targets = event.edit_paths().and_then(Result::ok).filter(|_| needs.own_file).unwrap_or_default();
        let work = self.work(event, marks.value(), root.as_deref(), needs);
        let guess = event.free_prompt().filter(|_| needs.phase).map(|prompt| phase::classify(&prompt));
        // Most prompts go on with what the session is about; nothing is named then.
        let now = marks.value().and_then(|marks| marks.phase);
        let enters = needs.phase && guess.is_none_or(|guess| Some(guess.phase) != now);
        let boundary = if needs.boundary { boundary::read(self.folder) } else { None };
        // Only what was not found in the summary is looked for.
        let lost = boundary
            .as_ref()
            .filter(|_| matches!(event.kind, EventKind::UserPromptSubmit | EventKind::PostToolUse));
        let lost =
            lost.filter(|boundary| boundary.survival.as_ref().is_some_and(|found| !found.lost.is_empty()));
        let preserved = lost
            .zip(event.transcript.as_deref())
            .map(|(boundary, path)| transcript::preserved(Path::new(path), boundary.noted, self.in_time));
        let worktrees = if needs.worktrees {
            self.worktrees(event, marks.value(), root.as_deref())
        } else {
            Worktrees::default()
        };
        let is_approval_open = marks.value().is_some_and(|marks| !marks.approvals.is_empty());
        let mut facts = Facts {
            now: self.now,
            event,
            marks,
            meter,
            person: self.env.person,
            client: if is_approval_open {
                self.env.client.filter(|client| caller::is(*client))
            } else {
                None
            },
            lang,
            tool_input: tool.input,
            tool_response: tool.response,
            own_file: targets
                .iter()
                .find_map(|target| self.own_file(Path::new(target.as_ref()), root.as_deref()))
                .or(work.own_file),
            files: work.files,
            proof: work.proof,
            edits_gone: work.edits_gone,
            checks: work.checks,
            guess,
            stock: if enters { stock(root.as_deref()) } else { Vec::new() },
            knowledge: None,
            flow_changed: None,
            boundary,
            preserved: preserved.unwrap_or_default(),
            worktrees,
            cycle: Known::Absent,
            workflow: Known::Absent,
            memory: Remembered::default(),
        };
        if needs.transcript || needs.topics || needs.page || needs.undecided {
            facts.memory = self.remembered(&facts, root.as_deref(), needs);
        }
        if needs.cycle {
            facts.cycle = self.cycle(event, cycle_root(&facts, root.as_deref()));
        }
        if needs.workflow {
            facts.workflow = self.workflow(&facts, root.as_deref());
        }
        if facts.marks.value().is_some_and(|marks| marks.pressure.promoted) {
            let folder = root.as_deref().and_then(Folder::of);
            facts.flow_changed = folder.and_then(|folder| folder.modified(flow::FILE));
        }
        if pipeline::needs_knowledge(&facts, self.config) {
            facts.knowledge = root.as_deref().and_then(|root| self.knowledge(root, facts.marks.value()));
        }
        Gathered { facts, root, host, ignored: self.env.ignored.clone() }
    }

    /// What is remembered, as far as it is asked for.
    fn remembered(&self, facts: &Facts<'_>, root: Option<&Path>, needs: Needs) -> Remembered {
        let mut memory = Remembered::default();
        let transcript = facts.event.transcript.as_deref().map(Path::new);
        if needs.transcript {
            let found = transcript.and_then(|path| std::fs::metadata(path).ok());
            memory.length = found.filter(std::fs::Metadata::is_file).map(|found| found.len());
        }
        if needs.topics && memory::turn_ends(facts.event) {
            memory.answer = self.last_answer(facts.event, transcript);
        }
        let has_tag = memory.tag().is_some();
        // What a tag should be is of interest where there is none.
        let page = needs.page && !(has_tag && memory::turn_ends(facts.event));
        if needs.transcript || page {
            memory.project = root.map(project::memory_project);
        }
        let Some(state) = self.state else { return memory };
        if needs.topics {
            let mut ids: Vec<i64> = memory.tag().map(|tag| tag.topic.id).into_iter().collect();
            ids.extend(facts.marks.value().into_iter().flat_map(Marks::topics_in_question));
            ids.retain(|id| *id > OWN);
            ids.dedup();
            memory.topics = ids.into_iter().map(|id| (id, catalogue::topic(state, id))).collect();
        }
        if let Some(project) = memory.project.as_ref().filter(|_| page) {
            memory.page = catalogue::project(state, &project.key);
        }
        if needs.undecided {
            let settings = &self.config.memory;
            // Those of this project can be anywhere among them.
            let most = match settings.startup_projects {
                StartupProjects::All => settings.startup_topics.get() as usize,
                StartupProjects::This => MOST,
            };
            memory.undecided = catalogue::first_undecided(state, most);
        }
        memory
    }

    /// What a turn says last: the host tells it, and where it does not, the transcript may.
    fn last_answer(&self, event: &Event<'_>, transcript: Option<&Path>) -> Option<Answer> {
        let text = match event.last_message.filter(|text| !text.is_empty()) {
            // Nothing has to be decoded to see that there is no tag.
            Some(text) if !text.mentions(b"[meta]") => return Some(Answer { tag: None }),
            Some(text) => text.tail(LONGEST_ANSWER).into_owned(),
            None => {
                let said = transcript::last_answer(transcript?, self.in_time)?;
                let tag = meta_tag::find(&said.text);
                // That something is missing can be told only of the last word.
                return (tag.is_some() || said.last).then_some(Answer { tag });
            }
        };
        Some(Answer { tag: meta_tag::find(&text) })
    }

    /// Where a project's cycle stands.
    pub fn cycle(&self, event: &Event<'_>, root: Option<&Path>) -> Known<Standing> {
        let mut known = root.map_or(Known::Absent, |root| cycle::read(self.state, root, self.config));
        if event.kind == EventKind::SessionStart
            && let (Known::Value(standing), Some(state)) = (&mut known, self.state)
        {
            let owner = standing.other_owner(event.session.as_str());
            standing.owner_gone = owner.is_some_and(|owner| !cycle::is_live(state, owner, self.now));
        }
        known
    }

    /// Where the session's workflow stands or, where a manifest was written, that one.
    pub fn workflow(&self, facts: &Facts<'_>, root: Option<&Path>) -> Known<workflow::Standing> {
        let attached = facts.marks.value().and_then(|marks| marks.workflow.as_ref());
        let Some(root) = attached.map(|attached| Path::new(&attached.project)).or(root) else {
            return Known::Absent;
        };
        let bound = attached.map(|attached| attached.manifest.clone());
        let writes = facts.event.kind == EventKind::PostToolUse;
        let path = if writes { Self::written_manifest(facts, bound.as_deref()) } else { bound };
        let read = |path: &str, writes| {
            workflows::read(self.state, root, Path::new(path), self.config, writes, self.in_time)
        };
        let Some(path) = path else { return Known::Absent };
        let mut known = read(&path, writes);
        if let (Known::Value(standing), Some(attached)) = (&mut known, attached)
            && standing.path != attached.manifest
            && let Known::Value(bound) = read(&attached.manifest, false)
        {
            standing.held_elsewhere = bound.holds_back(facts.event.session.as_str(), facts.now);
        }
        known
    }

    /// The manifest that a call has written.
    fn written_manifest(facts: &Facts<'_>, bound: Option<&str>) -> Option<String> {
        let ours = |path: &str| is_manifest(path) || bound.is_some_and(|bound| is_same(path, bound));
        let paths = facts.event.written(|_| false);
        if let Some(path) = paths.iter().find(|path| ours(path)).or(paths.first()) {
            return Some(path.to_string());
        }
        let written = facts.files.iter().filter_map(|file| file.inside.clone()).find(|path| ours(path));
        // Not every program says what it writes; the manifest itself shows whether something changed.
        written.or_else(|| bound.map(str::to_owned))
    }

    /// Worktrees that go with this event, or have gone.
    fn worktrees(&self, event: &Event<'_>, marks: Option<&Marks>, root: Option<&Path>) -> Worktrees {
        let known = marks.map(|marks| marks.worktrees.as_slice()).unwrap_or_default();
        if !event.may_end_worktree() {
            let is_gone =
                |kept: &&Kept| !Path::new(&kept.worktree).exists() && Path::new(&kept.copy).is_dir();
            return Worktrees { gone: known.iter().filter(is_gone).cloned().collect(), leaving: None };
        }
        let named = event.worktree.as_deref().map(Path::new);
        let linked = root.filter(|root| project::main_worktree(root).is_some());
        let leaving = self.state.zip(named.filter(|path| path.is_absolute()).or(linked));
        let leaving = leaving.filter(|(_, path)| !worktree::news(path).is_empty()).map(|(state, path)| {
            let path_text = path.to_string_lossy().into_owned();
            // One copy of each, as new as its last event.
            let before = known.iter().find(|kept| kept.worktree == path_text).map(|kept| kept.copy.clone());
            let copy = before.unwrap_or_else(|| {
                worktree::place_for_copy(state, path, self.now).to_string_lossy().into_owned()
            });
            Kept { worktree: path_text, copy }
        });
        Worktrees { leaving, gone: Vec::new() }
    }

    /// Flow and stock of the project.
    fn knowledge(&self, root: &Path, marks: Option<&Marks>) -> Option<Knowledge> {
        let folder = Folder::of(root)?;
        let began = marks.and_then(|marks| marks.began);
        Some(known::knowledge(self.state, &folder, &known::texts(&folder), began, self.now))
    }

    /// What the call writes or has written, and the verifying commands of the project.
    fn work(&self, event: &Event<'_>, marks: Option<&Marks>, root: Option<&Path>, needs: Needs) -> Work {
        let mut work = Work::default();
        let Some(root) = root else { return work };
        let start = start(event, marks, root);
        let ended = event.cwd.as_deref().filter(|_| event.main_thread());
        let line = Line {
            start: &start,
            end: ended.filter(|end| Path::new(end) != Path::new(&start)),
            background: in_background(event),
        };
        // A subagent may work in a worktree of its own.
        let home = self.env.project.as_deref().filter(|_| !event.main_thread()).unwrap_or(root);
        let mut script = None;
        if needs.files {
            let written = evidence::written(event, self.config);
            let edited = || event.edit_paths().and_then(Result::ok).unwrap_or_default();
            let targets = if written.is_empty() { edited() } else { written };
            let roots = self.roots(root, marks);
            if !targets.is_empty() {
                let touch =
                    |path: &Cow<'_, str>| touched(&root.join(path.as_ref()), path, &roots, home, None);
                work.files = targets.iter().map(touch).collect();
            } else if let Some(parsed) = event.command().and_then(|text| self.parse(text, &start)) {
                let written = self.written(event, &parsed, line, root, marks);
                let touch = |path: &str, step| touched(Path::new(path), path, &roots, home, Some(step));
                work.files = written.iter().map(|(path, step)| touch(path, *step)).collect();
                if needs.own_file {
                    work.own_file =
                        written.iter().find_map(|(path, _)| self.own_file(Path::new(path), Some(root)));
                }
                script = Some(parsed);
            }
        }
        let edited = work.files.iter().any(|file| file.inside.is_some() && file.class == FileClass::Code);
        let script = script.filter(|_| evidence::wants_checks(marks, edited));
        if script.is_some() || needs.checks {
            let unverified = marks.and_then(|marks| marks.work.changes.as_ref());
            let files = unverified.map(|changes| changes.files.as_slice()).unwrap_or_default();
            let edited: Vec<PathBuf> = files.iter().map(|file| home.join(file)).collect();
            // A script that was made for a moment and removed again; with more files than are known by name it is not asked.
            let all_named = unverified.is_some_and(|changes| changes.count() == files.len());
            work.edits_gone = needs.checks && all_named && !edited.iter().any(|file| file.exists());
            let roots = self.roots(root, marks);
            self.checks(&mut work, script.as_ref(), line, &roots, &edited, needs.checks);
        }
        if work.hides {
            work.proof.hidden = event.command().map(one_line);
        }
        work
    }

    /// The files that a command line names as written and that have changed since it began, each with its step.
    fn written(
        &self,
        event: &Event<'_>,
        script: &Script,
        line: Line<'_>,
        root: &Path,
        marks: Option<&Marks>,
    ) -> Vec<(String, usize)> {
        let ran = event.ran().and_then(|command| command.duration).unwrap_or(LONGEST_CALL_MS);
        let began = self.now.before(ran + START_SLACK_MS);
        // What was seen before is not this line's: what was verified since, and the edits that are known.
        let work = marks.map(|marks| &marks.work);
        let verified = work.and_then(|work| work.verified).unwrap_or_default();
        let changes = work.and_then(|work| work.changes.as_ref());
        let known = |path: &str| {
            changes.filter(|changes| changes.files.iter().any(|file| path.ends_with(file.as_str())))
        };
        let root = root.to_string_lossy();
        let named = script.writes().iter().take(MOST_FILES);
        named
            .filter_map(|write| Some((write.path.resolve(&root, line.start, line.end)?, write.step)))
            .filter(|(path, _)| {
                let seen = known(path).map(|changes| changes.last).unwrap_or_default().max(verified);
                touched::changed_at(Path::new(path)).is_some_and(|at| at >= began && at > seen)
            })
            .collect()
    }

    /// A command line, with what is known of where it runs.
    fn parse(&self, text: &str, start: &str) -> Option<Script> {
        let project = self.env.project.as_deref();
        let surroundings = Surroundings {
            home: self.env.place.home.as_deref().and_then(Path::to_str),
            // The client's shell does not have it (seen with 2.1.325): then `cd "$CLAUDE_PROJECT_DIR"` stays where it is,
            // and that is as good only within the project.
            project: project.filter(|project| Path::new(start).starts_with(project)).and_then(Path::to_str),
            cwd: Some(start),
        };
        shell::parse_in(text, surroundings)
    }

    /// The verifying commands of the project, as its files show them, and what a command line proves by them. The files are
    /// read only for a line that may hold such a command, and for who has to name them.
    fn checks(
        &self,
        work: &mut Work,
        script: Option<&Script>,
        line: Line<'_>,
        roots: &[PathBuf],
        edited: &[PathBuf],
        named: bool,
    ) {
        let extra = self.config.policies.verify_stop.commands.extra();
        let revealed = script.map(Script::revealed);
        let revealed = revealed.filter(|revealed| could_check(revealed, &extra));
        let Some((root, others)) = roots.split_first().filter(|_| revealed.is_some() || named) else {
            return;
        };
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let real =
            |path: &str| touched::real(Path::new(path)).map_or_else(|| path.to_owned(), |real| text(&real));
        let edited: Vec<PathBuf> =
            edited.iter().map(|path| touched::real(path).unwrap_or_else(|| path.clone())).collect();
        let cwd = real(line.start);
        let end = line.end.map(real).filter(|end| *end != cwd);
        let mut roots = state_checks::roots(root, others);
        state_checks::add_worktrees(&mut roots, &edited);
        let mut links = Vec::new();
        if let Some(revealed) = &revealed {
            let known: Vec<String> = roots.iter().map(|root| text(root)).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let place = Place { roots: &known, cwd: &cwd, end: end.as_deref(), links: &[] };
            // A link to the project, or another worktree of it.
            let outside = checks::outside(revealed, place, &extra);
            links = outside.into_iter().take(MOST_LINKS).map(|path| (path.clone(), real(&path))).collect();
            let paths: Vec<PathBuf> = links.iter().map(|(_, real)| Path::new(real).join("_")).collect();
            state_checks::add_worktrees(&mut roots, &paths);
        }
        let names: Vec<String> = roots.iter().map(|root| text(root)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let place = Place { roots: &names, cwd: &cwd, end: end.as_deref(), links: &links };
        let folders = revealed.as_ref().map(|script| checks::folders(script, place)).unwrap_or_default();
        let name = |path: &PathBuf| place.name(&Spot::Absolute(text(path)));
        let edited: Vec<String> = edited.iter().filter_map(name).collect();
        let manifests = state_checks::read(&roots, &folders, &edited);
        let seen: Vec<Seen<'_>> = manifests.iter().map(Manifest::seen).collect();
        let project = checks::project(&seen);
        if let (Some(script), Some(revealed)) = (script, &revealed) {
            let judge = |script: &Script| {
                if line.background {
                    project.in_background().evidence(script, place, &extra)
                } else {
                    project.evidence(script, place, &extra)
                }
            };
            work.proof.evidence = judge(script);
            work.hides = work.proof.evidence.is_empty() && !judge(revealed).is_empty();
        }
        work.checks = Some(project);
    }

    /// Where the project's files are.
    fn roots(&self, root: &Path, marks: Option<&Marks>) -> Vec<PathBuf> {
        let main = project::main_worktree(root);
        let added = marks.map(|marks| marks.directories.as_slice()).unwrap_or_default();
        let mut roots: Vec<PathBuf> = [Some(root.to_owned()), self.env.project.clone(), main]
            .into_iter()
            .flatten()
            .chain(added.iter().map(PathBuf::from))
            .collect();
        roots.dedup();
        roots
    }

    /// Which of our files this is.
    fn own_file(&self, target: &Path, root: Option<&Path>) -> Option<OwnFile> {
        let place = &self.env.place;
        let config = place.config();
        let host = place.host();
        let state = place.state().ok();
        let memory = place.data().ok().map(|data| data.join("memory"));
        let programs = || place.link().into_iter().chain(running()).collect();
        // In another worktree the client goes on using the settings of the folder it was started in.
        let main = root.and_then(project::main_worktree);
        let mut roots: Vec<PathBuf> =
            [root.map(Path::to_owned), self.env.project.clone(), main].into_iter().flatten().collect();
        roots.dedup();
        own_files::which(
            target,
            &own_files::Places {
                roots: &roots,
                config: config.as_deref(),
                host: host.as_deref(),
                state: state.as_deref(),
                memory: memory.as_deref(),
                programs: &programs,
                plugin: self.env.plugin.as_deref(),
            },
        )
    }

    /// With `wait` the client is given a moment to write down the answer that the event follows.
    fn meter(&self, event: &Event<'_>, marks: Option<&Marks>, host: &HostSettings, wait: bool) -> Meter {
        let until = Instant::now() + LATE_TRANSCRIPT;
        loop {
            let meter = self.meter_now(event, marks, host);
            let is_late = wait && !matches!(meter, Meter::Current(_));
            if !is_late || Instant::now() >= until || !(self.in_time)() {
                return meter;
            }
            std::thread::sleep(LOOKS_AGAIN);
        }
    }

    fn meter_now(&self, event: &Event<'_>, marks: Option<&Marks>, settings: &HostSettings) -> Meter {
        let path = event.transcript.as_deref().map(Path::new);
        let read = |path| transcript::last_reading(path, Evidence::of(event), self.in_time);
        Sources {
            now: self.now,
            payload: event.context.map(|context| (context.used, context.window)),
            bridge: bridge::read(self.folder),
            transcript: path.map_or(Ok(None), read),
            boundary: marks.and_then(|marks| marks.boundary),
            model: marks.and_then(|marks| marks.model.as_ref()).map(|(id, at)| (id.as_str(), *at)),
            window: self.config.meter.window.map(Whole::get),
            host: event.host,
            settings,
        }
        .meter()
    }
}

/// Leads to this very program, also where it was started by another name.
pub fn running() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        // `current_exe` would first read where this leads.
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_shown_without_its_secrets() {
        for (line, shown) in [
            ("cargo test | tail", "cargo test | tail"),
            ("FOO=bar  cargo test\n| tail", "FOO=… cargo test | tail"),
            (
                "cargo test --features=a -- --token abcd1234ef",
                "cargo test --features=a -- --token [redacted:token]",
            ),
            ("DATABASE_URL=postgres://a:b@c npm test", "DATABASE_URL=… npm test"),
            ("curl -u me:hunter2 x; npm test; true", "curl -u me:[redacted:url_password] x; npm test; true"),
        ] {
            assert_eq!(one_line(line), shown);
        }
        // A token that would be cut in two is gone before.
        let token = format!("ghp_{}", "aB3".repeat(12));
        assert!(!one_line(&format!("{} {token}", "x".repeat(60))).contains("aB3"));
    }
}
