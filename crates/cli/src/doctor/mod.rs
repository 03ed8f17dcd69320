//! What can go wrong in the field, and how to mend each.
//!
//! Everything is read once and bounded (`gathered`), then looked at by one check after the other (`check`). Whatever is
//! broken is a finding; doctor itself works without a home, without a state directory and without a project.

pub(crate) mod check;
pub(crate) mod finding;
pub(crate) mod gathered;
pub(crate) mod history;
