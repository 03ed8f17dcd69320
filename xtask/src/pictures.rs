//! `cargo xtask pictures [--write]`: the pictures under `docs/pictures`. Those of the terminal are drawn from what commands
//! print; those of pages are taken by Chromium with `--write`. A picture of a page is not the same twice, so the pages are
//! compared: `pages.txt` has a digest of each.
//!
//! The commands run in the homes that `tidegate demo --keep` leaves, or in that of the made-up [`history`]. Times and durations
//! of a demo are those of the run; pictures that differ only in these count as the same, and are not written again.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::{browser, history, transcripts};
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace::{self, cargo};

const FOLDER: &str = "docs/pictures";

struct Picture {
    name: &'static str,
    /// Without anything, installed, after the second scene of the demo, or after the made-up week.
    home: &'static str,
    command: &'static [&'static str],
    locale: &'static str,
}

const fn english(name: &'static str, home: &'static str, command: &'static [&'static str]) -> Picture {
    Picture { name, home, command, locale: "C.UTF-8" }
}

/// In this order: `status` and `log` say how long ago something was, and `init` adds to the home.
const PICTURES: [Picture; 8] = [
    english("status", "filling", &["status"]),
    english("log", "week", &["log", "--last", "9"]),
    english("report", "week", &["report", "--days", "7"]),
    english("replay", "week", &["replay", "../past"]),
    english("doctor", "installed", &["doctor"]),
    english("demo", "fresh", &["demo"]),
    Picture { name: "demo.ja", home: "fresh", command: &["demo"], locale: "ja_JP.UTF-8" },
    english("statusline", "fresh", &["statusline", "--preview"]),
];

pub(crate) fn check() -> Done {
    workspace::run(&mut cargo(&["build", "--quiet", "--locked", "--package", "tidegate"]))?;
    check_with(&workspace::target_folder()?.join("debug/tidegate"))
}

/// `program` is a debug build: it follows the clock of the pictures.
pub(crate) fn check_with(program: &Path) -> Done {
    let stale = |what: &str| {
        Failure::new(format!("{what} has changed since its picture was made"))
            .next("`cargo xtask pictures --write` makes it anew; look at it")
    };
    let folder = tempfile::tempdir().while_("making a temporary folder")?;
    for (path, drawn) in draw_all(program, folder.path())? {
        let written = fs::read_to_string(&path).unwrap_or_default();
        if without_times(&written) != without_times(&drawn) {
            return Err(stale(&format!("what {} shows", path.display())));
        }
    }
    let written = fs::read_to_string(workspace::root().join(FOLDER).join(PAGES)).unwrap_or_default();
    let digests = digest_pages(program, &folder.path().join("week"))?;
    if let Some(line) = digests.lines().find(|line| !written.lines().any(|known| known == *line)) {
        return Err(stale(&format!("the page {line}")));
    }
    check_links()?;
    print::line(&format!(
        "    {} pictures of terminals and {} pages, as they are shown",
        PICTURES.len(),
        ADDRESSES.len()
    ));
    Ok(())
}

/// A picture that no document shows grows old unseen.
fn check_links() -> Done {
    let root = workspace::root();
    let mut documents = String::new();
    for folder in [root.to_owned(), root.join("docs")] {
        for entry in fs::read_dir(&folder).while_(folder.display())? {
            let path = entry.while_(folder.display())?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                documents.push_str(&fs::read_to_string(&path).while_(path.display())?);
            }
        }
    }
    let folder = root.join(FOLDER);
    for entry in fs::read_dir(&folder).while_(folder.display())? {
        let name = entry.while_(folder.display())?.file_name().to_string_lossy().into_owned();
        if name != PAGES && !documents.contains(&format!("pictures/{name})")) {
            return Err(
                Failure::new(format!("no document shows {FOLDER}/{name}")).next("link it, or remove it")
            );
        }
    }
    Ok(())
}

