//! The files of features, one module for each.

pub mod cycle;
pub mod knowledge;
pub mod memory;
pub mod pressure;
pub mod verification;
pub mod workflow;
pub mod worktree;
