//! Workflows: phases with a manifest on disk, and gates between some of them.

pub mod estimate;
