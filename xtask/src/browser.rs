//! `cargo xtask browser`: the pages of `tidegate serve` in Chromium, by `crates/cli/tests/browser/pages.mjs`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{hosts, package, transcripts};
use xtask::failure::{Done, Failure, While};
use xtask::tools;
use xtask::workspace::{self, cargo};

/// The only place of these versions.
const PLAYWRIGHT: &str = "1.65.1";
const AXE: &str = "4.14.0";

/// An exchange whose texts are scripts, and one in Japanese.
const ROWS: &str = r#"{"kind":"project","uid":"bp","key":"/bp","name":"browser","created":1,"updated":1}
{"kind":"topic","uid":"bt","project":"bp","title":"<script>window.hacked=1</script>","status":"open","created":2,"updated":2}
{"kind":"log","uid":"hostile","topic":"bt","title":"<script>window.hacked=2</script>","text":"<img src=x onerror=window.hacked=3>","prompt":"<script>window.hacked=4</script>","answer":"script","source":"relay","at":1790000000000,"updated":1790000000000}
{"kind":"log","uid":"japanese","topic":"bt","title":"検索の設計を変更","text":"設計を見直した","source":"relay","at":1790000000001,"updated":1790000000001}
"#;

/// Returns why it cannot run, after trying to get what it needs.
pub(crate) fn unavailable() -> Option<String> {
    let missing = tools::ensure_programs(&["chromium"]);
    if let Some(missing) = missing.first() {
        return Some(format!("no {missing}"));
    }
    fetch_scripts().err().map(|failure| failure.what().to_owned())
}

pub(crate) fn run() -> Done {
    if let Some(why) = unavailable() {
        return Err(Failure::new(why).next("install Debian's packages `chromium` and `npm`"));
    }
    workspace::run(&mut cargo(&["build", "--quiet", "--locked", "--package", "tidegate"]))?;
    run_built(&workspace::target_folder()?.join("debug/tidegate"))
}

pub(crate) fn run_built(program: &Path) -> Done {
    with_server(program, ROWS, |server| {
        let (_, axe) = fetch_scripts()?;
        let mut script = server.script("pages.mjs")?;
        script.env("TIDEGATE", program).env("AXE", axe).env("HOSTILE", "hostile");
        workspace::run(&mut script)
    })
}

/// `docs/pictures`, from the demo's data.
pub(crate) fn take_pictures(program: &Path, folder: &Path) -> Done {
    with_server(program, "", |server| {
        let mut script = server.script("pictures.mjs")?;
        transcripts::write(&server.home.join("past"))?;
        for (name, command) in [("replay", vec!["replay", "--html"]), ("report", vec!["report", "--html"])] {
            let file = server.home.join(format!("{name}.html"));
            let mut words = alone(program, &server.home);
            words.args(command).arg(&file).current_dir(server.home.join("shop"));
            if name == "replay" {
                words.arg(server.home.join("past"));
            }
            workspace::read_output(&mut words)?;
            script.env(name.to_uppercase(), file);
        }
        workspace::run(script.env("FOLDER", folder))
    })
}

/// A server of the demo's data.
struct Server {
    home: PathBuf,
    url: String,
}

impl Server {
    /// A script of `crates/cli/tests/browser`, in the demo's project.
    fn script(&self, name: &str) -> Done<Command> {
        let (playwright, _) = fetch_scripts()?;
        let mut script = alone(&hosts::program("node")?, &self.home);
        script.arg(workspace::root().join("crates/cli/tests/browser").join(name));
        script.current_dir(self.home.join("shop")).env("PAGES", &self.url);
        script.env("CHROMIUM", "/usr/bin/chromium").env("PLAYWRIGHT", playwright);
        Ok(script)
    }
}

fn alone(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC");
    command
}

/// `rows` are added to the memory.
fn with_server(program: &Path, rows: &str, work: impl FnOnce(&Server) -> Done) -> Done {
    let folder = tempfile::tempdir().while_("a temporary folder")?;
    let home = folder.path().join("home");
    workspace::read_output(alone(program, &home).args(["demo", "--keep"]).arg(&home))?;
    if !rows.is_empty() {
        let mut import = alone(program, &home);
        let import = import.args(["memory", "import"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let mut import = import.while_("tidegate memory import")?;
        if let Some(mut stdin) = import.stdin.take() {
            stdin.write_all(rows.as_bytes()).while_("tidegate memory import")?;
        }
        import.wait().while_("tidegate memory import")?;
    }
    let mut serve = alone(program, &home);
    let serve = serve.args(["serve", "--json"]).current_dir(home.join("shop")).stdout(Stdio::piped()).spawn();
    let mut serve = serve.while_("tidegate serve")?;
    let mut said = String::new();
    if let Some(out) = serve.stdout.take() {
        BufReader::new(out).read_line(&mut said).while_("tidegate serve")?;
    }
    // {"url":"http://…"}
    let url = said.split('"').nth(3).unwrap_or_default().to_owned();
    let done = work(&Server { home, url });
    let _ = serve.kill();
    let _ = serve.wait();
    done
}

/// What the script loads: playwright and axe, from the cache.
fn fetch_scripts() -> Done<(PathBuf, PathBuf)> {
    let playwright = package::fetch_scripts("playwright-core", PLAYWRIGHT)?;
    let axe = package::fetch_scripts("axe-core", AXE)?;
    Ok((playwright.join("index.js"), axe.join("axe.min.js")))
}
