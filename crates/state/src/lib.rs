//! Files: what Tidegate reads and writes outside of a pipe. No policy, no decision.
//!
//! Three classes of writes, each in one place: marks, journal and bridge are appended with one `write`
//! ([`append`]); copies that can be made again are replaced by rename ([`replace`]); what a person could not
//! recreate is replaced durably, with `fsync` ([`replace`] too).

pub mod append;
pub mod bounded;
pub mod lock;
mod private;
pub mod replace;

pub mod place;
pub mod project;

pub mod boundary;
pub mod bridge;
pub mod calls;
pub mod checks;
pub mod claims;
pub mod clock;
pub mod config;
mod copies;
pub mod cycle;
pub mod fork;
pub mod friction;
pub mod host_settings;
pub mod journal;
pub mod knowledge;
pub mod marks;
pub mod memory;
pub mod off;
pub mod own_files;
pub mod pressure_file;
pub mod touched;
pub mod transcript;
pub mod trust;
pub mod workflow;
pub mod worktree;
