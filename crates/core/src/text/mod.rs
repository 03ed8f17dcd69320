//! X

pub mod characters;
pub mod fnv;
pub mod glob;
pub mod json;
pub mod lang;
pub mod passwd;
pub mod quoted;
pub mod search;
pub mod skill_name;
pub mod yaml;
