//! The fast path: what runs on every tool call and every redraw of the status line.
//!
//! No async runtime, no database, no argument parser, no regular expression, no directory walk. `hook` reads
//! like the dataflow of the core; everything that can go wrong ends in [`failure`].

mod answer;
mod arguments;
mod deadline;
pub mod environment;
mod failure;
pub mod gather;
mod hook;
mod later;
mod statusline;

pub use hook::run as hook;
pub use statusline::run as statusline;
