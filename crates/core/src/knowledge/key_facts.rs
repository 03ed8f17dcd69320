//! What a compaction must not lose.
