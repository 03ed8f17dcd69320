//! Files of a session.

pub mod bridge;
pub mod claims;
pub mod fork;
pub mod marks;
