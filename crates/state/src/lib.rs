//! Files: everything that Tidegate reads and writes apart from standard input and output. No policy decides
//! here.
//!
//! Three classes of writes, one place each: marks, journal and bridge are appended with one `write`
//! ([`file::append`]); copies that can be made again are replaced by rename ([`file::replace::copy`]); files
//! that a person could not recreate are replaced durably, with `fsync` ([`file::replace::durable`]).
//!
//! Three files have parts of fixed size that are written in place, under a lock: `claims`, the catalogue's
//! `topics`, and the worker's `worker-started`. Damage there costs a duplicate answer, one topic in the
//! catalogue, or one start of a worker.
#![expect(missing_docs, reason = "names say it; comments are for reasons")]

// Tools: how files are read, written and locked, and where they are.
pub mod account;
pub mod child;
pub mod clock;
pub mod file;
pub mod layout;
pub mod place;
pub mod project;

// Files of the host.
pub mod host;

// Tidegate's own files.
pub mod config;
pub mod journal;
pub mod language_model;
pub mod session;

// Files of features, one module for each room of the core.
pub mod feature;
