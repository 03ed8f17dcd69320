//! `tidegate memory decision`.

use std::process::ExitCode;

use tidegate_memory::act;

use super::arguments::DecisionCommand;
use super::{Opened, given, list};
use crate::command::Outcome;
use crate::print;

pub(super) fn run(command: &DecisionCommand) -> Outcome {
    let mut opened = Opened::to_write()?;
    let (decision, did, json) = match command {
        DecisionCommand::Add(args) => {
            let (text, reason) = (given(&args.text)?, args.reason.as_deref());
            opened.check_topic(args.topic)?;
            let made =
                opened.act(|memory, acting| act::add_decision(memory, acting, args.topic, &text, reason))?;
            (made, "written down".to_owned(), args.json)
        }
        DecisionCommand::Edit(args) => {
            let text = args.text.as_deref().map(given).transpose()?;
            opened.check_decision(args.id)?;
            args.topic.map_or(Ok(()), |topic| opened.check_topic(topic))?;
            let edit = act::DecisionEdit { text, reason: args.reason.clone(), topic: args.topic };
            let changed =
                opened.act(|memory, acting| act::edit_decision(memory, acting.now, args.id, &edit))?;
            (changed, "changed".to_owned(), args.json)
        }
        DecisionCommand::Supersede(args) => {
            let (text, reason) = (given(&args.text)?, args.reason.as_deref());
            opened.check_decision(args.id)?;
            let made = opened
                .act(|memory, acting| act::supersede_decision(memory, acting, args.id, &text, reason))?;
            (made, format!("in the place of {}", args.id), args.json)
        }
        DecisionCommand::Retract(args) => {
            opened.check_decision(args.id)?;
            let retracted =
                opened.act(|memory, acting| act::retract_decision(memory, acting.now, args.id))?;
            (retracted, "retracted".to_owned(), args.json)
        }
    };
    if json {
        print::json(&decision);
    } else {
        print::line(&format!("decision {} is {did}", decision.id));
        print::line(&list::decision(&decision));
    }
    Ok(ExitCode::SUCCESS)
}
