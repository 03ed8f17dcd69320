//! What holds for every parser, whatever bytes it gets. `tests/replay.rs` asks for kept inputs and mutations of them, and the targets in
//! `fuzz` for everything that a fuzzer finds.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate: a comment has to say more than the name"
)]

pub mod law;

/// A law panics if it does not hold.
pub type Law = fn(&[u8]);

/// By the folder of their inputs.
pub const LAWS: [(&str, Law); 14] = [
    ("bridge", law::bridge::holds),
    ("command_line", law::command_line::holds),
    ("config", law::config::holds),
    ("glob", law::glob::holds),
    ("host_file", law::host_file::holds),
    ("manifest", law::manifest::holds),
    ("marks", law::marks::holds),
    ("meta_tag", law::meta_tag::holds),
    ("payload", law::payload::holds),
    ("phase", law::phase::holds),
    ("record", law::record::holds),
    ("redact", law::redact::holds),
    ("status_payload", law::status_payload::holds),
    ("transcript", law::transcript::holds),
];
