//! `tidegate memory topic`.

use std::process::ExitCode;

use tidegate_memory::act;
use tidegate_memory::record::TopicStatus;
use tidegate_memory::view::Topic;

use super::row_words::topic_row;
use super::{IdArgs, Opened, parse_id};
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::print;
use crate::print::page::Page;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum TopicCommand {
    /// Add a topic
    #[command(after_help = "\
Examples:
  tidegate memory topic add \"Search in two languages\"
  tidegate memory topic add \"Snippets\" --parent 12
  tidegate memory topic add \"Prices\" --project shop")]
    Add(TopicAdd),
    /// Change a topic's title, project or parent
    #[command(after_help = "\
Examples:
  tidegate memory topic edit 12 --title \"Search\"
  tidegate memory topic edit 12 --project harbour
  tidegate memory topic edit 12 --no-parent

An automatic topic becomes a normal one once you give it a title.")]
    Edit(TopicEdit),
    /// Close a topic
    #[command(after_help = "Examples:\n  tidegate memory topic close 12")]
    Close(IdArgs),
    /// Open a closed topic again
    #[command(after_help = "Examples:\n  tidegate memory topic reopen 12")]
    Reopen(IdArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct TopicAdd {
    /// Title in one line
    #[arg(value_name = "TITLE")]
    pub(crate) title: String,
    /// Its project: name, id or a folder in it; without it, that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Topic that it is a part of
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    pub(crate) parent: Option<i64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["title", "project", "parent", "no_parent"]))]
pub(crate) struct TopicEdit {
    /// Number of the topic
    #[arg(value_name = "ID", value_parser = parse_id)]
    pub(crate) id: i64,
    /// New title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// New project: name, id or a folder in it
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Topic that it is a part of
    #[arg(long, value_name = "ID", value_parser = parse_id, conflicts_with = "no_parent")]
    pub(crate) parent: Option<i64>,
    /// Make it a topic of its own
    #[arg(long)]
    pub(crate) no_parent: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(command: &TopicCommand) -> Outcome {
    let mut opened = Opened::to_write()?;
    let (topic, did, json) = match command {
        TopicCommand::Add(args) => {
            let project = opened.project(args.project.as_ref())?;
            project.map_or(Ok(()), |project| opened.check_own(project))?;
            args.parent.map_or(Ok(()), |parent| opened.check_topic(parent))?;
            let added = opened
                .act(|memory, acting| act::add_topic(memory, acting, &args.title, project, args.parent))?;
            let did = if added.is_new {
                both!("Added", "追加しました")
            } else {
                both!("Open already", "同じ題名で開いています")
            };
            (added.topic, did, args.json)
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
                both!("Changed", "変更しました"),
                args.json,
            )
        }
        TopicCommand::Close(args) => (
            set_status(&mut opened, args.id, TopicStatus::Closed)?,
            both!("Closed", "終了しました"),
            args.json,
        ),
        TopicCommand::Reopen(args) => (
            set_status(&mut opened, args.id, TopicStatus::Open)?,
            both!("Reopened", "再開しました"),
            args.json,
        ),
    };
    if json {
        print::json(&topic);
    } else {
        let (id, Bilingual { en, ja }) = (topic.id, did);
        let mut page = Page::of(both!("{en} topic {id}.", "トピック{id}を{ja}。"));
        page.indented(|page| page.pairs([topic_row(&opened.clock(), &topic).pair()]));
        page.print();
    }
    Ok(ExitCode::SUCCESS)
}

fn set_status(opened: &mut Opened, id: i64, status: TopicStatus) -> Result<Topic, crate::error::CliError> {
    opened.check_topic(id)?;
    let edit = act::TopicEdit { status: Some(status), ..act::TopicEdit::default() };
    opened.act(|memory, acting| act::edit_topic(memory, acting.now, id, &edit))
}
