//! The command line of `tidegate hook`, for its help: `main` starts the hook before clap reads anything.

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads one payload from stdin. Answers on stdout, with exit code 0 or 2.

Some agents ignore the arguments of a hook. So `tidegate` without arguments is a hook,
too, unless it runs at a terminal; it then always exits with 0.

Examples:
  tidegate hook --event Stop < payload.json")]
pub(crate) struct Args {
    /// Event that this registration is for
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
    /// Stay silent if a check fails: this registration only advises
    #[arg(long)]
    pub(crate) advice: bool,
    /// Which install registered this hook, where there can be two
    #[arg(long, value_name = "NAME", hide = true)]
    pub(crate) via: Option<String>,
}
