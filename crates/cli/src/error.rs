//! Errors for people: what happened, where, what to do next.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use tidegate_memory::error::Error as MemoryError;
use tidegate_memory::team;
use tidegate_state::file::bounded::{NOT_A_FILE, TOO_LARGE};

use crate::bilingual::{Bilingual, both};
use crate::print::page::Page;
use crate::print::text::Text;
use crate::server_trouble;

/// Clap's exit code for a wrong command line.
const USAGE: u8 = 2;

/// An error with a hint. Its exit code is 1, or 2 for a wrong command line; 3 is `meter`'s for an unknown use.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) message: Bilingual,
    pub(crate) hint: Option<Bilingual>,
    is_usage: bool,
}

/// The words of an error: [`both!`], or the text of another program or of the system.
pub(crate) trait ErrorWords {
    fn in_both(self) -> Bilingual;
}

impl ErrorWords for Bilingual {
    fn in_both(self) -> Bilingual {
        self
    }
}

impl<T: Display> ErrorWords for T {
    fn in_both(self) -> Bilingual {
        Bilingual::data(self)
    }
}

impl CliError {
    pub(crate) fn new(message: impl ErrorWords) -> CliError {
        CliError { message: message.in_both(), hint: None, is_usage: false }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl ErrorWords) -> CliError {
        self.hint = Some(hint.in_both());
        self
    }

    /// The command line is wrong, although clap could not know it.
    #[must_use]
    pub(crate) fn usage(mut self) -> CliError {
        self.is_usage = true;
        self
    }

    #[must_use]
    pub(crate) fn prefixed(self, what: &Bilingual) -> CliError {
        let Bilingual { en, ja } = self.message;
        let message = both!("{of_en}: {en}", "{of_ja}: {ja}", of_en = what.en, of_ja = what.ja);
        CliError { message, ..self }
    }

    /// Without the hint.
    pub(crate) fn words(&self) -> &Bilingual {
        &self.message
    }

    /// Without the hint, in English.
    pub(crate) fn message(&self) -> &str {
        &self.message.en
    }

    /// For a reader that is not a person.
    pub(crate) fn text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\nhint: {}", hint.en));
        format!("error: {}{}", self.message.en, hint.unwrap_or_default())
    }

    pub(crate) fn report(&self) -> ExitCode {
        self.page().print_to_stderr();
        if self.is_usage { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
    }

    pub(crate) fn page(&self) -> Page {
        let mut page = Page::new();
        page.labelled(Text::from(both!("error", "エラー")).bad(), self.message.clone());
        if let Some(hint) = &self.hint {
            page.labelled(Text::from(both!("hint", "ヒント")).good(), hint.clone());
        }
        page
    }
}

/// What the system said about a file, in plain words and without its number.
pub(crate) fn io_words(error: &io::Error) -> Bilingual {
    match error.kind() {
        io::ErrorKind::NotFound => {
            both!("there is no such file or folder", "ファイルまたはフォルダがありません")
        }
        io::ErrorKind::PermissionDenied => both!("you may not access it", "アクセスする権限がありません"),
        io::ErrorKind::IsADirectory => both!("it is a folder", "フォルダです"),
        io::ErrorKind::NotADirectory => {
            both!("a part of the path is not a folder", "パスの途中がフォルダではありません")
        }
        io::ErrorKind::ReadOnlyFilesystem => both!("the disk is read-only", "ディスクが読み取り専用です"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            both!("the disk is full", "ディスクに空きがありません")
        }
        io::ErrorKind::InvalidData => both!("its text is not UTF-8", "UTF-8 のテキストではありません"),
        io::ErrorKind::InvalidFilename => both!("the name is too long", "名前が長すぎます"),
        // Tidegate's own reasons have no number.
        _ => match (error.raw_os_error(), error.to_string()) {
            (None, text) if text == NOT_A_FILE => both!("it is not a file", "通常のファイルではありません"),
            (None, text) if text == TOO_LARGE => both!("it is too large", "大きすぎます"),
            (_, text) => Bilingual::data(text.split(" (os error ").next().unwrap_or_default()),
        },
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        CliError::new(io_words(&error))
    }
}

impl From<MemoryError> for CliError {
    fn from(error: MemoryError) -> CliError {
        let (mut message, mut hint) = (Bilingual::data(error.what), error.hint.map(Bilingual::data));
        if let Some((server, trouble)) = &error.trouble {
            message.ja = format!("{server}: {}", server_trouble::japanese_words(trouble));
            if let Some(hint) = &mut hint {
                hint.ja = if hint.en == team::KEPT {
                    "送る内容はこのマシンに残り、後で送ります".to_owned()
                } else {
                    server_trouble::japanese_hint(trouble).to_owned()
                };
            }
        }
        CliError { message, hint, is_usage: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_are_plain_and_in_both_languages() {
        let missing = io_words(&std::fs::read("/nowhere/at/all").unwrap_err());
        assert_eq!(missing.en, "there is no such file or folder");
        assert_eq!(missing.ja, "ファイルまたはフォルダがありません");
        let other = io_words(&io::Error::from_raw_os_error(5));
        assert!(!other.en.contains("os error"), "{other:?}");
        assert_eq!(io_words(&io::Error::other(NOT_A_FILE)).ja, "通常のファイルではありません");
    }
}
