//! `tidegate constraints`: the limits that a person set in prompts of a session, and the way to drop a wrong one.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::knowledge::marks::{Mark, StatedConstraint};
use tidegate_core::feature::marks::Mark as AnyMark;
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::text::one_line::one_line;
use tidegate_core::time::Millis;
use tidegate_state::session::marks;

use super::Outcome;
use crate::approval::{self, Consent, Request};
use crate::bilingual::both;
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::own_session;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data, prose};
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate constraints
  tidegate constraints --drop 3fa2b1

Tidegate finds sentences in your prompts that forbid, require or limit something, and
gives them back to Claude when a compaction loses them. You can also take one back in
a prompt (\"forget the rule about dependencies\"). Called by an agent, --drop prints a
code that only a person can approve.

Exit codes: 0 done, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// Drop the constraint with this id
    #[arg(long, value_name = "ID")]
    pub(crate) drop: Option<String>,
    /// Use this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Use the approval that a person gave in this session
    #[arg(long, requires = "drop")]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
pub(super) struct ShownConstraint {
    pub(super) id: String,
    /// In the words of the person.
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<String>,
}

/// Enough for twenty constraints.
const ID_LENGTH: usize = 6;

impl ShownConstraint {
    pub(super) fn of(constraint: &StatedConstraint) -> ShownConstraint {
        let mut id = format!("{:016x}", constraint.hash());
        id.truncate(ID_LENGTH);
        ShownConstraint { id, text: constraint.text.clone(), said: constraint.at.map(Millis::iso) }
    }

    pub(super) fn line(&self, clock: &LocalClock) -> Text {
        let said = self.said.as_deref().and_then(Millis::from_iso).map(|at| clock.minute_with_zone(at));
        let at = said.map(|at| both!(" (said {at})", "（{at}）")).unwrap_or_default();
        data(&self.id) + data("  ") + prose(&self.text) + Text::from(at).dim()
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    let session = here.session(args.session.as_deref())?;
    let constraints = &session.marks.knowledge.constraints;
    let Some(id) = &args.drop else {
        let shown: Vec<ShownConstraint> = constraints.iter().map(ShownConstraint::of).collect();
        if args.json {
            print::json(&shown);
        } else {
            list_page(&shown, &LocalClock::of_system(here.now)).print();
        }
        return Ok(ExitCode::SUCCESS);
    };
    let Some(constraint) = constraints.iter().find(|known| ShownConstraint::of(known).id == *id) else {
        let id = one_line(id);
        return Err(CliError::new(both!(
            "no constraint of this session has the id {id}",
            "このセッションに ID {id} の制約はありません"
        ))
        .hint(both!("`tidegate constraints` lists them", "一覧: `tidegate constraints`")));
    };
    own_session::check(&here, &session)?;
    let text = one_line(&constraint.text);
    let request = Request {
        name: "constraints",
        command: format!(
            "constraints --drop {} --session {}",
            ShownConstraint::of(constraint).id,
            session.id
        ),
        about: Some(text.clone()),
        would: &[both!(
            "Claude would no longer be reminded after a compaction: \"{text}\"",
            "圧縮後に Claude へ戻さなくなります: 「{text}」"
        )],
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::ask_consent(&here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    let lifted = [Mark::ConstraintLifted(constraint.hash()), Mark::LiftTold].map(AnyMark::from);
    marks::lock_shared(&here.state.session(&session.id))
        .and_then(|lock| lock.append(&lifted))
        .map_err(CliError::new)?;
    approval::record_command(&here, &request.command, &given, Deeds::default());
    if args.json {
        print::json(&ShownConstraint::of(constraint));
    } else {
        Page::of(both!("Dropped: \"{text}\"", "外しました: 「{text}」")).print();
    }
    Ok(ExitCode::SUCCESS)
}

fn list_page(constraints: &[ShownConstraint], clock: &LocalClock) -> Page {
    if constraints.is_empty() {
        return Page::of(both!(
            "Tidegate found no limits in the prompts of this session.",
            "このセッションのプロンプトに制約は見つかっていません。"
        ));
    }
    let mut page = Page::new();
    for constraint in constraints {
        page.item(constraint.line(clock));
    }
    page
}
