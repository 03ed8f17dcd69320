//! What all tasks need: the workspace, programs beside the toolchain, failures and output as people read them.

pub mod failure;
pub mod print;
pub mod tools;
pub mod workspace;
