//! Errors for people: what happened, where, what to do next.

use std::fmt::Display;
use std::process::ExitCode;

use tidegate_memory::error::Error as MemoryError;
use tidegate_memory::team;

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
        let mut page = Page::new();
        page.labelled(Text::from(both!("error", "エラー")).bad(), self.message.clone());
        if let Some(hint) = &self.hint {
            page.labelled(Text::from(both!("hint", "ヒント")).good(), hint.clone());
        }
        page.print_to_stderr();
        if self.is_usage { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
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
