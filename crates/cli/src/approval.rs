//! People decide: a command that loosens something runs only after a person's yes.
//!
//! At a terminal it asks. Called by an agent it prints a code and leaves; a hook recognises the person's
//! approval, and the same command with `--approved` finds it and uses it up. A flag alone proves nothing:
//! the model can type it.
//!
//! A request is a mark of the session, and an approval is for exactly its command and its client process.
//! The command looks into the transcript, too: a prompt that the host sent by itself, or an answer that a
//! hook gave, is not a person's. A command with more text than a line can hold asks for the digest of that
//! text (`command/compound/promote.rs`).

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use tidegate_core::event::SessionId;
use tidegate_core::event::action::QuestionCall;
use tidegate_core::feature::approval::marks::{
    APPROVAL_MS, ApprovalRequest, ApprovalStage, CODE_LENGTH, CODE_LETTERS, Mark as ApprovalMark,
};
use tidegate_core::feature::approval::{
    ApprovalEvidence, approval_question_call, find_approval, mentions_code,
};
use tidegate_core::feature::marks::Marks;
use tidegate_core::host::Host;
use tidegate_core::host::person::Person;
use tidegate_core::host::transcript::TranscriptEntry;
use tidegate_core::pipeline::record::{Deeds, Record};
use tidegate_core::text::search;
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_hook::process::ancestry::{self, Ancestry};
use tidegate_state::host::transcript;
use tidegate_state::place::StateDir;
use tidegate_state::session::marks;
use tidegate_state::{account, config, journal};

use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::language;
use crate::print;
use crate::print::page::Page;
use crate::sessions::Here;

/// The client writes its transcript every 100 ms, a busy machine later: it is read this often, with a pause before each
/// try.
const TRANSCRIPT_TRIES: u32 = 20;
const TRANSCRIPT_PAUSE: Duration = Duration::from_millis(100);

/// Begins the cause of a command that an agent ran after a yes.
pub(crate) const APPROVED: &str = "approved";

/// Exit code: the command waits for a person.
pub(crate) const WAITS: u8 = 4;

/// A command that needs a person's yes.
pub(crate) struct Request<'a> {
    /// The name by which `[approval] unattended` in the config can allow it.
    pub(crate) name: &'static str,
    /// The whole command without `tidegate` and `--approved`. An approval is for exactly this.
    pub(crate) command: String,
    /// The effect, if the command itself does not show it.
    pub(crate) about: Option<String>,
    /// The effect, line by line.
    pub(crate) would: &'a [Bilingual],
    /// `--approved` was given.
    pub(crate) approved: bool,
    pub(crate) json: bool,
}

pub(crate) enum Consent {
    Given(Given),
    /// A person has to be asked first; the caller got the code to ask with.
    Waits(ExitCode),
}

/// A yes, for the record.
pub(crate) struct Given {
    pub(crate) how: String,
    /// Approved interactively; the config's unattended allowance does not count.
    pub(crate) by_person: bool,
}

impl Given {
    pub(crate) fn by_person(how: impl Into<String>) -> Given {
        Given { how: how.into(), by_person: true }
    }
}

#[derive(Serialize)]
struct Waiting<'a> {
    waits_for: &'static str,
    would: Vec<&'a str>,
    code: &'a str,
    command: &'a str,
    expires: String,
    then_run: String,
    /// Input of the host's question tool.
    question: serde_json::Value,
}

/// The host says so in its variables, or a process above this one is an agent's. An agent can clear its variables, and
/// open a terminal to type into.
pub(crate) fn is_by_agent(env: &Environment) -> bool {
    env.agent || ancestry::check_self() != Ancestry::Clear
}

/// A command of an agent asks through its session, one of a person at the terminal. Without both, only the config can
/// allow it.
pub(crate) fn ask_consent(here: &Here, request: &Request<'_>) -> Result<Consent, CliError> {
    if is_by_agent(&here.env) {
        return of_agent(here, request);
    }
    if is_at_terminal() {
        return at_terminal(request);
    }
    nobody_there(here, request, both!("no terminal to ask at", "尋ねるための端末がありません"))
}

