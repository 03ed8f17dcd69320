//! One contract, every store.

#![expect(clippy::unwrap_used, reason = "whatever cannot be had ends a test")]

mod laws;
mod rows;

#[cfg(unix)]
mod postgres;
mod sqlite;
