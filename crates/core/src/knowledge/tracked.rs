//! The persistence files of a project, by names and numbers.