/// For a command that a person at a terminal has typed in full: typing it is the yes.
pub(crate) fn consent_unless_typed(here: &Here, request: &Request<'_>) -> Result<Consent, CliError> {
    if !is_by_agent(&here.env) && is_at_terminal() {
        return Ok(Consent::Given(Given::by_person("typed at the terminal")));
    }
    ask_consent(here, request)
}

/// The question goes to stderr, the answer comes from stdin.
pub(crate) fn is_at_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks about a part of a command; the rest runs without a yes. An agent is never asked. `name` is the command in
/// `[approval] unattended`.
pub(crate) fn is_agreed(here: &Here, name: &str, would: &[Bilingual]) -> Result<bool, CliError> {
    if is_by_agent(&here.env) {
        return Ok(false);
    }
    if is_at_terminal() {
        return is_yes_at_terminal(would);
    }
    Ok(is_allowed_unattended(here, name))
}

/// For a command without a question.
pub(crate) fn is_at_terminal_or_allowed(here: &Here, name: &str) -> bool {
    is_at_terminal() || is_allowed_unattended(here, name)
}

fn at_terminal(request: &Request<'_>) -> Result<Consent, CliError> {
    if is_yes_at_terminal(request.would)? {
        return Ok(Consent::Given(Given::by_person("asked at the terminal")));
    }
    Err(CliError::new(both!("nothing was changed", "何も変更していません")))
}

pub(crate) fn is_yes_at_terminal(would: &[Bilingual]) -> Result<bool, CliError> {
    let mut page = Page::new();
    for line in would {
        page.paragraph(line.clone());
    }
    page.print_to_stderr();
    let question = both!("Continue? [y/N] ", "続けますか？ [y/N] ");
    let mut out = std::io::stderr().lock();
    let asked = write!(out, "{}", question.get(language::current())).and_then(|()| out.flush());
    drop(out);
    let mut answer = String::new();
    asked.and_then(|()| std::io::stdin().lock().read_line(&mut answer).map(drop)).map_err(CliError::new)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes" | "はい"))
}

/// Only the user's own config file counts. An agent sets variables as it likes, also those that move the config folder,
/// and a project's files are not the user's.
fn is_allowed_unattended(here: &Here, name: &str) -> bool {
    let user = account::config_file();
    let root = here.root.as_deref();
    let own = config::read(&config::Sources { user: user.as_deref(), root, ..config::Sources::default() });
    own.policies.approval.unattended.0.iter().any(|allowed| allowed == name)
}

/// Without a person, only the user's own config file can have said yes before.
fn nobody_there(here: &Here, request: &Request<'_>, why: Bilingual) -> Result<Consent, CliError> {
    if is_allowed_unattended(here, request.name) {
        let how = "the user's config allows it unattended".to_owned();
        return Ok(Consent::Given(Given { how, by_person: false }));
    }
    let (command, Bilingual { en, ja }) = (&request.command, why);
    let error = CliError::new(both!(
        "`tidegate {command}` needs a person's yes, and there is {en}",
        "`tidegate {command}` には人の同意が必要ですが、{ja}"
    ));
    // How to allow it is for people: a hurried model would take it for its next step.
    if is_by_agent(&here.env) {
        return Err(error.hint("ask the person to run it at a terminal of their own"));
    }
    let Some(file) = account::config_file() else {
        return Err(error.hint(both!(
            "run it at a terminal of your own; the system does not say which home this account has",
            "自分の端末で実行してください（このアカウントのホームがわかりません）"
        )));
    };
    let is_moved = here.env.place.config().as_ref() != Some(&file);
    let (moved_en, moved_ja) = if is_moved {
        (
            ", the account's own: one that HOME or XDG_CONFIG_HOME leads to allows nothing",
            "（アカウント自身のファイルです。HOME や XDG_CONFIG_HOME の指すファイルは使われません）",
        )
    } else {
        ("", "")
    };
    let (name, file) = (request.name, file.display());
    Err(error.hint(both!(
        "run it at a terminal of your own; to allow it unattended, write `unattended = [\"{name}\"]` under [approval] in \
         {file}{moved_en}",
        "自分の端末で実行してください。無人でも許可するには、{file} の [approval] に `unattended = [\"{name}\"]` と \
         書いてください{moved_ja}"
    )))
}

