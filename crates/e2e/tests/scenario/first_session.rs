//! The first session of a newcomer, from `init` to `uninstall`, in a terminal of 80 columns. Each step leaves a screen as a
//! snapshot, to be read as that person would.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tidegate_e2e::client::{self, Launch, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Script};
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::{Tidegate, copy_binary};

use super::people;

/// At this size the client compacts by itself.
const FULL: u64 = 168_000;

/// For a last part of the screen that is drawn after the sentences that a step waits for.
const PATIENCE: Duration = Duration::from_secs(20);

/// The client asks with these words before it runs a command.
const PERMISSION: &str = "Do you want to proceed?";

struct Day<'a> {
    home: &'a Home,
    model: &'a Model,
    terminal: Terminal<'a>,
    /// Parts that differ from run to run, and what a snapshot has instead: the same number of characters, so that lines
    /// break at the same places.
    varying: Vec<(String, &'static str)>,
}

impl<'a> Day<'a> {
    fn begin(home: &'a Home, model: &'a Model) -> Self {
        let launch = Launch::asking(home, model).on(SONNET_4_6);
        let root =
            home.root().file_name().expect("a temporary home has a name").to_string_lossy().into_owned();
        let terminal = Terminal::shell(&launch);
        Self { home, model, terminal, varying: vec![(root, "tg-000000")] }
    }

    /// Runs a command in the shell, on an empty screen.
    fn run(&self, command: &str, sentence: &str) {
        self.await_shell();
        self.terminal.enter("clear");
        self.terminal.wait_until("an empty screen", |screen| screen.trim() == "$");
        self.terminal.enter(command);
        self.terminal.wait_for_sentence(sentence);
        self.await_shell();
    }

    fn await_shell(&self) {
        self.terminal
            .wait_until("the shell's prompt", |screen| screen.trim_end().lines().last() == Some("$"));
    }

    /// Types a prompt; the model's steps have the tokens in use.
    fn ask(&self, prompt: &str, steps: impl IntoIterator<Item = (u64, Reply)>) {
        for (used, step) in steps {
            self.model.then(step.used(used));
        }
        self.terminal.enter(prompt);
    }

    /// Waits for the client's question about a command, and allows it.
    fn allow(&self, command: &str) {
        self.terminal.wait_for_sentence(command);
        self.terminal.wait_for(PERMISSION);
        self.terminal.dismiss("Enter", PERMISSION);
    }

    /// The code and the digest that the last command printed for the model.
    fn await_request(&mut self, code: &'static str) -> String {
        self.terminal
            .wait_while("a request for approval", || printed(&self.model.last_main(), "Code ").is_none());
        let request = self.model.last_main();
        let given = printed(&request, "Code ").expect("a code");
        self.varying.push((given.clone(), code));
        self.varying.extend(printed(&request, " --only ").map(|digest| (digest, "0123456789abcdef")));
        given
    }

    /// The screen from the last line that begins with `from`, with these sentences in it.
    fn assert_screen(&self, name: &str, from: &str, sentences: &[&str]) {
        let has_all = |page: &str| {
            let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
            sentences.iter().all(|sentence| page.contains(sentence))
        };
        let page = || page(&self.terminal.folded_screen(), from);
        self.terminal.wait_while(&format!("{sentences:?} after {from:?}"), || {
            !page().is_some_and(|page| has_all(&page))
        });
        // Another version of the client draws other screens.
        if !client::is_pinned() {
            return;
        }
        let shown = || self.without_varying(&page().unwrap_or_default());
        let (known, end) = (stored(name), Instant::now() + PATIENCE);
        while known.as_deref() != Some(&*shown()) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, shown()) });
    }

    fn without_varying(&self, page: &str) -> String {
        let page =
            self.varying.iter().fold(page.to_owned(), |page, (part, with)| replace_folded(&page, part, with));
        page.lines().map(without_numbers).collect::<Vec<_>>().join("\n")
    }
}

/// The word after a mark in the newest tool result.
fn printed(request: &Request, mark: &str) -> Option<String> {
    let text = request.tool_results().pop()?.text;
    let (_, after) = text.split_once(mark)?;
    Some(after.chars().take_while(char::is_ascii_alphanumeric).collect())
}

