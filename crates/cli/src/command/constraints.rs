//! `tidegate constraints`: the limits that a person set in prompts of a session, and the way to drop a wrong one.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::knowledge::constraint::MOST_OF_PROMPT;
use tidegate_core::feature::knowledge::marks::{MOST_CONSTRAINTS, Mark, StatedConstraint};
use tidegate_core::feature::marks::Mark as AnyMark;
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::text::one_line::one_line;
use tidegate_core::time::Millis;
use tidegate_state::session::marks;

use super::Outcome;
use crate::approval::{self, Consent, Request};
use crate::bilingual::both;
use crate::error::CliError;
use crate::host::agent_name;
use crate::local_time::LocalClock;
use crate::own_session;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data, prose};
use crate::sessions::{Here, Session};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate constraints
  tidegate constraints --drop 3fa2b1

Tidegate finds sentences in your prompts that forbid, require or limit something, and
gives them back to the agent when a compaction loses them. You can also take one back
in a prompt (\"forget the rule about dependencies\"). Called by an agent, --drop prints
a code that only a person can approve.

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

#[derive(Serialize)]
struct Listing {
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    constraints: Vec<ShownConstraint>,
    /// What the last prompt allows for this once.
    allowed_once: Vec<String>,
    /// There was no room for them.
    left_out: Vec<String>,
    other_sessions: Vec<OtherSession>,
}

/// Another session with constraints.
#[derive(Serialize)]
struct OtherSession {
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    constraints: usize,
}

/// The newest ones; a person has many old ones.
const MOST_OTHERS: usize = 5;

impl Listing {
    fn of(session: &Session, all: &[Session]) -> Listing {
        let knowledge = &session.marks.knowledge;
        let others = all
            .iter()
            .filter(|other| other.id != session.id && !other.marks.knowledge.constraints.is_empty());
        let other = |other: &Session| OtherSession {
            session: other.id.to_string(),
            project: other.marks.session.root.clone(),
            constraints: other.marks.knowledge.constraints.len(),
        };
        Listing {
            session: session.id.to_string(),
            project: session.marks.session.root.clone(),
            constraints: knowledge.constraints.iter().map(ShownConstraint::of).collect(),
            allowed_once: knowledge.allowed_once.clone(),
            left_out: knowledge.left_out.clone(),
            other_sessions: others.take(MOST_OTHERS).map(other).collect(),
        }
    }

    fn page(&self, clock: &LocalClock) -> Page {
        let (id, project) = (&self.session, self.project.as_deref().map(one_line));
        let of = match &project {
            Some(project) => both!("Session {id} in {project}:", "セッション {id}（{project}）:"),
            None => both!("Session {id}:", "セッション {id}:"),
        };
        let mut page = Page::of(of);
        if self.constraints.is_empty() {
            page.paragraph(both!(
                "Tidegate found no limits in the prompts of this session.",
                "このセッションのプロンプトに制約は見つかっていません。"
            ));
        }
        for constraint in &self.constraints {
            page.item(constraint.line(clock));
        }
        let lists = [
            (
                &self.allowed_once,
                both!(
                    "Your last prompt allows for this once:",
                    "直前のプロンプトが今回だけ許可していること:"
                ),
            ),
            (
                &self.left_out,
                both!(
                    "No longer kept (the newest {MOST_CONSTRAINTS} are, at most {MOST_OF_PROMPT} of one prompt):",
                    "残していない制約（新しい{MOST_CONSTRAINTS}件、1プロンプト{MOST_OF_PROMPT}件まで）:"
                ),
            ),
        ];
        for (texts, title) in lists {
            if !texts.is_empty() {
                page.gap();
                page.paragraph(title);
                for text in texts {
                    page.item(prose(text));
                }
            }
        }
        if !self.other_sessions.is_empty() {
            page.gap();
            page.paragraph(both!(
                "Other sessions (`--session ID` lists one):",
                "ほかのセッション（`--session ID` で表示）:"
            ));
        }
        for OtherSession { session, project, constraints } in &self.other_sessions {
            let project = project.as_deref().map(one_line).unwrap_or_default();
            page.item(data(session) + prose(&format!("  {constraints}  {project}")));
        }
        page
    }
}

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
        let listing = Listing::of(&session, &here.all());
        if args.json {
            print::json(&listing);
        } else {
            listing.page(&LocalClock::of_system(here.now)).print();
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
            "{agent} would no longer be reminded after a compaction: \"{text}\"",
            "圧縮後に {agent} へ戻さなくなります: 「{text}」",
            agent = agent_name(session.id.host().name())
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
