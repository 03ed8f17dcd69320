//! Files of hosts, one folder for each, and transcripts, whose lines each host parses in its own way.

pub mod claude_code;
pub mod transcript;
