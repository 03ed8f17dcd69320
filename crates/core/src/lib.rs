//! Tidegate's pure core: no file, no clock, no environment, no thread.
//!
//! Four layers, each of which uses only itself and those above it in this file; `cargo xtask layers` checks that.
//!
//! ```text
//! bytes ─ host ─► Event ─ feature ─► Facts ─ pipeline ─► Ruling ─► Outcome ─ host ─► Reply
//!                                                          └──────► Record
//! ```
//!
//! Everything that reads or writes is in the crates `state` and `hook`. A policy declares the facts it needs
//! ([`feature::facts::Needs`]) and returns its effects as data ([`feature::verdict::Effect`]).
#![deny(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the core is pure: facts come in as arguments, effects go out as data"
)]
#![expect(missing_docs, reason = "names say it; comments are for reasons")]

// 1. Text tools: know nothing of agents.
pub mod text;
pub mod time;
pub mod file_class;
pub mod shell;
pub mod redact;
pub mod settings;

// 2. Hosts and events: the messages of an agent program, in values that are the same for all of them.
pub mod event;
pub mod host;
pub mod meter;
pub mod language_model;

// 3. Features: one room each, and one list.
pub mod feature;

// 4. The pipeline: from an event to its answer and its record.
pub mod pipeline;