pub(crate) fn write() -> Done {
    let folder = workspace::root().join(FOLDER);
    fs::create_dir_all(&folder).while_(folder.display())?;
    workspace::run(&mut cargo(&["build", "--quiet", "--locked", "--package", "tidegate"]))?;
    let program = workspace::target_folder()?.join("debug/tidegate");
    let homes = tempfile::tempdir().while_("making a temporary folder")?;
    for (path, drawn) in draw_all(&program, homes.path())? {
        let written = fs::read_to_string(&path).unwrap_or_default();
        if without_times(&written) != without_times(&drawn) {
            fs::write(&path, drawn).while_(path.display())?;
            print::line(&format!("    {}", path.display()));
        }
    }
    if let Some(why) = browser::unavailable() {
        return Err(Failure::new(format!("no pictures of pages: {why}"))
            .next("install Debian's packages `chromium` and `npm`"));
    }
    if workspace::read_output(Command::new("fc-list").arg(":lang=ja"))?.trim().is_empty() {
        return Err(Failure::new("no pictures of pages: no Japanese font")
            .next("install Debian's package `fonts-noto-cjk`"));
    }
    let week = homes.path().join("week");
    browser::take_pictures(&make_stand_in(&program, &week)?, &folder)?;
    fs::write(folder.join(PAGES), digest_pages(&program, &week)?).while_(PAGES)
}

/// The program with the clock of the pictures, which gives the home of the week for that of a demo.
fn make_stand_in(program: &Path, week: &Path) -> Done<PathBuf> {
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = demo ] && exec ln -s '{}' \"$3\"\n\
         export TEST_TIDEGATE_CLOCK=$(({} - $(date +%s%3N)))\nexec '{}' \"$@\"\n",
        week.display(),
        history::NOW,
        program.display()
    );
    let path = week.with_extension("sh");
    fs::write(&path, script).while_(path.display())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).while_(path.display())?;
    Ok(path)
}

/// Next to the pictures: a digest of each page that has one.
const PAGES: &str = "pages.txt";

/// What pictures are taken of.
const ADDRESSES: [&str; 9] = [
    "",
    "?lang=ja",
    "session/7c41d9e2-0b35-4e6a-9d18-a4f27c3b8e50",
    "session/e1c84d57-7e02-4d3b-b1a9-2b8f4c9d6e03?lang=ja",
    "work",
    "memory?q=cookie",
    "memory?list=decisions&lang=ja",
    "report?days=7",
    "style.css",
];

