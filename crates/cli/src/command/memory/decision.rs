//! `tidegate memory decision`.

use std::process::ExitCode;

use tidegate_memory::act;

use super::row_words::decision_row;
use super::{IdArgs, Opened, parse_id, read_text};
use crate::approval;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;

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
  tidegate memory decision edit 7 --topic 14")]
    Edit(DecisionEdit),
    /// Replace a decision by a new one
    #[command(after_help = "\
Examples:
  tidegate memory decision supersede 7 \"Bigrams and single characters\"")]
    Supersede(DecisionSupersede),
    /// Stand by a decision that an agent wrote down
    #[command(after_help = "\
Examples:
  tidegate memory decision confirm 7

Only a person can do this, at a terminal.")]
    Confirm(IdArgs),
    /// Take a decision back
    #[command(after_help = "\
Examples:
  tidegate memory decision retract 7

The decision that it replaced counts again.")]
    Retract(IdArgs),
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
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
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
            let edit = act::DecisionEdit { text, reason: args.reason.clone(), topic: args.topic };
            let changed =
                opened.act(|memory, acting| act::edit_decision(memory, acting.now, args.id, &edit))?;
            let id = changed.id;
            (changed, both!("Changed decision {id}.", "決定{id}を変更しました。"), args.json)
        }
        DecisionCommand::Supersede(args) => {
            let (text, reason) = (read_text(&args.text)?, args.reason.as_deref());
            opened.check_decision(args.id)?;
            let made = opened
                .act(|memory, acting| act::supersede_decision(memory, acting, args.id, &text, reason))?;
            let (id, old) = (made.id, args.id);
            (
                made,
                both!("Decision {id} replaces decision {old}.", "決定{old}を決定{id}に置き換えました。"),
                args.json,
            )
        }
        DecisionCommand::Confirm(args) => {
            check_person(&opened, args.id)?;
            opened.check_decision(args.id)?;
            let confirmed =
                opened.act(|memory, acting| act::confirm_decision(memory, acting.now, args.id))?;
            let id = confirmed.id;
            (confirmed, both!("Decision {id} is yours now.", "決定{id}を確認済みにしました。"), args.json)
        }
        DecisionCommand::Retract(args) => {
            opened.check_decision(args.id)?;
            let retracted =
                opened.act(|memory, acting| act::retract_decision(memory, acting.now, args.id))?;
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

fn check_person(opened: &Opened, id: i64) -> Result<(), CliError> {
    if !approval::is_by_agent(&opened.here.env) {
        return Ok(());
    }
    Err(CliError::new(both!(
        "nothing was changed: only a person can confirm a decision",
        "何も変更していません。決定を確認できるのは人だけです"
    ))
    .hint(both!(
        "ask the person to run `tidegate memory decision confirm {id}` at a terminal",
        "人に端末で `tidegate memory decision confirm {id}` を実行してもらってください"
    )))
}
