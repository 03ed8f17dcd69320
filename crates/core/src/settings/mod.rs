//! Settings: how a section is declared, read, shown and tightened. The sections themselves are with their features.

pub mod by_path;
pub mod list;
pub mod near;
pub mod preset;
pub mod section;
pub mod setting;
pub mod value;
