//! The files of hosts, one folder for each.

pub mod claude_code;
