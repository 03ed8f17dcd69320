//! The fast path: runs on every tool call and every redraw of the status line.
//!
//! No async runtime, no database, no argument parser, no regular expression, no directory walk.
#![expect(missing_docs, reason = "names say it; comments are for reasons")]

pub mod environment;
mod hook;
pub mod host;
mod patience;
pub mod process;
mod statusline;

pub use hook::{run as hook, run_bare as bare_hook};
pub use statusline::run as statusline;
