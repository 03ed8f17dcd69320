//! Qwen Code's files.

pub mod settings;
