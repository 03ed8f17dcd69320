//! Edits and evidence of a call: the files it wrote, the checks that its command line proves, and the project's own
//! checks.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tidegate_core::event::Event;
use tidegate_core::event::action::Exit;
use tidegate_core::feature::facts::{Facts, Touched};
use tidegate_core::feature::marks::Marks;
use tidegate_core::feature::verification::bookkeeping;
use tidegate_core::feature::verification::checks;
use tidegate_core::feature::verification::checks::{RunPlace, SeenFile, could_check};
use tidegate_core::feature::verification::facts as own;
use tidegate_core::feature::verification::facts::Needs;
use tidegate_core::feature::verification::marks::Marks as VerificationMarks;
use tidegate_core::feature::verification::named_check::{NamedCheck, name_checks};
use tidegate_core::feature::verification::void_check::find_void;
use tidegate_core::feature::verification::work::ChangeSet;
use tidegate_core::file_class::FileClass;
use tidegate_core::redact::redact;
use tidegate_core::shell::{self, How, Script, Spot, Status, Step, Surroundings, Why};
use tidegate_core::text::cut::cut_after;
use tidegate_core::time::Millis;

use crate::feature::HookContext;
use crate::feature::verification::manifests;
use crate::feature::verification::manifests::ProjectManifest;
use crate::file::bounded;
use crate::project;
use crate::project::paths;

/// The host's default time limit, for calls without a duration or a beginning.
const LONGEST_CALL_MS: u64 = 120_000;

/// Between the end of a command and our start lies the start of a process, which takes long on a busy machine.
const START_SLACK_MS: u64 = 2_000;

/// More than a command line names on purpose.
const MOST_FILES: usize = 64;

/// In bytes; the files of a longer patch are not looked for.
const LONGEST_PATCH: u64 = 256 * 1024;

/// More than a command line names on purpose.
const MOST_LINKS: usize = 8;

#[derive(Clone, Copy)]
struct Line<'a> {
    start: &'a str,
    /// The folder it ended in, if it is another one. The client moves a line back that left the allowed folders, so
    /// the same folder proves nothing.
    end: Option<&'a str>,
    background: bool,
}

fn is_in_background(event: &Event<'_>) -> bool {
    event.finished_command().is_some_and(|command| command.background.is_some())
}

/// Enough to recognise the line, without values of variables. Secrets are out of it already.
fn shorten_line(line: &str) -> String {
    const SHOWN: usize = 80;
    // Any variable may hold a secret.
    let shown = |word: &str| match word.split_once('=') {
        Some((name, _)) if !name.starts_with('-') => format!("{name}=…"),
        _ => word.to_owned(),
    };
    let words: Vec<String> = line.split_whitespace().map(shown).collect();
    cut_after(&words.join(" "), SHOWN).into_owned()
}

/// The payload has the folder in which the line ended; only a subagent always returns to the first, and so does a host whose calls
/// name a folder.
fn start_folder(event: &Event<'_>, marks: Option<&Marks>, root: &Path) -> String {
    if let Some(folder) = event.finished_command().and_then(|command| command.folder.clone()) {
        return folder;
    }
    let ended = event.cwd.as_deref().map(str::to_owned);
    let before = marks.and_then(|marks| marks.session.cwd.clone()).filter(|_| event.is_main_thread());
    before.or(ended).unwrap_or_else(|| root.to_string_lossy().into_owned())
}

/// If it is another one, and the payload's folder tells.
fn end_folder<'a>(event: &'a Event<'_>, start: &str) -> Option<&'a str> {
    let is_placed = event.finished_command().is_some_and(|command| command.folder.is_some());
    let ended = event.cwd.as_deref().filter(|_| event.is_main_thread() && !is_placed);
    ended.filter(|end| Path::new(end) != Path::new(start))
}

/// Names files as the session's main thread would, also for subagents.
fn describe_touched(
    path: &Path,
    named: &str,
    roots: &[PathBuf],
    home: &Path,
    step: Option<usize>,
) -> Touched {
    let inside = paths::locate(path, roots);
    Touched {
        path: path.to_string_lossy().into_owned(),
        class: class_of(path, named, inside.is_some()),
        inside: inside.as_ref().map(|found| found.name(home)),
        below: inside.map(|found| found.below).unwrap_or_default(),
        step,
        removed: false,
    }
}

