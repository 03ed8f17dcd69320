//! Files of a session.

pub mod bridge;
pub mod claims;
pub mod clients;
pub mod fork;
pub mod marks;
