//! `learnings-*.md`: what was learned and how often it was confirmed.
