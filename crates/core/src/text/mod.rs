//! Text tools: they know nothing of agents.

pub mod cut;
pub mod fnv;
pub mod fold;
pub mod glob;
pub mod hidden;
pub mod japanese;
pub mod json;
pub mod lang;
pub mod list;
pub mod one_line;
pub mod passwd;
pub mod patch;
pub mod question;
pub mod quoted;
pub mod reserved;
pub mod search;
pub mod short_id;
pub mod skill_name;
pub mod stem;
pub mod terminal;
pub mod tokens;
pub mod word_list;
pub mod wrapped;
pub mod yaml;
