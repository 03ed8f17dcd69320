//! X

pub mod by_path;
pub mod list;
pub mod near;
pub mod preset;
pub mod section;
pub mod setting;
pub mod value;
