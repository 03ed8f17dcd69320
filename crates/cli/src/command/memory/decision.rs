//! `tidegate memory decision`.

use std::process::ExitCode;

use tidegate_core::pipeline::record::Deeds;
use tidegate_memory::act::{self, Acting};
use tidegate_memory::record::TakenBy;

use super::row_words::decision_row;
use super::{Opened, parse_id, read_text};
use crate::approval::{self, Consent, Given, Request};
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::shell;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum DecisionCommand {
    /// Write down a decision
    #[command(after_help = "\
Examples:
  tidegate memory decision add 12 \"Bigrams for Japanese\" --reason \"no dictionary to ship\"

The topic stays open.")]
    Add(DecisionAdd),
    /// Correct the wording of a decision
    #[command(after_help = "\
Examples:
  tidegate memory decision edit 7 --reason \"no dictionary to ship, and none to update\"
  tidegate memory decision edit 7 --topic 14

The earlier text stays: `tidegate memory show decision 7` shows both. An agent needs
a person's yes to change a decision of theirs.")]
    Edit(DecisionEdit),
    /// Replace a decision by a new one
    #[command(after_help = "\
Examples:
  tidegate memory decision supersede 7 \"Bigrams and single characters\"

An agent needs a person's yes to replace a decision of theirs.")]
    Supersede(DecisionSupersede),
    /// Stand by a decision that an agent wrote down
    #[command(after_help = "\
Examples:
  tidegate memory decision confirm 7

Only a person can do this: typed at a terminal, or by approving the code that an agent's
command prints.")]
    Confirm(DecisionId),
    /// Take a decision back
    #[command(after_help = "\
Examples:
  tidegate memory decision retract 7

The decision that it replaced counts again. An agent needs a person's yes to take back a
decision of theirs.")]
    Retract(DecisionId),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DecisionId {
    /// Number of the decision
    #[arg(value_name = "ID", value_parser = parse_id)]
    pub(crate) id: i64,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DecisionAdd {
    /// Number of the topic
    #[arg(value_name = "TOPIC", value_parser = parse_id)]
    pub(crate) topic: i64,
    /// Text of the decision; `-` reads it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["text", "reason", "topic"]))]
pub(crate) struct DecisionEdit {
    /// Number of the decision
    #[arg(value_name = "ID", value_parser = parse_id)]
    pub(crate) id: i64,
    /// Text of the decision; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// Reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Move it to this topic
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    pub(crate) topic: Option<i64>,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DecisionSupersede {
    /// Number of the decision
    #[arg(value_name = "ID", value_parser = parse_id)]
    pub(crate) id: i64,
    /// Text of the new decision; `-` reads it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A change that needs a person's yes, as the request for it shows it.
struct Change {
    /// The command without `tidegate memory decision` and `--approved`.
    command: String,
    would: Bilingual,
}

pub(super) fn run(command: &DecisionCommand) -> Outcome {
    let mut opened = Opened::to_write()?;
    let (decision, did, json) = match command {
        DecisionCommand::Add(args) => {
            let (text, reason) = (read_text(&args.text)?, args.reason.as_deref());
            opened.check_topic(args.topic)?;
            let made =
                opened.act(|memory, acting| act::add_decision(memory, acting, args.topic, &text, reason))?;
            let id = made.id;
            (made, both!("Wrote decision {id}.", "決定{id}を書き留めました。"), args.json)
        }
        DecisionCommand::Edit(args) => {
            let text = args.text.as_deref().map(read_text).transpose()?;
            opened.check_decision(args.id)?;
            args.topic.map_or(Ok(()), |topic| opened.check_topic(topic))?;
            let mut command = format!("edit {}", args.id);
            for (name, given) in [("--text", text.as_deref()), ("--reason", args.reason.as_deref())] {
                command.extend(given.map(|given| format!(" {name} {}", shell::quote_text(given))));
            }
            command.extend(args.topic.map(|topic| format!(" --topic {topic}")));
            let would = both!("This changes the decision:", "次の決定を変更します:");
            let consent =
                ask_person(&mut opened, args.id, Change { command, would }, args.approved, args.json);
            let given = match consent? {
                Consent::Given(given) => given,
                Consent::Waits(code) => return Ok(code),
            };
            let edit = act::DecisionEdit { text, reason: args.reason.clone(), topic: args.topic };
            let changed =
                opened.act(|memory, acting| act::edit_decision(memory, acting.now, args.id, &edit))?;
            record(&opened, "edit", args.id, &given);
            let id = changed.id;
            (changed, both!("Changed decision {id}.", "決定{id}を変更しました。"), args.json)
        }
        DecisionCommand::Supersede(args) => {
            let (text, reason) = (read_text(&args.text)?, args.reason.as_deref());
            opened.check_decision(args.id)?;
            let mut command = format!("supersede {} {}", args.id, shell::quote_text(&text));
            command.extend(reason.map(|reason| format!(" --reason {}", shell::quote_text(reason))));
            let would = both!("This replaces the decision:", "次の決定を置き換えます:");
            let consent =
                ask_person(&mut opened, args.id, Change { command, would }, args.approved, args.json);
            let given = match consent? {
                Consent::Given(given) => given,
                Consent::Waits(code) => return Ok(code),
            };
            let by_person = given.by_person;
            let made = opened.act(|memory, acting| {
                let by = if by_person { Some(TakenBy::Person) } else { acting.by };
                act::supersede_decision(memory, &Acting { by, ..*acting }, args.id, &text, reason)
            })?;
            record(&opened, "supersede", args.id, &given);
            let (id, old) = (made.id, args.id);
            (
                made,
                both!("Decision {id} replaces decision {old}.", "決定{old}を決定{id}に置き換えました。"),
                args.json,
            )
        }
        DecisionCommand::Confirm(args) => {
            opened.check_decision(args.id)?;
            let would = both!("This makes the decision yours:", "次の決定を確認済みにします:");
            let change = Change { command: format!("confirm {}", args.id), would };
            let given = match consent(&mut opened, args.id, change, args.approved, args.json)? {
                Consent::Given(given) => given,
                Consent::Waits(code) => return Ok(code),
            };
            let confirmed =
                opened.act(|memory, acting| act::confirm_decision(memory, acting.now, args.id))?;
            record(&opened, "confirm", args.id, &given);
            let id = confirmed.id;
            (confirmed, both!("Decision {id} is yours now.", "決定{id}を確認済みにしました。"), args.json)
        }
        DecisionCommand::Retract(args) => {
            opened.check_decision(args.id)?;
            let would = both!("This takes the decision back:", "次の決定を取り消します:");
            let change = Change { command: format!("retract {}", args.id), would };
            let given = match ask_person(&mut opened, args.id, change, args.approved, args.json)? {
                Consent::Given(given) => given,
                Consent::Waits(code) => return Ok(code),
            };
            let retracted =
                opened.act(|memory, acting| act::retract_decision(memory, acting.now, args.id))?;
            record(&opened, "retract", args.id, &given);
            let id = retracted.id;
            (retracted, both!("Took decision {id} back.", "決定{id}を取り消しました。"), args.json)
        }
    };
    if json {
        print::json(&decision);
    } else {
        let mut page = Page::of(did);
        page.indented(|page| page.pairs([decision_row(&opened.clock(), &decision).pair()]));
        page.print();
    }
    Ok(ExitCode::SUCCESS)
}

/// An agent changes its own decisions freely, and those of a person only after a yes. Without a terminal an agent may be the
/// caller even where nothing shows it.
fn ask_person(
    opened: &mut Opened,
    id: i64,
    change: Change,
    approved: bool,
    json: bool,
) -> Result<Consent, CliError> {
    let decision = opened.find_decision(id)?;
    let by_agent = approval::is_by_agent(&opened.here.env);
    let is_of_person =
        if by_agent { act::is_of_person(&decision) } else { decision.row.taken_by == Some(TakenBy::Person) };
    if is_of_person {
        return consent(opened, id, change, approved, json);
    }
    let how = if by_agent { "by an agent, whose decision it is" } else { "not a person's decision" };
    Ok(Consent::Given(Given { how: how.to_owned(), by_person: false }))
}

fn consent(
    opened: &mut Opened,
    id: i64,
    change: Change,
    approved: bool,
    json: bool,
) -> Result<Consent, CliError> {
    let decision = opened.find_decision(id)?;
    let row = decision_row(&opened.clock(), &decision).line();
    let would = [change.would, row];
    let request = Request {
        name: "memory decision",
        command: format!("memory decision {}", change.command),
        about: Some(would.iter().map(|line| line.en.trim()).collect::<Vec<_>>().join(" ")),
        would: &would,
        approved,
        json,
    };
    approval::consent_unless_typed(&opened.here, &request)
}

/// For `tidegate log`: who changed which decision, and on whose word. The texts are in the memory alone.
fn record(opened: &Opened, did: &str, id: i64, given: &Given) {
    approval::record_command(&opened.here, &format!("memory decision {did} {id}"), given, Deeds::default());
}
