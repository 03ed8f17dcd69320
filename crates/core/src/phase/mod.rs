//! What a prompt asks for: a linear classifier over hashed features, trained from `corpus/phase`.
//!
//! ```text
//! prompt ─ excerpt ─► lines that a person wrote ─ tokens ─► tokens ─ features ─► hashes ─ table ─► scores ─► Guess
//! ```
//!
//! English and Japanese have a table of weights each. Nothing here depends on the platform: only additions,
//! multiplications, divisions and square roots, which are the same everywhere, so that `cargo xtask train-phase`
//! can compare what it trains to the byte.

pub mod exponential;
pub mod features;
pub mod lexicon;
pub mod table;
mod excerpt;
mod tokens;

use serde::{Deserialize, Serialize};

use features::Features;
use table::Table;

/// What a prompt asks for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Finding out, explaining, comparing; no file changes.
    Research,
    /// Ideas, options, thinking aloud.
    Brainstorm,
    /// Requirements, acceptance criteria, scope.
    Spec,
    /// Architecture, interfaces, schemas, a decision on how.
    Design,
    /// Tasks, order, estimates.
    Plan,
    /// Changing files: code, tests, config, documents.
    Implement,
    /// Something is broken.
    Debug,
    /// Judging existing work.
    Review,
    /// Commit, push, pull request, release, deploy.
    Ship,
    /// Looking back, lessons, what was done.
    Reflect,
    /// Confirmations, answers, small talk.
    Other,
}

impl Phase {
    /// All of them; a phase's place here is its place in the weights.
    pub const ALL: [Phase; 11] = [
        Phase::Research,
        Phase::Brainstorm,
        Phase::Spec,
        Phase::Design,
        Phase::Plan,
        Phase::Implement,
        Phase::Debug,
        Phase::Review,
        Phase::Ship,
        Phase::Reflect,
        Phase::Other,
    ];

    /// As it stands in configs, records and the corpus.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Research => "research",
            Phase::Brainstorm => "brainstorm",
            Phase::Spec => "spec",
            Phase::Design => "design",
            Phase::Plan => "plan",
            Phase::Implement => "implement",
            Phase::Debug => "debug",
            Phase::Review => "review",
            Phase::Ship => "ship",
            Phase::Reflect => "reflect",
            Phase::Other => "other",
        }
    }

    /// The phase of this name.
    pub fn named(name: &str) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// A phase, and how sure the classifier is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Guess {
    /// The likeliest phase.
    pub phase: Phase,
    /// How likely it is right: 0 to 1.
    pub confidence: f64,
}

/// Written by `cargo xtask train-phase --write`.
static PARAMETERS: &[u8] = include_bytes!("parameters.bin");

/// What a prompt asks for. One that says nothing is [`Phase::Other`].
pub fn classify(prompt: &str) -> Guess {
    let table = |language| Table::read(PARAMETERS, language);
    let features =
        Features::of(prompt, |language| table(language).map(|table| table.lexicon).unwrap_or_default());
    match table(features.language) {
        Some(table) if !features.is_empty() => table::guess(&table.scores(&features)),
        _ => Guess { phase: Phase::Other, confidence: 1.0 },
    }
}
