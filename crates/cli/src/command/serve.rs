//! `tidegate serve`: sessions, memory and reports in a browser, on loopback.

use std::process::ExitCode;

use super::Outcome;
use crate::bilingual::both;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::print::text::data;
use crate::web::server::Server;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate serve                          open the address that it prints
  tidegate serve --port 4000
  tidegate serve --json | head -1 | jq -r .url

Only this machine can open the pages, and only with the address that is printed: it
contains a new secret each time. The pages change nothing. Ctrl-C ends it.")]
pub(crate) struct Args {
    /// Listen on this port [default: any free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Print the address as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::from)?;
    runtime.block_on(async {
        let server = Server::bind(args.port).await?;
        if args.json {
            print::json(&serde_json::json!({ "url": server.url() }));
        } else {
            let mut page = Page::new();
            page.pairs([(both!("open", "開く").into(), data(server.url()).command())]);
            page.paragraph(both!("Ctrl-C ends it.", "Ctrl-C で終了します。"));
            page.print();
        }
        server.run().await
    })?;
    Ok(ExitCode::SUCCESS)
}
