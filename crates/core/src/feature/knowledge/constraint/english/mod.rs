//! Whose words an English sentence is.

mod others;
mod words;

pub(super) use others::is_of_others;
