//! The end-to-end bench: the real client and other hosts, in their own home, against a scripted model on
//! loopback.
//!
//! A test scripts the model's answers ([`model`]), starts the client ([`client`], [`terminal`]) in a fresh
//! home ([`home`]), and then asserts only on the requests to the model, the texts for the user, and the files
//! on disk. Nothing reaches beyond the loopback interface, no variable of the caller's environment is passed
//! on, and every wait has a limit.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate: a comment has to say more than the name"
)]

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
