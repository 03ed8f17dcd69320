//! Known ways in which an installation fails, each with its fix.
//!
//! Everything is read once and bounded (`gathered`), then looked at by one check after the other (`check`), and shown on a
//! page (`page`). Anything broken is a finding; doctor itself works without a home, without a state directory and without a
//! project.

pub(crate) mod check;
pub(crate) mod finding;
pub(crate) mod gathered;
pub(crate) mod history;
pub(crate) mod page;