fn is_attended(here: &Here, session: &SessionId) -> bool {
    here.known_session(session.as_str()).is_ok_and(|known| known.marks.session.person == Some(Person::There))
}

/// Refuses where no person can have seen the output that an agent says they have seen. `name` is the command in
/// `[approval] unattended`.
pub(crate) fn somebody_there(here: &Here, name: &'static str, command: &str) -> Result<(), CliError> {
    let session = here.env.session.as_deref().and_then(|id| SessionId::parse(id).ok());
    if !is_by_agent(&here.env) || session.is_some_and(|session| is_attended(here, &session)) {
        return Ok(());
    }
    let request =
        Request { name, command: command.to_owned(), about: None, would: &[], approved: false, json: false };
    nobody_there(
        here,
        &request,
        both!("no person in this session who could have seen it", "このセッションには見た人がいません"),
    )
    .map(drop)
}

fn of_agent(here: &Here, request: &Request<'_>) -> Result<Consent, CliError> {
    let Some(id) = here.env.session.as_deref().and_then(|id| SessionId::parse(id).ok()) else {
        return nobody_there(
            here,
            request,
            both!("no session in which a person could approve it", "承認できるセッションがありません"),
        );
    };
    if id.host() != Host::ClaudeCode {
        let why = both!(
            "no way to give it in {host}",
            "{host} の中では同意できません",
            host = Host::title(id.host().name())
        );
        return nobody_there(here, request, why);
    }
    let session = AgentSession { state: &here.state, id, client: here.env.client, now: here.now };
    let Some(client) = session.client else {
        return nobody_there(
            here,
            request,
            both!(
                "no sign of the Claude Code that this agent works in (CLAUDE_PID)",
                "このエージェントの Claude Code が見つかりません（CLAUDE_PID）"
            ),
        );
    };
    if let Some(why) = not_of_a_person(client) {
        return nobody_there(here, request, why);
    }
    if here.env.unattended || !is_attended(here, &session.id) {
        return nobody_there(
            here,
            request,
            both!(
                "no person in this session who could approve it",
                "このセッションには承認できる人がいません"
            ),
        );
    }
    if request.approved {
        let code = session.take(request, here.env.place.host().as_deref())?.ok_or_else(|| {
            CliError::new(format!("there is no approval of `tidegate {}` in this session", request.command)).hint(
                "run it without --approved: it prints a code, which the person can approve once, within ten minutes",
            )
        })?;
        return Ok(Consent::Given(Given::by_person(format!("{APPROVED} with the code {code}"))));
    }
    let asked = session.ask(request)?;
    let code = &asked.code;
    let question = approval_question_call(Host::ClaudeCode, &asked);
    let then_run = format!("tidegate {} --approved", request.command);
    if request.json {
        print::json(&Waiting {
            waits_for: "a person",
            would: request.would.iter().map(|line| line.en.as_str()).collect(),
            code,
            command: &request.command,
            expires: Millis(here.now.0 + APPROVAL_MS).iso(),
            then_run,
            question: question.and_then(|call| serde_json::from_str(&call.input).ok()).unwrap_or_default(),
        });
        return Ok(Consent::Waits(ExitCode::from(WAITS)));
    }
    for line in request.would {
        print::line(&line.en);
    }
    print::line(&format!("This needs a person's yes. Code {code}, for this session and ten minutes."));
    let typed = format!("The person can type the prompt `approve {code}`");
    match question {
        Some(QuestionCall { tool, input }) => {
            print::line(&format!("{typed}, or answer {tool} with exactly this input:"));
            print::line(&format!("  {input}"));
        }
        None => {
            print::line(&format!("{typed}."));
        }
    }
    print::line("In any other tool call the code becomes void.");
    print::line(&format!("Then run: {then_run}"));
    Ok(Consent::Waits(ExitCode::from(WAITS)))
}

