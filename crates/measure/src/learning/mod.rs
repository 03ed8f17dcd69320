//! What training a classifier needs.

pub(crate) mod descent;
pub(crate) mod logarithm;