/// The command that runs after the approval.
fn approved(request: &Request) -> Reply {
    let texts: Vec<String> = request.tool_results().into_iter().map(|result| result.text).collect();
    let mut lines = texts.iter().rev().flat_map(|text| text.lines());
    let command = lines.find_map(|line| line.strip_prefix("Then run: "));
    Reply::bash(command.unwrap_or_else(|| panic!("a command to run: {texts:?}")))
}

/// Leaves out the client's input line and its own hints; below the conversation stands the status line. `None` if the turn
/// still runs.
fn page(screen: &str, from: &str) -> Option<String> {
    let screen = screen.replace('\u{a0}', " ");
    // The client names the files that it reads again after a compaction, in any order.
    let read_again = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        matches!(words[..], ["⎿", "Read" | "Referenced"])
    };
    let lines: Vec<&str> = screen.lines().map(str::trim_end).filter(|line| !read_again(line)).collect();
    let start = lines.iter().rposition(|line| line.starts_with(from))?;
    let page = &lines[start..];
    let is_rule = |line: &&str| line.starts_with('─');
    let join = |lines: &[&str]| lines.join("\n").trim_end().to_owned();
    if from.starts_with('$') {
        return Some(join(page).trim_end_matches(['$', '\n']).to_owned());
    }
    // A question about a command is the client's alone; one of the model has Tidegate's words in it.
    if page.iter().any(|line| line.contains(PERMISSION)) {
        // The dot before a command that waits blinks.
        return Some(join(&page[..page.iter().position(is_rule)?]).replace("\n● ", "\n  "));
    }
    if page.iter().any(|line| line.contains("Enter to select")) {
        return Some(join(page));
    }
    let end = page.iter().position(|line| line.starts_with("✻ ") && line.contains(" · done "))?;
    let status = page.iter().rposition(is_rule)? + 1;
    Some(format!("{}\n\n{}", join(&page[..end]), page.get(status)?))
}

