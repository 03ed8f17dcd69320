//! `progress.md`: what was done, entry by entry.