/// A script without an extension is known by its first line.
fn class_of(path: &Path, named: &str, inside: bool) -> FileClass {
    let class = FileClass::of(named);
    let is_plain = class == FileClass::Other && inside && path.extension().is_none();
    if is_plain && bounded::begins_with(path, b"#!") { FileClass::Code } else { class }
}

pub(crate) fn read_facts(facts: &mut Facts<'_>, needs: Needs, here: &HookContext<'_>) {
    facts.verification = read_work(facts.event, facts.marks.value(), needs, here);
}

fn read_work(event: &Event<'_>, marks: Option<&Marks>, needs: Needs, here: &HookContext<'_>) -> own::Facts {
    let mut work = own::Facts::default();
    let Some(root) = here.root else { return work };
    let start = start_folder(event, marks, root);
    let line = Line { start: &start, end: end_folder(event, &start), background: is_in_background(event) };
    // A subagent may work in its own worktree.
    let home = here.started_in.filter(|_| !event.is_main_thread()).unwrap_or(root);
    let mut script = None;
    if needs.files {
        let mut targets = bookkeeping::written_files(event, here.config);
        if targets.is_empty() {
            targets = event.edit_paths().and_then(Result::ok).unwrap_or_default();
        }
        let roots = roots_of(root, marks, here);
        if !targets.is_empty() {
            let touch =
                |path: &Cow<'_, str>| describe_touched(&root.join(path.as_ref()), path, &roots, home, None);
            work.files = targets.iter().map(touch).collect();
        } else if let Some(parsed) = event.command_line().and_then(|text| parse_line(text, &start, here)) {
            let ran = RanLine { script: &parsed, line, root, since: Since::of(event, marks, home, here.now) };
            let touch = |(path, step): (String, usize)| {
                describe_touched(Path::new(&path), &path, &roots, home, Some(step))
            };
            work.files = ran.written().into_iter().map(touch).collect();
            let removed = ran.removed().into_iter().map(touch);
            work.files.extend(removed.map(|file| Touched { removed: true, ..file }));
            script = Some(parsed);
        } else if let Some(text) = event.other_shell().and_then(|command| command.line.as_deref()) {
            // Only the files themselves tell what it did.
            let since = Since::of(event, marks, home, here.now);
            let start = Path::new(line.end.unwrap_or(&start));
            let named = shell::files_in_text(text).into_iter().take(MOST_FILES);
            let named = named.map(|name| start.join(name).to_string_lossy().into_owned());
            let mut written: Vec<String> = named.chain(since.known_files()).collect();
            written.sort_unstable();
            written.dedup();
            let changed = written.iter().filter(|path| since.is_changed(path));
            let touch = |path: &String| describe_touched(Path::new(path), path, &roots, home, Some(0));
            work.files = changed.map(touch).collect();
        }
    }
    let edited = work.files.iter().any(|file| file.inside.is_some() && file.class == FileClass::Code);
    let script = script.filter(|_| bookkeeping::wants_checks(event, marks, edited));
    if script.is_some() || needs.checks {
        let own = marks.map(|marks| &marks.verification);
        let unverified = own.and_then(|own| own.changes.as_ref().or(own.past.as_ref()));
        let files = unverified.map(|changes| changes.files.as_slice()).unwrap_or_default();
        let mut edited: Vec<PathBuf> = files.iter().map(|file| home.join(file)).collect();
        // A script that was created and removed again. Cannot be told for files without an absolute path.
        let all_known = unverified.is_some_and(|changes| changes.paths().is_some() && !changes.removed);
        work.edits_gone = needs.checks && all_known && !edited.iter().any(|file| file.exists());
        if needs.checks {
            let new = work.files.iter().filter(|file| file.inside.is_some());
            edited.extend(new.map(|file| PathBuf::from(&file.path)));
        }
        let roots = roots_of(root, marks, here);
        read_checks(&mut work, script.as_ref(), line, &roots, &edited, needs.checks, here);
        let found = &work.proof.checks;
        let has_check = !found.visible.is_empty() || !found.hidden.is_empty() || work.proof.void.is_some();
        if let Some(text) = event.command_line().filter(|_| has_check) {
            // The whole line first: half a token is not recognised.
            let text = redact(text).text;
            work.proof.line = shorten_line(&text);
            let named = script.as_ref().map(|script| name_checks(&text, script, found, line.end.is_some()));
            let shorten = |named: NamedCheck| NamedCheck { text: shorten_line(&named.text), ..named };
            work.proof.named = named.unwrap_or_default().into_iter().map(shorten).collect();
        }
        if let Some(script) = &script {
            work.proof.tree = checks::last_move(script);
            work.proof.commits = checks::makes_commit(script);
            let since = Since::of(event, marks, home, here.now);
            work.undone = RanLine { script, line, root, since }.undone();
        }
    }
    work
}

