//! Shared by all tasks: the workspace, external programs, failures and output.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate: a comment has to say more than the name"
)]

pub mod failure;
pub mod print;
pub mod room;
pub mod shipped;
pub mod tools;
pub mod workspace;