/// Also where the client has broken the line.
fn replace_folded(page: &str, part: &str, with: &str) -> String {
    let mut rest = page;
    let mut replaced = String::new();
    while let Some(first) = rest.chars().next() {
        if let Some((matched, length)) = match_folded(rest, part, with) {
            replaced.push_str(&matched);
            rest = &rest[length..];
        } else {
            replaced.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    replaced
}

/// The replacement at the start of the text, with the text's own breaks and bars in it, and the length of what it replaces.
fn match_folded(text: &str, part: &str, with: &str) -> Option<(String, usize)> {
    let mut matched = String::new();
    let mut rest = text;
    for (n, (c, new)) in part.chars().zip(with.chars()).enumerate() {
        if n > 0 && rest.starts_with('\n') {
            let body = rest.trim_start_matches(['\n', ' ', '│']);
            matched.push_str(&rest[..rest.len() - body.len()]);
            rest = body;
        }
        rest = rest.strip_prefix(c)?;
        matched.push(new);
    }
    Some((matched, text.len() - rest.len()))
}

/// Without the numbers and sizes in a list of files, and without the time that is left.
fn without_numbers(line: &str) -> String {
    let from = if line.starts_with("- ") { Some(0) } else { line.find(" off for ") };
    let (kept, rest) = line.split_at(from.unwrap_or(line.len()));
    let mut shown = kept.to_owned();
    for c in rest.chars() {
        if !c.is_ascii_digit() {
            shown.push(c);
        } else if !shown.ends_with('N') {
            shown.push('N');
        }
    }
    shown
}

fn stored(name: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenario/snapshots");
    let text = fs::read_to_string(folder.join(format!("e2e__scenario__first_session__{name}.snap"))).ok()?;
    Some(text.splitn(3, "---\n").nth(2)?.trim_end().to_owned())
}

/// A project with a test, and `tidegate` where `cargo install` puts it.
fn prepare(home: &Home) {
    copy_binary(home, &home.programs().join("tidegate"));
    // `npm start` ends once the client has written a compaction: a scripted model answers faster than that.
    let transcripts = home.client_config().join("projects");
    home.add_program(
        "npm",
        &format!(
            "if [ \"$1\" = start ]; then until grep -rqs '\"subtype\":\"compact_boundary\"' {}; do sleep 0.02; done\n\
             else echo '# tests 3'; echo '# pass 3'; echo '# fail 0'; fi",
            transcripts.display()
        ),
    );
    home.write("package.json", "{ \"name\": \"app\", \"scripts\": { \"test\": \"node --test\" } }\n");
    home.write("src/server.js", "export const server = 1;\n");
    // Enough for the client to compact.
    home.write("server.log", &"a line of the server's log\n".repeat(1_000));
    home.git(&["add", "."]);
    home.git(&["commit", "--quiet", "--message", "start"]);
}

#[test]
fn from_init_to_uninstall() {
    let home = Home::of_newcomer();
    prepare(&home);
    let summary = "<summary>The login page was added in src/login.js. Next: logout.</summary>";
    let model = Model::start(Script::new().summary(Reply::text(summary))).paced(&home);
    let mut day = Day::begin(&home, &model);

    installs(&mut day);
    finishes_without_a_check(&day);
    fills_the_context(&day);
    loses_it_to_a_compaction(&day);
    reviews_the_notes(&mut day);
    switches_a_check_off(&mut day);
    day.terminal.enter("/exit");
    uninstalls(&day);

    Tidegate::of(&home).assert_unfailing();
    model.finish();
}

fn installs(day: &mut Day<'_>) {
    day.run("tidegate init", "Next: start `claude` here");
    let backups = fs::read_dir(day.home.state().join("installs")).expect("the folder of backups");
    for backup in backups {
        let name = backup.expect("a folder").file_name().to_string_lossy().into_owned();
        day.varying.push((name.rsplit('-').next().unwrap_or_default().to_owned(), "0123456789abcdef"));
    }
    day.assert_screen("1_init", "$ tidegate init", &[]);
    day.run("git status --short", "$ git status --short");
    day.assert_screen("2_git_status", "$ git status", &[]);

    let flags = "--permission-mode acceptEdits --allowedTools 'Bash(npm:*)' 'Bash(cat:*)'";
    day.terminal.enter(&format!("clear; claude {flags}"));
    day.terminal.wait_for("context not measured yet");
}

/// The person sees that "done" is paused, and the model runs the test.
fn finishes_without_a_check(day: &Day<'_>) {
    day.ask(
        "add a login page",
        [
            (20_000, Reply::write(day.home.in_project("src/login.js"), "export const login = 1;\n")),
            (21_000, Reply::text("The login page is done.")),
            (22_000, Reply::bash("npm test")),
            (23_000, Reply::text("All 3 tests pass.")),
        ],
    );
    let paused = "Tidegate paused \"done\": src/login.js changed and no check has passed since.";
    day.assert_screen(
        "3_done_without_a_check",
        "❯ add a login page",
        &[paused, "All 3 tests pass.", "✓ tested"],
    );
    let requests = day.model.main_requests();
    assert_eq!(requests[2].held_stops().len(), 1, "{:?}", requests[2].texts());
}

/// The early warning, and a progress note that the client asks about.
fn fills_the_context(day: &Day<'_>) {
    let note = "tidegate progress add \"login page added\" --decision \"a signed cookie, valid for 30 days\" --next \"logout\"";
    let prompt = "look through the log for failed logins";
    // The client writes the numbers of a step after the step: the second call is the one that certainly has them.
    day.ask(
        prompt,
        [
            (60_000, Reply::bash("cat server.log")),
            (121_500, Reply::bash("cat server.log")),
            (121_600, Reply::bash("cat package.json")),
            (121_700, Reply::bash(note)),
            (121_800, Reply::text("Nobody failed to log in.")),
        ],
    );
    let warned = "45k tokens left until Claude Code compacts.";
    day.terminal.wait_for(PERMISSION);
    day.assert_screen("4_early_warning", &format!("❯ {prompt}"), &[warned, "tidegate progress add"]);
    day.allow("tidegate progress add");
    let waits = "1 progress note is not reviewed.";
    day.assert_screen(
        "5_a_note_waits",
        &format!("❯ {prompt}"),
        &["Nobody failed to log in.", waits, "1 note to review"],
    );
}

/// The late warning and the compaction in the middle of a turn, and what became of the note.
fn loses_it_to_a_compaction(day: &Day<'_>) {
    day.ask(
        "now the logout",
        [
            (123_000, Reply::write(day.home.in_project("src/logout.js"), "export const logout = 1;\n")),
            (151_500, Reply::bash("cat server.log")),
            (151_600, Reply::bash("cat package.json")),
            (FULL, Reply::bash("npm test")),
            (30_000, Reply::bash("npm start")),
            (30_100, Reply::bash("npm test")),
            (30_200, Reply::text("The logout works.")),
        ],
    );
    let warned = "15k tokens left until Claude Code compacts. 1 progress note is not reviewed";
    let kept = "Given back to Claude: \"a signed cookie, valid for 30 days\"";
    day.assert_screen("6_compaction", "❯ now the logout", &[warned, kept, "The logout works."]);
}

/// `/compound` costs one act: the answer to the question. The client asks nothing else.
fn reviews_the_notes(day: &mut Day<'_>) {
    let listed = Tidegate::of(day.home).run(&["compound", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let plan = serde_json::json!([{
        "entry": listed["entries"][0]["id"], "to": "design", "title": "Sessions are a signed cookie",
        "learning": "a signed cookie, valid for 30 days, holds the session", "context": "login page",
        "implication": "no table for sessions",
    }]);
    for reply in [
        Reply::bash("tidegate compound list --json"),
        Reply::bash(format!("tidegate compound promote --plan - <<< '{plan}'")),
    ] {
        day.model.then(reply.used(31_000));
    }
    day.model.then_with(|request| people::ask(request).used(32_000));
    day.model.then_with(|request| approved(request).used(33_000));
    day.model.then(Reply::bash("tidegate compound done").used(34_000));
    day.model.then(Reply::text("One note became a learning.").used(35_000));
    day.terminal.enter("/compound");
    day.await_request("K7QF2M");
    day.assert_screen("7_compound_asks", "❯ /compound", &["Allow this once?", people::REFUSE]);
    day.terminal.dismiss("Enter", people::REFUSE);
    let said = ["You approved this.", "One note became a learning."];
    day.assert_screen("8_compound_is_done", "❯ /compound", &said);
    let learned = fs::read_to_string(day.home.in_project(".claude/context/learnings-design.md"));
    assert!(learned.expect("the new file").contains("## Sessions are a signed cookie"));
}

/// The model asks for it; the person types the code in a sentence of their own.
fn switches_a_check_off(day: &mut Day<'_>) {
    let command = "tidegate off verify-stop --for 1h";
    let prompt = "the tests are slow today, skip the check for an hour";
    day.ask(prompt, [(36_000, Reply::bash(command)), (37_000, Reply::text("That needs your approval."))]);
    day.allow(command);
    let code = day.await_request("R4TW8N");
    let asked = ["Claude asks you to approve", "That needs your approval.", "approve R4TW8N?"];
    let asked = asked.map(|sentence| sentence.replace("R4TW8N", &code));
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    day.assert_screen("9_approval_waits", &format!("❯ {prompt}"), &asked);

    day.model.then_with(|request| approved(request).used(38_000));
    day.ask(&format!("yes, approve {code} please"), [(39_000, Reply::text("The check is off for an hour."))]);
    day.allow("--approved");
    let said =
        ["You approved: `tidegate off verify-stop", "The check is off for an hour.", "verify-stop off for"];
    day.assert_screen("10_approved", "❯ yes, approve", &said);
}

fn uninstalls(day: &Day<'_>) {
    day.run("tidegate uninstall", "Notes: ~/code/app/.claude/context");
    day.assert_screen("11_uninstall", "$ tidegate uninstall", &[]);
    day.run("git status --short", "$ git status --short");
    day.assert_screen("12_git_status", "$ git status", &[]);
}
