//! Workflows: phases with a manifest on disk, and gates between some of them.
//!
//! What a workflow is comes from the config ([`definition`]), where one stands from its manifest ([`manifest`], which is read and
//! changed as text: [`yaml`]). What a gate wants is checked ([`check`]) and reported ([`report`]).

pub mod check;
pub mod definition;
pub mod estimate;
pub mod manifest;
pub mod report;
pub mod yaml;

pub use definition::{Gate, Phase, Workflow};

/// The workflow that is there without any config.
pub const BUILT_IN: &str = "feature";
