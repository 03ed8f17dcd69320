//! X

pub mod models;
pub mod payload;
pub mod reply;
pub mod settings_file;
pub mod transcript;
