//! What is remembered of conversations: the part of it that needs no store.
//!
//! A hook leaves a [`job`] and reads the [`catalogue`]; both are small files. What the store holds and how it is
//! searched is in the crate `memory`, which no hook is linked against.

pub mod answer;
pub mod automatic;
pub mod call;
pub mod catalogue;
pub mod job;
pub mod meta_tag;
pub mod facts;
pub mod relay;
pub mod relay_log;
pub mod settings;
pub mod shown;
pub mod summary;
pub mod tag;
pub mod topic_decision;
mod words;
