//! A Markdown file as sections below level-2 headings.
