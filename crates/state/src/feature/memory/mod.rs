//! The files between hooks and the store of what is remembered: jobs go one way, the catalogue comes back.

pub mod catalogue;
pub mod relays;
pub mod retries;
pub mod spool;
