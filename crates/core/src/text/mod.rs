//! X

pub mod characters;
pub mod fnv;
pub mod glob;
pub mod json;
pub mod lang;
pub mod quoted;
pub mod search;
pub mod yaml;