/// An agent can start a second client and type into it. Returns why this client is not a person's.
fn not_of_a_person(client: u64) -> Option<Bilingual> {
    match ancestry::check(client) {
        Ancestry::Clear => None,
        Ancestry::OfAgent(agent) => Some(both!(
            "a Claude Code that an agent started ({sign} in process {process}), so its prompts may be the agent's",
            "この Claude Code はエージェントが起動したもの（プロセス{process}の {sign}）で、入力がエージェントのものかもしれません",
            sign = agent.sign,
            process = agent.process
        )),
        Ancestry::Unknown => Some(both!(
            "no Claude Code that can be looked at (process {client}), so an agent may have started it",
            "Claude Code のプロセス（{client}）を確認できず、エージェントが起動したものかもしれません"
        )),
    }
}

/// The session that an agent works in.
struct AgentSession<'a> {
    state: &'a StateDir,
    id: SessionId,
    client: Option<u64>,
    now: Millis,
}

impl AgentSession<'_> {
    /// Leaves a request, or finds the one that waits already.
    fn ask(&self, wanted: &Request<'_>) -> Result<ApprovalRequest, CliError> {
        let command = &wanted.command;
        let lock = marks::lock_exclusive(&self.state.session(&self.id)).map_err(CliError::new)?;
        let known = self.marks();
        let same = |request: &&ApprovalRequest| {
            request.command == *command
                && request.about == wanted.about
                && request.client == self.client
                && request.waits(self.now)
        };
        if let Some(waiting) = known.approval.requests.iter().find(same) {
            return Ok(waiting.clone());
        }
        let request = ApprovalRequest {
            code: new_code(),
            command: command.clone(),
            about: wanted.about.clone(),
            at: self.now,
            client: self.client,
            shown: false,
            stage: ApprovalStage::Asked,
        };
        if !request.fits_a_glance() {
            return Err(CliError::new(format!(
                "`tidegate {command}` is more than a person can approve at a glance (8 lines, 400 characters)"
            ))
            .hint("ask for less at once, or have the person run it in a terminal of their own, where all of it is shown"));
        }
        lock.append(&[ApprovalMark::Approval(request.clone()).into()]).map_err(CliError::new)?;
        Ok(request)
    }

    /// Uses up an approval of this command, if the session's transcript in the client's folder holds it, too. Returns
    /// its code.
    fn take(&self, wanted: &Request<'_>, host: Option<&Path>) -> Result<Option<String>, CliError> {
        let command = &wanted.command;
        let is_given =
            |approval: &&ApprovalRequest| approval.allows(command, wanted.about.as_deref(), self.now);
        let known = self.marks();
        let Some(given) = known.approval.requests.iter().find(is_given) else {
            return Ok(None);
        };
        // It may have come from another client than the one that uses it.
        if let Some(why) = given.client.and_then(not_of_a_person) {
            let Bilingual { en, ja } = why;
            return Err(CliError::new(both!(
                "the approval of `tidegate {command}` does not count: there is {en}",
                "`tidegate {command}` の承認は使えません。{ja}"
            ))
            .hint(own_terminal()));
        }
        // Without the lock: it takes a while, and hooks of the session need the lock.
        let found = self.in_transcript(given, known.session.transcript.as_deref(), host);
        let lock = marks::lock_exclusive(&self.state.session(&self.id)).map_err(CliError::new)?;
        let known = self.marks();
        let Some(given) =
            known.approval.requests.iter().find(|approval| is_given(approval) && approval.code == given.code)
        else {
            return Ok(None);
        };
        match found {
            TranscriptAnswer::Yes => {
                let used = ApprovalRequest { stage: ApprovalStage::Used, ..given.clone() };
                lock.append(&[ApprovalMark::Approval(used).into()]).map_err(CliError::new)?;
                Ok(Some(given.code.clone()))
            }
            TranscriptAnswer::NotByAPerson => {
                let refused = ApprovalRequest { stage: ApprovalStage::Refused, shown: false, ..given.clone() };
                lock.append(&[ApprovalMark::Approval(refused).into()]).map_err(CliError::new)?;
                Err(CliError::new(format!(
                    "the approval of `tidegate {command}` is void: a hook or a scheduled prompt gave it, not a person"
                ))
                .hint(own_terminal()))
            }
            TranscriptAnswer::Nothing => Err(CliError::new(format!(
                "the approval of `tidegate {command}` is not in this session's transcript, so it may not be a person's"
            ))
            .hint(own_terminal())),
        }
    }

    /// The client writes the person's yes down with some delay.
    fn in_transcript(
        &self,
        given: &ApprovalRequest,
        transcript: Option<&str>,
        host: Option<&Path>,
    ) -> TranscriptAnswer {
        let (Some(path), Some(host)) = (transcript.map(Path::new), host) else {
            return TranscriptAnswer::Nothing;
        };
        // A payload names the file, and any command can write a payload.
        let folder = |path: &Path| std::fs::canonicalize(path).ok();
        let is_of_client = path.file_stem().is_some_and(|stem| stem.to_str() == Some(self.id.as_str()))
            && path
                .parent()
                .and_then(Path::parent)
                .and_then(folder)
                .is_some_and(|found| Some(found) == folder(&host.join("projects")));
        if !is_of_client {
            return TranscriptAnswer::Nothing;
        }
        for attempt in 0..=TRANSCRIPT_TRIES {
            if attempt > 0 {
                std::thread::sleep(TRANSCRIPT_PAUSE);
            }
            let found = look_in_transcript(path, given);
            if found != TranscriptAnswer::Nothing {
                return found;
            }
        }
        TranscriptAnswer::Nothing
    }

    fn marks(&self) -> Marks {
        marks::read(&self.state.session(&self.id)).value().cloned().unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TranscriptAnswer {
    Yes,
    /// A hook or a rule gave the yes.
    NotByAPerson,
    /// Not there yet, or never.
    Nothing,
}

fn look_in_transcript(path: &Path, given: &ApprovalRequest) -> TranscriptAnswer {
    let (call, is_of_others) = (Cell::new(None), Cell::new(false));
    let is_yes = |entry: &TranscriptEntry<'_>| match find_approval(Host::ClaudeCode, entry, given) {
        ApprovalEvidence::Yes(of) => {
            call.set(of);
            true
        }
        ApprovalEvidence::NotByAPerson => {
            is_of_others.set(true);
            false
        }
        ApprovalEvidence::Nothing => false,
    };
    if !transcript::has_entry(Host::ClaudeCode, path, &|line| mentions_code(line, &given.code), &is_yes) {
        return if is_of_others.get() { TranscriptAnswer::NotByAPerson } else { TranscriptAnswer::Nothing };
    }
    // Clients that do not write down who decided write down what hooks answered.
    let is_by_hook = call.take().is_some_and(|call: String| {
        let names_it = |line: &[u8]| search::find(line, call.as_bytes()).is_some();
        transcript::has_entry(Host::ClaudeCode, path, &names_it, &|entry| {
            Host::ClaudeCode.is_changed_by_hook(entry.line, &call)
        })
    });
    if is_by_hook { TranscriptAnswer::NotByAPerson } else { TranscriptAnswer::Yes }
}

