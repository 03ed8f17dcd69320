//! Edits and evidence of a call, and the files that tell how a project is verified.

pub mod manifests;
mod work;

pub use work::named_files;
pub(super) use work::read_facts;
