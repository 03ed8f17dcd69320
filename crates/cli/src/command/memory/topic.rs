//! `tidegate memory topic`.

use std::process::ExitCode;

use tidegate_memory::act;
use tidegate_memory::record::Status;
use tidegate_memory::view::Topic;

use super::arguments::TopicCommand;
use super::{Opened, list};
use crate::command::Outcome;
use crate::print;

pub(super) fn run(command: &TopicCommand) -> Outcome {
    let mut opened = Opened::to_write()?;
    let (topic, did, json) = match command {
        TopicCommand::Add(args) => {
            let project = opened.project(args.project.as_ref())?;
            project.map_or(Ok(()), |project| opened.check_own(project))?;
            args.parent.map_or(Ok(()), |parent| opened.check_topic(parent))?;
            let topic = opened
                .act(|memory, acting| act::add_topic(memory, acting, &args.title, project, args.parent))?;
            (topic, "begun", args.json)
        }
        TopicCommand::Edit(args) => {
            let edit = act::TopicEdit {
                title: args.title.clone(),
                project: opened.project(args.project.as_ref())?,
                parent: if args.no_parent { Some(None) } else { args.parent.map(Some) },
                status: None,
            };
            opened.check_topic(args.id)?;
            edit.project.map_or(Ok(()), |project| opened.check_own(project))?;
            args.parent.map_or(Ok(()), |parent| opened.check_topic(parent))?;
            (
                opened.act(|memory, acting| act::edit_topic(memory, acting.now, args.id, &edit))?,
                "changed",
                args.json,
            )
        }
        TopicCommand::Close(args) => (set(&mut opened, args.id, Status::Closed)?, "closed", args.json),
        TopicCommand::Reopen(args) => (set(&mut opened, args.id, Status::Open)?, "open again", args.json),
    };
    if json {
        print::json(&topic);
    } else {
        print::line(&format!("topic {} is {did}", topic.id));
        print::line(&list::topic(&topic));
    }
    Ok(ExitCode::SUCCESS)
}

fn set(opened: &mut Opened, id: i64, status: Status) -> Result<Topic, crate::error::CliError> {
    opened.check_topic(id)?;
    let edit = act::TopicEdit { status: Some(status), ..act::TopicEdit::default() };
    opened.act(|memory, acting| act::edit_topic(memory, acting.now, id, &edit))
}
