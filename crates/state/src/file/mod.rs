//! Reading, writing and locking files.

pub mod append;
pub(crate) mod backwards;
pub mod bounded;
pub mod lines;
pub mod lock;
pub(crate) mod private;
pub mod replace;
