//! What a call did to the code, and the files that say how a project is verified.

pub mod manifests;
mod work;

pub(super) use work::read_facts;
