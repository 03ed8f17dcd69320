//! The end-to-end bench: the real client, in a home of its own, against a scripted model on loopback.
//!
//! A test says what the model answers ([`model`]), starts the client ([`client`], [`terminal`]) in a fresh home
//! ([`home`]), and then asserts on three things only: what the model was sent, what the user was shown, and what is
//! on disk afterwards. Nothing here reaches beyond the loopback interface, nothing of the caller's environment is
//! passed on, and every wait has an end.

pub mod client;
pub mod home;
pub mod hooks;
pub mod model;
#[cfg(unix)]
pub mod plugin;
pub mod prefix;
mod slots;
pub mod terminal;
pub mod tidegate;
pub mod wire;
