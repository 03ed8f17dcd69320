//! Hosts as processes, one folder for each.

pub mod claude_code;