/// The files that the command line of this event names as those it writes, changed or not.
pub fn named_files(event: &Event<'_>, marks: Option<&Marks>, here: &HookContext<'_>) -> Vec<String> {
    let Some((root, text)) = here.root.zip(event.command_line()) else { return Vec::new() };
    let start = start_folder(event, marks, root);
    let Some(script) = parse_line(text, &start, here) else { return Vec::new() };
    let ended = end_folder(event, &start);
    let root = root.to_string_lossy();
    let named = script.writes().iter().take(MOST_FILES).filter(|write| write.how == How::Command);
    named.filter_map(|write| write.path.resolve(&root, &start, ended)).collect()
}

/// A command line that has ended.
struct RanLine<'a> {
    script: &'a Script,
    line: Line<'a>,
    root: &'a Path,
    since: Since<'a>,
}

impl RanLine<'_> {
    fn place(&self, spot: &Spot) -> Option<String> {
        spot.resolve(&self.root.to_string_lossy(), self.line.start, self.line.end)
    }

    /// Files that it names as written and that changed since it began, each with its step.
    fn written(&self) -> Vec<(String, usize)> {
        let since = &self.since;
        let mut named: Vec<(String, usize)> = Vec::new();
        let mut certain: Vec<(String, usize)> = Vec::new();
        for write in self.script.writes().iter().take(MOST_FILES) {
            let step = self.script.steps.get(write.step);
            match (write.how, self.place(&write.path)) {
                (How::Unknown, _) => named.extend(since.known_files().map(|file| (file, write.step))),
                (How::Pattern, Some(path)) => {
                    let is_certain = since.succeeded && step.is_some_and(did_run);
                    certain.extend(is_certain.then_some((path, write.step)));
                }
                (How::Patch, Some(path)) => {
                    let folder = step.and_then(|step| self.place(&step.folder));
                    let files = files_of_patch(&path, folder, since).into_iter();
                    named.extend(files.map(|file| (file, write.step)));
                }
                (How::Removal, _) | (_, None) => {}
                (_, Some(path)) => named.push((path, write.step)),
            }
        }
        let changes = since.work.and_then(|work| work.changes.as_ref());
        let mut moved = changes.map(|changes| moved_along(changes, &named, since.home)).unwrap_or_default();
        moved.extend(certain);
        moved.extend(named.into_iter().filter(|(path, _)| since.is_changed(path)));
        moved
    }

    /// Files that it removed. What the session itself wrote before was perhaps never more than a trial.
    fn removed(&self) -> Vec<(String, usize)> {
        let wrote = self.since.work.map(|work| work.wrote.files.as_slice()).unwrap_or_default();
        let is_own = |path: &str| wrote.iter().any(|file| path.ends_with(file.as_str()));
        let removals = self.script.writes().iter().take(MOST_FILES).filter(|write| {
            write.how == How::Removal
                && self.since.succeeded
                && self.script.steps.get(write.step).is_some_and(did_run)
        });
        let found = removals.filter_map(|write| Some((self.place(&write.path)?, write.step)));
        found.filter(|(path, _)| !is_own(path) && !Path::new(path).exists()).collect()
    }

    /// Edited and unverified files that it brought back: git has written or removed them.
    fn undone(&self) -> Vec<String> {
        let since = &self.since;
        let Some(changes) = since.work.and_then(|work| work.changes.as_ref()) else {
            return Vec::new();
        };
        let restored = checks::restored_files(self.script).into_iter().filter_map(|restored| {
            let path = self.place(&restored.path)?;
            (!restored.stashed || changes.away).then_some((PathBuf::from(path), restored.stashed))
        });
        let restored: Vec<(PathBuf, bool)> = restored.collect();
        let is_undone = |file: &&String| {
            let path = since.home.join(file);
            restored.iter().any(|(above, stashed)| {
                let at = paths::changed_at(&path);
                let is_written = at.is_none_or(|at| at > changes.last && (*stashed || at >= since.began));
                path.starts_with(above) && is_written && !file.contains('*')
            })
        };
        changes.files.iter().filter(is_undone).cloned().collect()
    }
}

