//! Flow and stock on disk: read leniently, written so that nothing is lost.

pub mod boundary;
pub mod handoff;
pub mod json;
pub mod known;
pub mod listed;
pub mod memory;
pub mod read;
pub mod write;
