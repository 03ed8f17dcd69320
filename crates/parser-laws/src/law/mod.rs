//! One file per parser of bytes that somebody else wrote.

pub mod bridge;
pub mod command_line;
pub mod config;
pub mod glob;
pub mod host_file;
pub mod manifest;
pub mod marks;
pub mod meta_tag;
pub mod payload;
pub mod phase;
pub mod record;
pub mod redact;
pub mod status_payload;
pub mod transcript;