/// One line for each page: its address, and a digest of what does not change from run to run.
fn digest_pages(program: &Path, home: &Path) -> Done<String> {
    let mut serve = terminal(program, home, "C.UTF-8");
    let serve = serve.args(["serve", "--json"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut serve = serve.while_("tidegate serve")?;
    let digests = read_pages(&mut serve, home);
    let _ = serve.kill();
    let _ = serve.wait();
    let mut digests = digests?;
    for command in [["report", "--html", "-"].as_slice(), &["replay", "../past", "--html", "-"]] {
        let page = workspace::read_output(terminal(program, home, "C.UTF-8").args(command))?;
        digests.push(digest(&command[..1].join(" "), &page, home));
    }
    Ok(digests.join("\n") + "\n")
}

fn read_pages(serve: &mut std::process::Child, home: &Path) -> Done<Vec<String>> {
    let mut said = String::new();
    if let Some(out) = serve.stdout.take() {
        BufReader::new(out).read_line(&mut said).while_("tidegate serve")?;
    }
    // {"url":"http://127.0.0.1:PORT/TOKEN/"}
    let url = said.split('"').nth(3).unwrap_or_default();
    let (host, base) = url.trim_start_matches("http://").split_once('/').unwrap_or_default();
    let mut digests = Vec::new();
    for address in ADDRESSES {
        let mut stream = TcpStream::connect(host).while_(url)?;
        write!(stream, "GET /{base}{address} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .while_(url)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).while_(url)?;
        let (head, page) = answer.split_once("\r\n\r\n").unwrap_or_default();
        if !head.starts_with("HTTP/1.1 200") {
            return Err(Failure::new(format!("the page {address:?} of the pictures: {head}")));
        }
        digests.push(digest(address, &page.replace(base.trim_end_matches('/'), "T"), home));
    }
    Ok(digests)
}

fn digest(name: &str, page: &str, home: &Path) -> String {
    let page = without_chance(&page.replace(&home.display().to_string(), "/home/you"));
    let sum = Sha256::digest(page.as_bytes());
    let hex = sum.iter().take(8).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    format!("/{name} {hex}")
}

/// Without ids of records and rows, the journal's size, and measured times.
fn without_chance(page: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let mut kept = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(begin) = rest.find(is_part) {
        kept.push_str(&rest[..begin]);
        let end = rest[begin..].find(|c| !is_part(c)).map_or(rest.len(), |length| begin + length);
        let (word, next) = (&rest[begin..end], &rest[end..]);
        let is_id = word.len() >= 11 && word.bytes().take(11).all(|byte| byte.is_ascii_hexdigit());
        let is_measured =
            next.starts_with(" ms") || kept.ends_with("data-known=\"") || kept.ends_with("journal ");
        // Seconds of a time: the program needs a moment to start.
        let is_second = word.ends_with('Z') && word.contains('.');
        kept.push_str(if is_id || is_measured || is_second { "N" } else { word });
        rest = next;
    }
    kept + rest
}

/// The screen of `tidegate top`, as tmux shows it.
fn draw_top(program: &Path, home: &Path) -> Done<String> {
    let folder = tempfile::tempdir().while_("making a temporary folder")?;
    let socket = folder.path().join("tmux");
    let tmux = || {
        let mut tmux = terminal(Path::new("tmux"), home, "C.UTF-8");
        tmux.arg("-u").arg("-S").arg(&socket);
        tmux
    };
    let mut start = tmux();
    start.args(["-f", "/dev/null", "new-session", "-d", "-x", &COLUMNS.to_string(), "-y", "26", "--"]);
    workspace::read_output(start.arg(program).arg("top"))?;
    // A debug build needs a moment for its first screen.
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(100));
        if workspace::read_output(tmux().args(["capture-pane", "-p"]))?.contains("Last results") {
            break;
        }
    }
    let screen = workspace::read_output(tmux().args(["capture-pane", "-p", "-e"]))?;
    let _ = tmux().arg("kill-server").output();
    Ok(draw("tidegate top", &screen.replace(&home.display().to_string(), "/home/you")))
}

/// Words and their classes, without times, dates and measured numbers.
fn without_times(svg: &str) -> Vec<String> {
    let mut text = String::new();
    for part in svg.split('<') {
        let (tag, shown) = part.split_once('>').unwrap_or_default();
        let class = tag.split_once("class=\"").and_then(|(_, rest)| rest.split('"').next());
        let _ = write!(text, " {} {shown} ", class.unwrap_or_default());
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_measured = |at: usize| {
        let (word, next) =
            (words[at], words.get(at + 1).map_or("", |next| next.trim_matches([',', ')', ';'])));
        let has_digit = word.contains(|c: char| c.is_ascii_digit());
        let is_time = word.contains(':') || word.matches('-').count() == 2;
        has_digit && (is_time || matches!(next, "ms" | "s" | "MB"))
    };
    (0..words.len()).filter(|at| !is_measured(*at)).map(|at| words[at].to_owned()).collect()
}

/// The homes are left in `folder`.
fn draw_all(program: &Path, folder: &Path) -> Done<Vec<(PathBuf, String)>> {
    let mut drawn = Vec::new();
    for picture in &PICTURES {
        let home = folder.join(picture.home);
        if !home.exists() {
            make_home(program, &home, picture.home)?;
        }
        if picture.name == "doctor" {
            workspace::read_output(terminal(program, &home, picture.locale).args([
                "init",
                "--project",
                ".",
            ]))?;
        }
        let mut command = terminal(program, &home, picture.locale);
        // The exit code of some says what they found.
        let ran = command.args(picture.command).output().while_(picture.name)?;
        let printed = String::from_utf8_lossy(&ran.stdout).replace(&home.display().to_string(), "/home/you");
        let line = format!("tidegate {}", picture.command.join(" "));
        let path = workspace::root().join(FOLDER).join(format!("{}.svg", picture.name));
        drawn.push((path, draw(&line, &printed)));
    }
    let path = workspace::root().join(FOLDER).join("top.svg");
    drawn.push((path, draw_top(program, &folder.join("week"))?));
    Ok(drawn)
}

fn make_home(program: &Path, home: &Path, name: &str) -> Done {
    let scenes: &[&str] = match name {
        "fresh" | "installed" => return fs::create_dir_all(home.join("shop")).while_(home.display()),
        "filling" => &["--scene", "2"],
        "week" => {
            history::write(program, home)?;
            return transcripts::write(&home.join("past"));
        }
        _ => &[],
    };
    let mut demo = Command::new(program);
    demo.env_clear().env("LANG", "C.UTF-8").args(["demo", "--keep"]).arg(home).args(scenes);
    workspace::read_output(&mut demo).map(drop)
}

/// In the project of a home, with a terminal of 80 columns and colours.
fn terminal(program: &Path, home: &Path, locale: &str) -> Command {
    let mut command = Command::new(program);
    let path = format!("{}:/usr/bin:/bin", home.join(".local/share/tidegate/bin").display());
    command
        .current_dir(home.join("shop"))
        .env_clear()
        .env("HOME", home)
        .env("PATH", path)
        .env("LANG", locale)
        .env("TZ", "UTC")
        .env("TERM", "xterm-256color")
        .env("COLUMNS", COLUMNS.to_string())
        .env("CLICOLOR_FORCE", "1");
    if home.ends_with("week") {
        command.env("TEST_TIDEGATE_CLOCK", history::offset_to(history::NOW));
    }
    command
}

const COLUMNS: usize = 80;
/// Of a cell, in hundredths of a pixel: six tenths of the font's size are usual for monospace.
const CELL_WIDTH: usize = 840;
const LINE: usize = 20;
const BORDER: usize = 16;

/// An SVG of a terminal in which `command` printed this. Each piece has its place and its length in cells, so that columns
/// stay columns in every font.
fn draw(command: &str, printed: &str) -> String {
    let screen = format!("\x1b[2m$\x1b[0m \x1b[1m{command}\x1b[0m\n{printed}");
    let lines: Vec<&str> = screen.trim_end().lines().collect();
    let (width, height) = (COLUMNS * CELL_WIDTH / 100 + 2 * BORDER, lines.len() * LINE + 2 * BORDER);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">
<style>
rect {{ fill: #14181f }}
text {{ fill: #d6dbe2; font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Noto Sans Mono CJK JP", monospace; white-space: pre }}
.bold {{ font-weight: bold }} .dim {{ fill: #8b949e }}
.red {{ fill: #ff7b72 }} .green {{ fill: #7ee787 }} .yellow {{ fill: #f0c35b }} .cyan {{ fill: #79c0ff }}
</style>
<rect width="100%" height="100%" rx="8"/>
"#,
        label = escape(&format!("The terminal after `{command}`")),
    );
    for (number, line) in lines.iter().enumerate() {
        let y = BORDER + (number + 1) * LINE - LINE / 4;
        let mut column = 0;
        let mut pieces = String::new();
        for (classes, text) in pieces_of(line) {
            let cells = count_cells(&text);
            let shown = text.trim_start_matches(' ');
            let begin = column + text.len() - shown.len();
            column += cells;
            let shown = shown.trim_end_matches(' ');
            if shown.is_empty() {
                continue;
            }
            let (x, length) = (pixels(begin), count_cells(shown) * CELL_WIDTH);
            let x = format!("{:.1}", x + BORDER as f64);
            let class = if classes.is_empty() { String::new() } else { format!(" class=\"{classes}\"") };
            let _ = write!(
                pieces,
                r#"<tspan x="{x}" textLength="{:.1}" lengthAdjust="spacingAndGlyphs"{class}>{}</tspan>"#,
                length as f64 / 100.0,
                escape(shown)
            );
        }
        if !pieces.is_empty() {
            let _ = writeln!(svg, r#"<text y="{y}" xml:space="preserve">{pieces}</text>"#);
        }
    }
    svg + "</svg>\n"
}

fn pixels(cells: usize) -> f64 {
    (cells * CELL_WIDTH) as f64 / 100.0
}

fn count_cells(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Of the characters that our texts have.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff60}')
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A line with escape sequences, as pieces with the classes of their style.
fn pieces_of(line: &str) -> Vec<(String, String)> {
    let mut parts = line.split("\x1b[");
    let mut pieces = vec![(String::new(), parts.next().unwrap_or_default().to_owned())];
    let (mut is_bold, mut color) = (false, "");
    for part in parts {
        let Some((codes, text)) = part.split_once('m') else { continue };
        for code in codes.split(';') {
            match code {
                "" | "0" => (is_bold, color) = (false, ""),
                "1" => is_bold = true,
                "2" => color = "dim",
                "22" => is_bold = false,
                "31" => color = "red",
                "32" => color = "green",
                "33" => color = "yellow",
                "36" => color = "cyan",
                _ => color = "",
            }
        }
        let bold = if is_bold { "bold" } else { "" };
        pieces.push((format!("{bold} {color}").trim().to_owned(), text.to_owned()));
    }
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_become_classes() {
        let pieces = pieces_of("a\x1b[1m\x1b[31mb\x1b[0m c\x1b[36md\x1b[39me");
        let pieces: Vec<(&str, &str)> =
            pieces.iter().map(|(class, text)| (class.as_str(), text.as_str())).collect();
        assert_eq!(pieces, [("", "a"), ("bold red", "b"), ("", " c"), ("cyan", "d"), ("", "e")]);
    }

    #[test]
    fn every_piece_stands_in_its_cells() {
        let svg = draw("x", "  \x1b[32m日本 <b>\x1b[0m");
        let piece = r#"<tspan x="32.8" textLength="67.2" lengthAdjust="spacingAndGlyphs" class="green">日本 &lt;b&gt;</tspan>"#;
        assert!(svg.contains(piece), "{svg}");
        assert_eq!(draw("x", "  \x1b[32m日本 <b>\x1b[0m"), svg);
    }

    #[test]
    fn ids_and_measured_times_are_chance() {
        let page = |id: &str, second: &str, ms: &str| {
            without_chance(&format!(
                "<a href=\"event/{id}\"><time datetime=\"2026-11-18T11:52:{second}Z\">a hook took {ms} ms</a>"
            ))
        };
        assert_eq!(page("1a1ee7fdf01-5203", "00.001", "2.3"), page("1a1ee7fdf99-7", "01.999", "31.1"));
        assert_ne!(without_chance("3 blocks"), without_chance("4 blocks"));
        assert_ne!(without_chance("class=\"good\""), without_chance("class=\"bad\""));
    }

    #[test]
    fn times_and_durations_do_not_count() {
        let drawn = |line: &str| without_times(&draw("x", line));
        assert_eq!(
            drawn("2026-11-18 (02:35 UTC)  1.6 ms, 8 s"),
            drawn("2027-01-02 (14:00 UTC) 10.25 ms, 12 s")
        );
        assert_ne!(drawn("1 note"), drawn("2 note"));
        assert_ne!(drawn("\x1b[31mlate"), drawn("late"));
    }
}
