//! Replays transcripts of sessions through the core, as if Tidegate's hooks had been there.
//!
//! ```text
//! transcript ─► moments ─► payloads ─► events ─ facts, marks, policies ─► what each end of a turn would have heard
//!         └───► files of the project ─► scratch folder ─┘
//! ```
//!
//! Nothing is written outside of the scratch folder, and nothing of a transcript is kept.

#![expect(missing_docs, reason = "names say it; comments are for reasons")]

pub mod context;
mod entry;
pub mod error;
pub mod folder;
#[cfg(test)]
mod made_up;
mod members;
pub mod moment;
mod other_host;
pub mod outcome;
mod payload;
pub mod player;
pub mod report;
pub mod scratch;
pub mod seen_files;
pub mod transcript;
pub mod tuning;
pub mod turn;
mod walk;
