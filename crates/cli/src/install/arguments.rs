//! Options that `tidegate init` and `tidegate uninstall` share.

use std::path::PathBuf;

use tidegate_core::host::Host;

/// Options that choose the settings files.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallTarget {
    /// Another agent than Claude Code: codex, copilot, qwen, opencode
    #[arg(long, value_name = "NAME", conflicts_with = "shared")]
    pub(crate) host: Option<InstallHost>,
    /// The project's folder
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "user")]
    pub(crate) project: PathBuf,
    /// Your own settings, for all projects
    #[arg(long)]
    pub(crate) user: bool,
    /// The settings that the project's team shares
    #[arg(long, conflicts_with = "user")]
    pub(crate) shared: bool,
}

/// Agents into whose files Tidegate can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InstallHost {
    ClaudeCode,
    Codex,
    Copilot,
    Qwen,
    #[value(name = "opencode")]
    OpenCode,
}

impl InstallHost {
    pub(crate) fn host(self) -> Host {
        match self {
            InstallHost::ClaudeCode => Host::ClaudeCode,
            InstallHost::Codex => Host::Codex,
            InstallHost::Copilot => Host::Copilot,
            InstallHost::Qwen => Host::Qwen,
            InstallHost::OpenCode => Host::OpenCode,
        }
    }
}

/// Options that choose between doing and showing.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct InstallReport {
    /// List the changes and make none
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print every change as a diff and make none
    #[arg(long)]
    pub(crate) diff: bool,
    /// A person approved this command in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl InstallReport {
    pub(crate) fn only_shows(&self) -> bool {
        self.dry_run || self.diff
    }
}
