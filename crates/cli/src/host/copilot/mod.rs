//! Copilot CLI: its files, and what Tidegate puts into them or checks in them.

pub(crate) mod check;
pub(crate) mod plan;
pub(crate) mod registrations;
