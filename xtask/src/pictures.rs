//! `cargo xtask pictures [--write]`: the pictures under `docs/pictures`. Those of the terminal are drawn from what commands
//! print; those of pages are taken by Chromium with `--write`, and are not compared.
//!
//! The commands run in the homes that `tidegate demo --keep` leaves. Times and durations are those of the run; pictures that
//! differ only in these count as the same, and are not written again.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{browser, transcripts};
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace::{self, cargo};

const FOLDER: &str = "docs/pictures";

struct Picture {
    name: &'static str,
    /// Without anything, after the second scene of the demo, or after the last one.
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
    english("log", "all", &["log"]),
    english("report", "all", &["report"]),
    english("replay", "all", &["replay", "../past"]),
    english("doctor", "all", &["doctor"]),
    english("demo", "fresh", &["demo"]),
    Picture { name: "demo.ja", home: "fresh", command: &["demo"], locale: "ja_JP.UTF-8" },
    english("statusline", "fresh", &["statusline", "--preview"]),
];

pub(crate) fn check() -> Done {
    for (path, drawn) in draw_all()? {
        let written = fs::read_to_string(&path).unwrap_or_default();
        if without_times(&written) != without_times(&drawn) {
            return Err(Failure::new(format!("{} is not what the command prints", path.display()))
                .next("`cargo xtask pictures --write` draws it anew; look at it"));
        }
    }
    print::line(&format!("    {} pictures, as the commands print", PICTURES.len()));
    Ok(())
}

pub(crate) fn write() -> Done {
    let folder = workspace::root().join(FOLDER);
    fs::create_dir_all(&folder).while_(folder.display())?;
    for (path, drawn) in draw_all()? {
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
    let program = workspace::target_folder()?.join("debug/tidegate");
    fs::write(folder.join("top.svg"), draw_top(&program)?).while_("writing top.svg")?;
    browser::take_pictures(&program, &folder)
}

/// The screen of `tidegate top`, as tmux shows it.
fn draw_top(program: &Path) -> Done<String> {
    let folder = tempfile::tempdir().while_("making a temporary folder")?;
    let home = folder.path().join("all");
    make_home(program, &home, "all")?;
    let socket = folder.path().join("tmux");
    let tmux = || {
        let mut tmux = terminal(Path::new("tmux"), &home, "C.UTF-8");
        tmux.arg("-S").arg(&socket);
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
    // The session that has a curve.
    workspace::read_output(tmux().args(["send-keys", "Down"]))?;
    std::thread::sleep(Duration::from_secs(3));
    let screen = workspace::read_output(tmux().args(["capture-pane", "-p", "-e"]))?;
    let _ = tmux().arg("kill-server").output();
    Ok(draw("tidegate top", &screen.replace(&folder.path().display().to_string(), "/home/you")))
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

fn draw_all() -> Done<Vec<(PathBuf, String)>> {
    workspace::run(&mut cargo(&["build", "--quiet", "--locked", "--package", "tidegate"]))?;
    let program = workspace::target_folder()?.join("debug/tidegate");
    let folder = tempfile::tempdir().while_("making a temporary folder")?;
    let mut drawn = Vec::new();
    for picture in &PICTURES {
        let home = folder.path().join(picture.home);
        if !home.exists() {
            make_home(&program, &home, picture.home)?;
        }
        if picture.name == "doctor" {
            workspace::read_output(terminal(&program, &home, picture.locale).args([
                "init",
                "--project",
                ".",
            ]))?;
        }
        let mut command = terminal(&program, &home, picture.locale);
        // The exit code of some says what they found.
        let ran = command.args(picture.command).output().while_(picture.name)?;
        let printed = String::from_utf8_lossy(&ran.stdout).replace(&home.display().to_string(), "/home/you");
        let line = format!("tidegate {}", picture.command.join(" "));
        let path = workspace::root().join(FOLDER).join(format!("{}.svg", picture.name));
        drawn.push((path, draw(&line, &printed)));
    }
    Ok(drawn)
}

fn make_home(program: &Path, home: &Path, name: &str) -> Done {
    let scenes: &[&str] = match name {
        "fresh" => return fs::create_dir_all(home.join("shop")).while_(home.display()),
        "filling" => &["--scene", "2"],
        _ => &[],
    };
    let mut demo = Command::new(program);
    demo.env_clear().env("LANG", "C.UTF-8").args(["demo", "--keep"]).arg(home).args(scenes);
    workspace::read_output(&mut demo)?;
    transcripts::write(&home.join("past"))
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