fn own_terminal() -> Bilingual {
    both!("run the command at a terminal of your own", "自分の端末で実行してください")
}

/// Random by the seed that the standard library takes from the system for its hash tables.
fn new_code() -> String {
    let mut random = RandomState::new().hash_one(std::process::id());
    let letter = |_| {
        let letter = CODE_LETTERS[(random % CODE_LETTERS.len() as u64) as usize];
        random /= CODE_LETTERS.len() as u64;
        char::from(letter)
    };
    (0..CODE_LENGTH).map(letter).collect()
}

/// Stricter settings need no yes; the record only says who called.
pub(crate) fn consent_to_tighten(here: &Here, how: &str) -> Given {
    Given { how: how.to_owned(), by_person: !is_by_agent(&here.env) }
}

/// Records which command changed something, and on whose word.
pub(crate) fn record_command(here: &Here, command: &str, given: &Given, did: Deeds) {
    let session = here.env.session.as_deref().and_then(|id| SessionId::parse(id).ok());
    let mut record = Record {
        did,
        host: session.map(|session| session.host().name().to_owned()).unwrap_or_default(),
        id: Record::new_id(here.now, std::process::id()),
        session: here.env.session.clone(),
        project: here.root.as_deref().map(|root| root.to_string_lossy().into_owned()),
        cause: Some(given.how.clone()),
        person: given.by_person.into(),
        ruling: "command".to_owned(),
        ..Record::begin(&format!("tidegate {command}"), here.now)
    };
    let _ = journal::append(&here.state.journal(), here.now, &mut record);
}
