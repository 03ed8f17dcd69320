//! The team store on a real server. One cluster for all tests, a database for each.
#![cfg(unix)]

mod connection;
mod distrust;
mod machine;
mod members;
mod moving;
#[path = "../conformance/rows.rs"]
mod rows;
mod scene;
mod searching;
mod sharing;
