//! The fast path: what runs on every tool call and every redraw of the status line.
//!
//! No async runtime, no database, no argument parser, no regular expression, no directory walk. `hook` reads
//! like the dataflow of the core; everything that can go wrong ends in [`failure`].

// The run, in its order.
mod arguments;
pub mod environment;
mod deadline;
mod hook;
mod gather;
mod answer;
mod later;
mod failure;

pub mod ancestry;
mod caller;
pub mod client;
mod process;
mod statusline;

pub use hook::{run as hook, run_bare as bare_hook};
pub use statusline::run as statusline;
