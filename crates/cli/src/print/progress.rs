//! A bar on the terminal while files are read.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use tidegate_core::text::terminal::count_columns;

use crate::bilingual::{Bilingual, both};
use crate::install::summary::size;
use crate::language;

const BETWEEN: Duration = Duration::from_millis(100);
const CELLS: usize = 20;

pub(crate) struct ProgressBar {
    is_shown: bool,
    total: u64,
    last: Option<Instant>,
    /// Columns of the last line.
    drawn: usize,
}

impl ProgressBar {
    /// Only where a person looks at stderr.
    pub(crate) fn of(total: u64) -> ProgressBar {
        ProgressBar { is_shown: io::stderr().is_terminal(), total, last: None, drawn: 0 }
    }

    /// `done` is what the bytes have brought so far.
    pub(crate) fn see(&mut self, bytes: u64, done: impl FnOnce() -> Bilingual) {
        if !self.is_shown || self.last.is_some_and(|at| at.elapsed() < BETWEEN) {
            return;
        }
        self.last = Some(Instant::now());
        let line = bar_line(bytes, self.total, &done());
        self.draw(line.get(language::current()));
    }

    /// Leaves an empty line for what follows.
    pub(crate) fn clear(&mut self) {
        if self.drawn > 0 {
            self.draw("");
            self.draw("");
        }
    }

    /// Blanks over the rest of the last line need no escape sequence, which a simple terminal would show.
    fn draw(&mut self, line: &str) {
        let columns = count_columns(line);
        let blanks = " ".repeat(self.drawn.saturating_sub(columns));
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r{line}{blanks}").and_then(|()| stderr.flush());
        self.drawn = columns;
    }
}

fn bar_line(read: u64, total: u64, done: &Bilingual) -> Bilingual {
    let read = read.min(total);
    let percent = (read * 100).checked_div(total).unwrap_or(100);
    let filled = percent as usize * CELLS / 100;
    let bar = format!("[{}{}] {percent:3}%", "#".repeat(filled), ".".repeat(CELLS - filled));
    let (read, total) = (size(read), size(total));
    let Bilingual { en, ja } = done;
    both!("{bar}  {read} of {total}, {en}", "{bar}  {total}中{read}、{ja}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fits_a_narrow_screen() {
        let exchanges = |n: usize| both!("{n} exchanges", "やり取り{n}件");
        let line = bar_line(45_000_000, 120_000_000, &exchanges(1204)).en;
        assert_eq!(line, "[#######.............]  37%  45.0 MB of 120.0 MB, 1204 exchanges");
        let line = bar_line(9, 0, &exchanges(0)).ja;
        assert_eq!(line, "[####################] 100%  0 B中0 B、やり取り0件");
        assert!(count_columns(&bar_line(u64::MAX, 5_000_000_000, &exchanges(99_999)).en) < 72);
    }
}