/// Whether a step of a line that succeeded certainly ran.
fn did_run(step: &Step) -> bool {
    matches!(step.status, Status::Decides | Status::Hidden(Why::Followed | Why::Piped))
}

/// The names in a patch. If it cannot be read, the session's own files.
fn files_of_patch(patch: &str, folder: Option<String>, since: &Since<'_>) -> Vec<String> {
    let text = bounded::read(Path::new(patch), LONGEST_PATCH).ok();
    match (text.and_then(|text| String::from_utf8(text).ok()), folder) {
        (Some(text), Some(folder)) => {
            shell::files_in_patch(&text).into_iter().map(|name| format!("{folder}/{name}")).collect()
        }
        _ => since.known_files().collect(),
    }
}

/// When a call began, and the edits that are known from before.
struct Since<'a> {
    began: Millis,
    succeeded: bool,
    work: Option<&'a VerificationMarks>,
    home: &'a Path,
}

impl<'a> Since<'a> {
    fn of(event: &Event<'_>, marks: Option<&'a Marks>, home: &'a Path, now: Millis) -> Since<'a> {
        let command = event.finished_command().or_else(|| event.other_shell());
        let ran = command.and_then(|command| command.duration).unwrap_or(LONGEST_CALL_MS);
        let began = command.and_then(|command| command.began).unwrap_or(now.before(ran));
        let succeeded = command.is_some_and(|command| command.exit == Exit::Known(0));
        let work = marks.map(|marks| &marks.verification);
        Since { began: began.before(START_SLACK_MS), succeeded, work, home }
    }

    /// Edits that are known or verified already are not this line's.
    fn is_changed(&self, path: &str) -> bool {
        let changes = self.work.and_then(|work| work.changes.as_ref());
        let known = changes.filter(|changes| changes.files.iter().any(|file| path.ends_with(file.as_str())));
        let verified = self.work.and_then(|work| work.verified).unwrap_or_default();
        let seen = known.map(|changes| changes.last).unwrap_or_default().max(verified);
        paths::changed_at(Path::new(path)).is_some_and(|at| at >= self.began && at > seen)
    }

    /// Files that the session edited, verified or not.
    fn known_files(&self) -> impl Iterator<Item = String> {
        let sets = self.work.map(|work| [work.changes.as_ref(), work.past.as_ref()]).into_iter().flatten();
        let files = sets.flatten().flat_map(|changes| &changes.files);
        files.map(|file| self.home.join(file).to_string_lossy().into_owned())
    }
}

/// Unverified files that are now in one of these folders: `mv` of a folder keeps the times of its files.
fn moved_along(changes: &ChangeSet, named: &[(String, usize)], home: &Path) -> Vec<(String, usize)> {
    let folders: Vec<&(String, usize)> = named.iter().filter(|(path, _)| Path::new(path).is_dir()).collect();
    if folders.is_empty() {
        return Vec::new();
    }
    let gone = changes.files.iter().map(Path::new).filter(|file| !home.join(file).exists());
    let found = |file: &Path| {
        folders.iter().find_map(|(folder, step)| {
            let mut below = file.components();
            below.next()?;
            // The renamed part of the path is unknown: tries each one.
            std::iter::from_fn(|| {
                let place = Path::new(folder).join(below.as_path());
                below.next().map(|_| place)
            })
            .find(|place| place.is_file())
            .map(|place| (place.to_string_lossy().into_owned(), *step))
        })
    };
    gone.filter_map(found).collect()
}

fn parse_line(text: &str, start: &str, here: &HookContext<'_>) -> Option<Script> {
    let project = here.started_in;
    let surroundings = Surroundings {
        home: here.place.home.as_deref().and_then(Path::to_str),
        // The client's shell does not have this variable (seen with 2.1.325), so `cd "$CLAUDE_PROJECT_DIR"` changes
        // nothing. That is the same only within the project.
        project: project.filter(|project| Path::new(start).starts_with(project)).and_then(Path::to_str),
        cwd: Some(start),
    };
    shell::parse_in(text, surroundings)
}

/// Finds the project's checks, and the ones that a command line proves. Reads files only for a line that may contain
/// a check, or if a policy has to name one.
fn read_checks(
    work: &mut own::Facts,
    script: Option<&Script>,
    line: Line<'_>,
    roots: &[PathBuf],
    edited: &[PathBuf],
    named: bool,
    here: &HookContext<'_>,
) {
    let extra = here.config.policies.verify_stop.commands.extra();
    let revealed = script.map(Script::revealed);
    let revealed = revealed.filter(|revealed| could_check(revealed, &extra));
    let Some((root, others)) = roots.split_first().filter(|_| revealed.is_some() || named) else {
        return;
    };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let real =
        |path: &str| paths::resolve(Path::new(path)).map_or_else(|| path.to_owned(), |real| text(&real));
    let edited: Vec<PathBuf> =
        edited.iter().map(|path| paths::resolve(path).unwrap_or_else(|| path.clone())).collect();
    let cwd = real(line.start);
    let end = line.end.map(real).filter(|end| *end != cwd);
    let mut roots = manifests::roots(root, others);
    manifests::add_worktrees(&mut roots, &edited);
    let mut links = Vec::new();
    if let Some(revealed) = &revealed {
        let known: Vec<String> = roots.iter().map(|root| text(root)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let place = RunPlace { roots: &known, cwd: &cwd, end: end.as_deref(), links: &[] };
        // A link to the project, or another worktree.
        let outside = checks::folders_outside(revealed, place, &extra);
        links = outside.into_iter().take(MOST_LINKS).map(|path| (path.clone(), real(&path))).collect();
        let paths: Vec<PathBuf> = links.iter().map(|(_, real)| Path::new(real).join("_")).collect();
        manifests::add_worktrees(&mut roots, &paths);
    }
    let names: Vec<String> = roots.iter().map(|root| text(root)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let place = RunPlace { roots: &names, cwd: &cwd, end: end.as_deref(), links: &links };
    let folders = revealed.as_ref().map(|script| checks::folders_of_line(script, place)).unwrap_or_default();
    let name = |path: &PathBuf| place.name(&Spot::Absolute(text(path)));
    let edited: Vec<String> = edited.iter().filter_map(name).collect();
    let manifests = manifests::read(&roots, &folders, &edited);
    let seen: Vec<SeenFile<'_>> = manifests.iter().map(ProjectManifest::seen).collect();
    let project = checks::read_project(&seen);
    if let Some(script) = script.filter(|_| revealed.is_some()) {
        let project = if line.background { &project.in_background() } else { &project };
        let found = project.proof(script, place, &extra);
        if found.visible.is_empty() && found.hidden.is_empty() {
            work.proof.void = find_void(project, script, place, &extra);
        }
        work.proof.checks = found;
    }
    work.checks = Some(project);
}

/// All folders that may contain files of the project.
fn roots_of(root: &Path, marks: Option<&Marks>, here: &HookContext<'_>) -> Vec<PathBuf> {
    let main = project::main_worktree(root);
    let added = marks.map(|marks| marks.session.directories.as_slice()).unwrap_or_default();
    let mut roots: Vec<PathBuf> = [Some(root.to_owned()), here.started_in.map(Path::to_owned), main]
        .into_iter()
        .flatten()
        .chain(added.iter().map(PathBuf::from))
        .collect();
    roots.dedup();
    roots
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
            assert_eq!(shorten_line(&redact(line).text), shown);
        }
        // A token that would be cut in two is redacted first.
        let token = format!("ghp_{}", "aB3".repeat(12));
        let line = format!("{} {token}", "x".repeat(60));
        assert!(!shorten_line(&redact(&line).text).contains("aB3"));
    }
}
