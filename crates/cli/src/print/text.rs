//! A text with tones, before anything is known of the screen.

use std::fmt::{Display, Write as _};
use std::ops::Add;

use anstyle::{AnsiColor, Style};
use tidegate_core::text::hidden::{show_hidden, show_name};
use tidegate_core::text::lang::Lang;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::bilingual::Bilingual;

/// Says again in colour what the words say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// A heading, or the word that the rest is about.
    Strong,
    /// Beside the point.
    Dim,
    Good,
    Warning,
    Bad,
    /// A command that can be typed, in backticks in every text.
    Command,
}

impl Tone {
    pub(super) fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Warning => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Command => AnsiColor::Cyan.on_default(),
        }
    }
}

/// Pieces that follow each other, each with a tone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    pieces: Vec<(Tone, Bilingual)>,
}

/// The same in every language: a name, a path, a number, words of others.
pub(crate) fn data(value: impl Display) -> Text {
    Bilingual::data(value).into()
}

/// A name of others: it stays on its line.
pub(crate) fn name(value: impl Display) -> Text {
    data(show_name(&value.to_string()))
}

/// Text of a note or a message, without its marks of emphasis.
pub(crate) fn prose(text: &str) -> Text {
    data(text.replace("**", ""))
}

/// A passage with the words that were searched for in double asterisks.
pub(crate) fn marked_words(snippet: &str) -> Text {
    let parts = snippet.split("**").enumerate();
    parts.fold(Text::default(), |text, (at, part)| {
        text + if at % 2 == 1 { data(part).strong() } else { data(part) }
    })
}

impl From<Bilingual> for Text {
    fn from(words: Bilingual) -> Text {
        Text { pieces: vec![(Tone::Plain, words)] }
    }
}

impl<T: Into<Text>> Add<T> for Text {
    type Output = Text;

    fn add(mut self, more: T) -> Text {
        self.pieces.extend(more.into().pieces);
        self
    }
}

impl Text {
    fn toned(mut self, tone: Tone) -> Text {
        for (known, _) in &mut self.pieces {
            if *known == Tone::Plain {
                *known = tone;
            }
        }
        self
    }

    pub(crate) fn strong(self) -> Text {
        self.toned(Tone::Strong)
    }

    pub(crate) fn dim(self) -> Text {
        self.toned(Tone::Dim)
    }

    pub(crate) fn good(self) -> Text {
        self.toned(Tone::Good)
    }

    pub(crate) fn warning(self) -> Text {
        self.toned(Tone::Warning)
    }

    pub(crate) fn command(self) -> Text {
        self.toned(Tone::Command)
    }

    pub(crate) fn bad(self) -> Text {
        self.toned(Tone::Bad)
    }

    /// In at most this many columns. A text that is cut ends with `…`, and a command in it with its tick.
    pub(crate) fn shortened(mut self, columns: usize) -> Text {
        let languages: [fn(&mut Bilingual) -> &mut String; 2] =
            [|words| &mut words.en, |words| &mut words.ja];
        for of in languages {
            let mut room = columns;
            for (_, words) in &mut self.pieces {
                let text = of(words);
                let taken = text.width();
                if taken > room {
                    *text = if room > 0 { cut(text, room) } else { String::new() };
                }
                room = room.saturating_sub(taken);
            }
        }
        self
    }

    /// In one language, without tones.
    pub(crate) fn plain(&self, lang: Lang) -> String {
        self.spoken(lang).text
    }

    /// In one language, without characters that hide or steer: nothing that others wrote changes a colour.
    pub(super) fn spoken(&self, lang: Lang) -> Spoken {
        let mut spoken = Spoken::default();
        for (tone, words) in &self.pieces {
            let shown = show_hidden(words.get(lang)).replace('\t', "    ");
            let mut tone_now = *tone;
            for (at, part) in shown.split('`').enumerate() {
                if at > 0 {
                    spoken.push(if *tone == Tone::Plain { Tone::Command } else { *tone }, "`");
                    tone_now = match (*tone, at % 2) {
                        (Tone::Plain, 1) => Tone::Command,
                        (tone, _) => tone,
                    };
                }
                spoken.push(tone_now, part);
            }
        }
        spoken
    }
}

fn cut(text: &str, columns: usize) -> String {
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken < columns
    };
    let kept: String = text.chars().take_while(fits).collect();
    let is_in_word = text[kept.len()..].starts_with(|c: char| c.is_ascii_graphic());
    let kept = match kept.rfind(' ') {
        Some(space) if is_in_word && kept.ends_with(|c: char| c.is_ascii_graphic()) => &kept[..space],
        _ => &kept,
    };
    let tick = if kept.matches('`').count() % 2 == 1 { "`" } else { "" };
    let kept = kept.trim_end().trim_end_matches(['.', ',', ';', ':', '。', '、']);
    format!("{kept}…{tick}")
}

/// A text in one language, and from which byte on it has which tone.
#[derive(Clone, Debug, Default)]
pub(super) struct Spoken {
    pub(super) text: String,
    tones: Vec<(usize, Tone)>,
}

impl Spoken {
    pub(super) fn push(&mut self, tone: Tone, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.tones.last().is_none_or(|(_, last)| *last != tone) {
            self.tones.push((self.text.len(), tone));
        }
        self.text.push_str(text);
    }

    pub(super) fn append(&mut self, more: &Spoken) {
        self.tones.extend(more.tones.iter().map(|(begin, tone)| (self.text.len() + begin, *tone)));
        self.text.push_str(&more.text);
    }

    /// Pieces of one tone each.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Tone, &str)> {
        self.spans().map(|(begin, end, tone)| (tone, &self.text[begin..end]))
    }

    fn spans(&self) -> impl Iterator<Item = (usize, usize, Tone)> {
        let ends = self.tones.iter().skip(1).map(|(begin, _)| *begin).chain([self.text.len()]);
        self.tones.iter().zip(ends).map(|((begin, tone), end)| (*begin, end, *tone))
    }

    /// A part of the text, with its colours.
    pub(super) fn paint(&self, from: usize, to: usize) -> String {
        let mut out = String::with_capacity(to - from + 16);
        for (begin, end, tone) in self.spans() {
            let part = self.text.get(begin.max(from)..end.min(to)).unwrap_or_default();
            if !part.is_empty() {
                let style = tone.style();
                let _ = write!(out, "{style}{part}{style:#}");
            }
        }
        out
    }
}
