//! Files: what Tidegate reads and writes outside of a pipe. No policy, no decision.
//!
//! Three classes of writes, each in one place: marks, journal and bridge are appended with one `write`
//! ([`file::append`]); copies that can be made again are replaced by rename ([`file::replace`]); what a person could not
//! recreate is replaced durably, with `fsync` ([`file::replace`] too).

// How files are read, written and locked, and where they are.
pub mod account;
pub mod child;
pub mod clock;
pub mod file;
pub mod place;
pub mod project;

// The files of the host.
pub mod host;

// Tidegate's own files.
pub mod config;
pub mod journal;
pub mod language_model;
pub mod session;

// The files of features.
pub mod feature;
