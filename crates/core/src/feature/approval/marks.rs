//! Marks for commands that wait for a person's approval.

use serde::{Deserialize, Serialize};

use crate::feature::marks::RoomMarks;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The request in its latest state.
    Approval(ApprovalRequest),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Oldest first.
    pub requests: Vec<ApprovalRequest>,
}

const REQUESTS_KEPT: usize = 8;

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        let Mark::Approval(new) = mark;
        self.requests.retain(|known| known.code != new.code);
        self.requests.push(new);
        if self.requests.len() > REQUESTS_KEPT {
            // A finished request goes first, otherwise the oldest.
            let over = |known: &ApprovalRequest| {
                use ApprovalStage::{Declined, Refused, Used, Void};
                matches!(known.stage, Used | Void | Declined | Refused)
            };
            let at = self.requests.iter().position(over).unwrap_or_default();
            self.requests.remove(at);
        }
    }

    fn short(&self) -> Vec<Mark> {
        self.requests.iter().cloned().map(Mark::Approval).collect()
    }
}

/// A request of an agent to run a command that loosens something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The person names the request by it.
    pub code: String,
    /// Without `tidegate`.
    pub command: String,
    /// The meaning, if the command alone does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Time of the request; once approved, time of the approval.
    pub at: Millis,
    /// Process of the client in which the agent runs, if known: a second client may work on the same session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<u64>,
    /// The person was shown the request without the model's help.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shown: bool,
    pub stage: ApprovalStage,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalStage {
    Asked,
    /// This tool call put it to the person.
    Questioned(String),
    Given,
    Used,
    Void,
    /// The person answered something else.
    Declined,
    /// It was approved, but not by a person.
    Refused,
}

/// Limits for text that a person approves with a code: more is not read at a glance.
const MAX_TERM_CHARS: usize = 400;
const MAX_TERM_LINES: usize = 8;

/// A request waits this long for an answer, and an approval for its use.
pub const APPROVAL_MS: u64 = 10 * 60 * 1000;

/// Letters and digits that are not mistaken for one another.
pub const CODE_LETTERS: &[u8; 31] = b"23456789ABCDEFGHJKLMNPQRSTUVWXY";

/// Short enough to type, long enough not to appear by chance.
pub const CODE_LENGTH: usize = 6;

impl ApprovalRequest {
    pub fn waits(&self, now: Millis) -> bool {
        matches!(self.stage, ApprovalStage::Asked | ApprovalStage::Questioned(_)) && self.in_time(now)
    }

    /// The client's dialog shows it to the person.
    pub fn is_in_dialog(&self) -> bool {
        matches!(self.stage, ApprovalStage::Questioned(_))
    }

    pub fn allows(&self, command: &str, about: Option<&str>, now: Millis) -> bool {
        let is_same = self.command == command && self.about.as_deref() == about;
        self.stage == ApprovalStage::Given && is_same && self.in_time(now)
    }

    /// The person has not been told yet that the approval was not used.
    pub fn is_refusal_unsaid(&self) -> bool {
        self.stage == ApprovalStage::Refused && !self.shown
    }

    fn in_time(&self, now: Millis) -> bool {
        // Tolerates a small step back of the clock; a large one may be deliberate.
        now.since(self.at) < APPROVAL_MS && self.at.since(now) < 60_000
    }

    /// The terms a person must see before approving: the whole command and, if needed, its meaning.
    pub fn terms(&self) -> impl Iterator<Item = String> {
        // A backtick would end the quoted command, and the rest would read as Tidegate's own words.
        let plain = |text: &str| text.replace('`', "'").replace('\n', "; ");
        std::iter::once(plain(&format!("tidegate {}", self.command))).chain(self.about.as_deref().map(plain))
    }

    /// The terms in one line.
    pub fn wording(&self) -> String {
        let terms: Vec<String> = self.terms().collect();
        match terms.as_slice() {
            [command, about] => format!("`{command}` ({about})"),
            _ => format!("`{}`", terms.concat()),
        }
    }

    /// The only question whose answer counts. Text around the command could reverse its meaning.
    pub fn question(&self) -> String {
        format!("Allow this once? {} (code {})", self.wording(), self.code)
    }

    /// Short enough for a person to read at a glance.
    pub fn fits_a_glance(&self) -> bool {
        let fits =
            |text: &str| text.chars().count() <= MAX_TERM_CHARS && text.lines().count() <= MAX_TERM_LINES;
        fits(&self.command) && self.about.as_deref().is_none_or(fits)
    }

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
            Mark::Approval(ApprovalRequest {
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
