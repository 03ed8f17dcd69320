//! The executable as the host sees it: bytes in, bytes and an exit code out, files left behind.
#![cfg(unix)]

mod answer;
mod fixtures;
mod sandbox;
mod transcript;

mod clock;
mod codex;
mod copilot;
mod client;
mod commands;
mod concurrency;
mod compaction;
mod config;
mod constraints;
mod cycle;
mod demo;
mod doctor;
mod documented;
mod foreign;
#[cfg(target_os = "linux")]
mod faults;
mod friction;
mod gates;
mod handoff;
mod hostile_text;
mod install;
#[cfg(target_os = "linux")]
mod killed;
mod knowledge;
mod locks;
mod looks;
mod mcp;
mod memory;
mod memory_hooks;
mod memory_import;
mod misread;
mod mutations;
mod newer;
mod other_hosts;
mod own_settings;
mod payloads;
mod people;
mod phase;
mod phase_llm;
mod plugin;
mod pressure;
mod registrations;
mod replay;
mod secrets;
mod security_doc;
mod selector;
mod serve;
mod shell_edits;
mod state;
mod statusline;
mod team;
mod told;
#[cfg(target_os = "linux")]
mod top;
mod transcripts;
mod without_repository;
mod worker;
mod workflow;
mod worktree;
mod written_by;
