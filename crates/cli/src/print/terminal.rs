//! How wide a stream is, and whether it takes colours.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};

/// Narrower ones are folded as if they were this wide: less is not readable, and a window can be widened.
const NARROWEST: usize = 40;
/// Longer lines are hard to read on any screen.
const WIDEST: usize = 120;
const USUAL: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    pub(crate) width: usize,
    pub(crate) has_colors: bool,
    /// A word that is wider than the screen continues in the next line. Another program that reads it, such as `grep`, needs
    /// it whole.
    pub(crate) breaks_words: bool,
}

impl Terminal {
    pub(crate) fn stdout() -> Terminal {
        let stdout = std::io::stdout();
        let (width, has_colors) = look_at(&stdout);
        Terminal {
            width: clamp_width(width.unwrap_or(USUAL)),
            has_colors,
            breaks_words: stdout.is_terminal(),
        }
    }

    /// `None` where nothing tells the width: another program reads the remarks, and lines of its own are easier for it.
    pub(crate) fn stderr() -> Option<Terminal> {
        let stderr = std::io::stderr();
        let (width, has_colors) = look_at(&stderr);
        let breaks_words = stderr.is_terminal();
        width.map(|width| Terminal { width: clamp_width(width), has_colors, breaks_words })
    }
}

fn look_at(stream: &(impl RawStream + AsFd)) -> (Option<usize>, bool) {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let measured = || terminal_size::terminal_size_of(stream).map(|(width, _)| usize::from(width.0));
    let width = told.or_else(measured).filter(|width| *width > 0);
    (width, AutoStream::choice(stream) != ColorChoice::Never)
}

fn clamp_width(width: usize) -> usize {
    width.clamp(NARROWEST, WIDEST)
}

#[cfg(test)]
mod tests {
    use super::clamp_width;

    #[test]
    fn widths_stay_readable() {
        assert_eq!([1, 40, 79, 120, 300].map(clamp_width), [40, 40, 79, 120, 120]);
    }
}
