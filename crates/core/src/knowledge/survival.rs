//! Which key facts a summary kept.
