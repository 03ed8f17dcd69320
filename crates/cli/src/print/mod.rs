//! The only writer of stdout and stderr outside the hooks. A reader that went away is no error.
//!
//! A command puts what it says to people on a [`page::Page`], in both languages; the page is folded and coloured when it is
//! printed. Everything that is printed may hold text which others wrote, so no character that steers a terminal or hides
//! passes: colours are added afterwards. Clap prints its help itself.

mod fold;
mod html;
#[cfg(test)]
pub(crate) mod looks;
pub(crate) mod page;
pub(crate) mod progress;
pub(crate) mod remark;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod text;
#[cfg(test)]
mod tests;

use std::io::{IsTerminal, Write};

use ratatui::crossterm::cursor::{MoveTo, MoveToColumn};
use ratatui::crossterm::queue;
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{Clear, ClearType};
use serde::Serialize;
use tidegate_core::text::hidden::{escape_in_json, show_hidden};

use crate::bilingual::{Bilingual, both};
use crate::error::{CliError, io_words};
use crate::language;

/// One line as it is, for other programs and for lines that are copied. Returns `false` once the reader is gone.
pub(crate) fn line(text: &str) -> bool {
    raw(&show_hidden(text))
}

/// A whole page for a browser.
pub(crate) fn html(page: &str) -> bool {
    raw(page)
}

/// A path that is not UTF-8 has no form in JSON. Then the command ends with an error: a reader that gets another path, or
/// nothing, would take that for the answer.
#[expect(clippy::exit, reason = "callers have done their work, and have no other way to fail")]
pub(crate) fn json(value: &impl Serialize) -> bool {
    match json_text(value) {
        Ok(text) => raw(&text),
        Err(error) => {
            let text = both!(
                "error: this cannot be printed as JSON: {error}\nhint: run it without --json",
                "エラー: JSON として出力できません: {error}\nヒント: --json なしで実行してください"
            );
            to_stderr(text.get(language::current()));
            std::process::exit(1);
        }
    }
}

/// The same characters are escaped, so that the JSON has the same meaning.
pub(crate) fn json_text(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(|text| escape_in_json(&text).into_owned())
}

/// For remarks next to the output.
pub(crate) fn to_stderr(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", show_hidden(text));
}

/// Before a page that is printed again and again. A file or another program gets the pages one after another.
pub(crate) fn clear_screen() {
    let mut stdout = std::io::stdout();
    if stdout.is_terminal() {
        let _ = queue!(stdout, Clear(ClearType::All), MoveTo(0, 0));
    }
}

/// What a person types into the terminal, on the line of the cursor. Its end, if there is no room for all of it.
pub(crate) fn typed(line: &str) -> std::io::Result<()> {
    let room = usize::from(ratatui::crossterm::terminal::size()?.0).saturating_sub(1);
    let mut shown = line;
    while fold::width(shown) > room {
        shown = shown.get(shown.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
    }
    let mut stderr = std::io::stderr().lock();
    queue!(stderr, MoveToColumn(0), Clear(ClearType::UntilNewLine), Print(show_hidden(shown)))?;
    stderr.flush()
}

/// The columns that a line takes.
#[cfg(test)]
pub(crate) fn columns(line: &str) -> usize {
    fold::width(line)
}

fn raw(text: &str) -> bool {
    to_stdout(format!("{text}\n").as_bytes())
}

/// Returns `false` once the reader is gone. Any other failure ends the command: its output would be taken for whole.
#[expect(clippy::exit, reason = "callers have done their work, and have no other way to fail")]
pub(crate) fn to_stdout(bytes: &[u8]) -> bool {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => false,
        Err(error) => {
            let Bilingual { en, ja } = io_words(&error);
            CliError::new(both!("cannot write the output: {en}", "出力を書き込めません: {ja}")).report();
            std::process::exit(1);
        }
    }
}
