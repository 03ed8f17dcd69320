//! The persistence files as they are.
