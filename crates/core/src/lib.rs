//! Tidegate's pure core: no file, no clock, no environment, no thread.
//!
//! The modules stand in the order in which an event passes through them:
//!
//! ```text
//! bytes ─ event ─► Event ─ facts ─► Facts ─ policy ─► Verdict… ─ ruling ─► Ruling ─ reply ─► Reply
//!                           ▲                                        └──── record ─► Record
//!                         meter
//! ```
//!
//! Everything that reads or writes is in the crates `state` and `hook`. What a policy wants done afterwards
//! it returns as data ([`verdict::Effect`]); what it wants to know it declares ([`facts::Needs`]).
#![deny(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the core is pure: facts come in as arguments, effects go out as data"
)]

// In the order of the dataflow.
pub mod event;
pub mod facts;
pub mod meter;
pub mod policy;
pub mod verdict;
pub mod ruling;
pub mod reply;
pub mod record;
pub mod friction;

// What they all use.
pub mod checks;
pub mod config;
pub mod cycle;
pub mod file_class;
pub mod fnv;
pub mod gate;
pub mod glob;
pub mod host;
pub mod host_file;
pub mod knowledge;
pub mod memory;
pub mod person;
pub mod phase;
pub mod question;
pub mod redact;
pub mod search;
pub mod shell;
pub mod time;
pub mod words;
pub mod workflow;
