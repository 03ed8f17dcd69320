//! Commands that wait for a person.

use serde::{Deserialize, Serialize};

use crate::feature::marks::RoomMarks;
use crate::time::Millis;

/// One mark, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A command that waits for a person, and how far it has come.
    Approval(Approval),
}

/// The marks, folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Commands that waited for a person, oldest first.
    pub requests: Vec<Approval>,
}

/// Old requests are forgotten beyond so many.
const REQUESTS_KEPT: usize = 8;

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        let Mark::Approval(new) = mark;
        self.requests.retain(|known| known.code != new.code);
        self.requests.push(new);
        if self.requests.len() > REQUESTS_KEPT {
            // One that can come to nothing any more, else the oldest.
            let over = |known: &Approval| {
                matches!(known.stage, ApprovalStage::Used | ApprovalStage::Void | ApprovalStage::Refused)
            };
            let at = self.requests.iter().position(over).unwrap_or_default();
            self.requests.remove(at);
        }
    }

    fn short(&self) -> Vec<Mark> {
        self.requests.iter().cloned().map(Mark::Approval).collect()
    }
}

/// A command that loosens something, called by an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// What a person names it by.
    pub code: String,
    /// The command, without our own name.
    pub command: String,
    /// What that means, where the command does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// When it was asked for or, later, approved.
    pub at: Millis,
    /// The process of the client that the agent runs in, where it says so: a second client may work on the same session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<u64>,
    /// The person was shown what they are asked for, without the model's help.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shown: bool,
    /// How far it has come.
    pub stage: ApprovalStage,
}

/// How far a request has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalStage {
    /// It waits.
    Asked,
    /// It waits, and this tool call has put it to the person.
    Questioned(String),
    /// A person said yes.
    Given,
    /// The command ran.
    Used,
    /// It cannot be approved any more.
    Void,
    /// A yes was there, and turned out not to be a person's.
    Refused,
}

/// Characters and lines of what a person approves with a code: more is not read at a glance.
const LONGEST_TERM: usize = 400;
const MOST_LINES: usize = 8;

/// How long a request waits for its answer, and an approval for its use.
pub const APPROVAL_MS: u64 = 10 * 60 * 1000;

/// Letters and digits that are not taken for one another.
pub const CODE_LETTERS: &[u8; 31] = b"23456789ABCDEFGHJKLMNPQRSTUVWXY";

/// Short enough to type, long enough not to turn up by chance.
pub const CODE_LENGTH: usize = 6;

impl Approval {
    /// Whether a person could still say yes.
    pub fn waits(&self, now: Millis) -> bool {
        matches!(self.stage, ApprovalStage::Asked | ApprovalStage::Questioned(_)) && self.in_time(now)
    }

    /// Whether this command, with this meaning, may run now.
    pub fn allows(&self, command: &str, about: Option<&str>, now: Millis) -> bool {
        let is_same = self.command == command && self.about.as_deref() == about;
        self.stage == ApprovalStage::Given && is_same && self.in_time(now)
    }

    /// Whether the person has yet to be told that their approval was not used.
    pub fn is_refusal_unsaid(&self) -> bool {
        self.stage == ApprovalStage::Refused && !self.shown
    }

    fn in_time(&self, now: Millis) -> bool {
        // The clock may have been set back, by a little on its own, by more by somebody.
        now.since(self.at) < APPROVAL_MS && self.at.since(now) < 60_000
    }

    /// What a person has to be shown before a yes to it counts: the whole command, and what it means where the command does
    /// not tell.
    pub fn terms(&self) -> impl Iterator<Item = String> {
        // A backtick would end the quoted command, and the rest would read as Tidegate's own words.
        let plain = |text: &str| text.replace('`', "'").replace('\n', "; ");
        std::iter::once(plain(&format!("tidegate {}", self.command))).chain(self.about.as_deref().map(plain))
    }

    /// The same in one line.
    pub fn wording(&self) -> String {
        let terms: Vec<String> = self.terms().collect();
        match terms.as_slice() {
            [command, about] => format!("`{command}` ({about})"),
            _ => format!("`{}`", terms.concat()),
        }
    }

    /// The one question whose answer counts. Text around the command could turn its meaning into the opposite.
    pub fn question(&self) -> String {
        format!("Allow this once? {} (code {})", self.wording(), self.code)
    }

    /// Whether a person can take in at a glance what they approve.
    pub fn fits_a_glance(&self) -> bool {
        let fits = |text: &str| text.chars().count() <= LONGEST_TERM && text.lines().count() <= MOST_LINES;
        fits(&self.command) && self.about.as_deref().is_none_or(fits)
    }

    /// Whether a text could be a code.
    pub fn is_code(text: &str) -> bool {
        text.len() == CODE_LENGTH && text.bytes().all(|b| CODE_LETTERS.contains(&b.to_ascii_uppercase()))
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        ("[A-Y2-9]{2}", 0u64..1 << 40).prop_map(|(code, at)| {
            Mark::Approval(Approval {
                code,
                command: "off skill-gate".into(),
                about: None,
                at: Millis(at),
                client: Some(at),
                shown: at % 2 == 0,
                stage: if at % 3 == 0 {
                    ApprovalStage::Used
                } else {
                    ApprovalStage::Questioned("toolu_1".into())
                },
            })
        })
    }
}
