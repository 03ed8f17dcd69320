//! The command line of `tidegate statusline`, for its help: `main` starts it before clap reads anything.

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads the status-line payload from stdin and prints one line.

Examples:
  tidegate statusline
  tidegate statusline --wrap 'my-status-line --short'
  tidegate statusline --preview             every part with samples")]
pub(crate) struct Args {
    /// The agent whose status line this is: claude-code, copilot
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Show every part of the line with samples, and how to choose among them
    #[arg(long, conflicts_with = "wrap")]
    pub(crate) preview: bool,
    /// Run this status line first, and add ours after it
    #[arg(long, value_name = "CMD", num_args = 1.., allow_hyphen_values = true)]
    pub(crate) wrap: Vec<String>,
}
