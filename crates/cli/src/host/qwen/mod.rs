//! Qwen Code: its settings file, and what Tidegate puts into it or checks in it.

pub(crate) mod check;
pub(crate) mod registrations;
