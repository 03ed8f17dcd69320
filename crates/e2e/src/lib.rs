//! The end-to-end bench: the real client and other hosts, in a home of their own, against a scripted model on loopback.
//!
//! A test says what the model answers ([`model`]), starts the client ([`client`], [`terminal`]) in a fresh home
//! ([`home`]), and then asserts on three things only: what the model was sent, what the user was shown, and what is
//! on disk afterwards. Nothing here reaches beyond the loopback interface, nothing of the caller's environment is
//! passed on, and every wait has an end.

mod cache;
pub mod client;
pub mod home;
pub mod hooks;
#[cfg(unix)]
pub mod host;
pub mod model;
#[cfg(unix)]
pub mod openai;
#[cfg(unix)]
pub mod plugin;
pub mod prefix;
mod server;
mod slots;
pub mod terminal;
pub mod tidegate;
pub mod wire;
