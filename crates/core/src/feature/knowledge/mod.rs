//! Knowledge in files: flow, stock, and what of it a compaction must not lose. Text in, values and new text out.

pub mod apart;
pub mod boundary;
pub mod compaction;
pub mod compound_nudge;
pub mod document;
pub mod entry_id;
pub mod facts;
pub mod flow;
pub mod handoff;
pub mod key_facts;
pub mod plan;
pub mod preserved;
pub mod similarity;
pub mod stock;
pub mod survival;
mod terms;
pub mod timestamp;
pub mod tracked;
pub mod words;
