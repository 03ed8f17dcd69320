//! Shared by all tasks: the workspace, external programs, failures and output.

pub mod failure;
pub mod print;
pub mod tools;
pub mod workspace;
