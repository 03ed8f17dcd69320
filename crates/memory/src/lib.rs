//! The memory: relays, topics and decisions in a store that is searched.
//!
//! ```text
//! job ─ relay ─► redacted, summed up ─ Record ─► local store ─ delivery ─► team store
//!                                                     │
//!                                                     ├─ search, lists ─► commands, MCP tools
//!                                                     └─ catalogue ─► hooks
//! ```
//!
//! What is written and moved is a [`record::Record`]; what is read is a [`view`]. Both stores keep one contract
//! ([`store::Store`]).

pub mod record;
pub mod view;
pub mod error;
pub mod store;
pub mod postgres;

pub mod text;

pub mod sqlite;
pub mod team;

pub mod memory;

pub mod act;

pub mod worker;
