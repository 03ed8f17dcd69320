//! The memory: relays, topics and decisions in a searchable store.
//!
//! ```text
//! job ─ relay ─► redacted, summed up ─ Record ─► local store ─ delivery ─► team store
//!                                                     │
//!                                                     ├─ search, lists ─► commands, MCP tools
//!                                                     └─ catalogue ─► hooks
//! ```
//!
//! Writes and transfers use a [`record::Record`], reads return a [`view`]. Both stores implement
//! [`store::Store`].

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate: a comment has to say more than the name"
)]

pub mod record;
pub mod view;
pub mod error;
pub mod store;
pub mod postgres;

pub mod text;

mod answer;

pub mod sqlite;
pub mod team;

pub mod memory;

pub mod act;

pub mod worker;

pub mod import;
